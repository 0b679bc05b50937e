"""Other people's names for emotions, in ours.

Models, data sets and language models each have their own words and orders; every translation lives here, once.
A name that is not an emotion of ours (`other`, `unknown`) maps to None and is never turned into neutral.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from emavatar_ros.emotion.labels import LABELS

FACE_API: Final = ('neutral', 'happy', 'sad', 'angry', 'fear', 'disgusted', 'surprised')
"""Outputs of face-api's expression network."""
MINI_XCEPTION: Final = ('angry', 'disgusted', 'fear', 'happy', 'sad', 'surprised', 'neutral')
"""Outputs of mini-XCEPTION (FER-2013's order)."""
EMOTION2VEC: Final = ('angry', 'disgusted', 'fear', 'happy', 'neutral', None, 'sad', 'surprised', None)
"""Outputs of emotion2vec plus: angry, disgusted, fearful, happy, neutral, other, sad, surprised, unknown."""

_SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    'angry': ('anger', 'annoyance', 'annoyed', 'disapproval', 'furious', 'frustrated', 'irritated', 'rage', 'mad'),
    'contempt': ('contemptuous', 'scorn', 'scornful', 'disdain'),
    'disgusted': ('disgust', 'revulsion'),
    'fear': ('fearful', 'afraid', 'scared', 'anxious', 'anxiety', 'nervousness', 'nervous', 'terrified',
             'apprehensive'),
    'happy': ('happiness', 'joy', 'joyful', 'amusement', 'approval', 'excitement', 'excited', 'gratitude', 'grateful',
              'love', 'optimism', 'relief', 'pride', 'proud', 'admiration', 'desire', 'caring', 'content', 'glad'),
    'neutral': ('calm', 'no emotion'),
    'sad': ('sadness', 'disappointment', 'disappointed', 'embarrassment', 'grief', 'remorse', 'lonely', 'unhappy'),
    'surprised': ('surprise', 'realization', 'confusion', 'curiosity', 'astonished', 'amazed'),
}
SYNONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {name: label for label, names in _SYNONYMS.items() for name in (label, *names)})
"""Every single word known to mean one of ours, GoEmotions' 28 names among them."""

HRI: Final[Mapping[str, str]] = MappingProxyType({
    'angry': 'angry', 'contempt': 'annoyed', 'disgusted': 'disgusted', 'fear': 'scared', 'happy': 'happy',
    'neutral': 'neutral', 'sad': 'sad', 'surprised': 'surprised'})
"""Ours as REP-155's `Expression` names them; it has no contempt, `annoyed` is the nearest."""


def canonical(name: str) -> str | None:
    """Our label for one emotion word in any case, or None when it is none of ours. It reads names, not sentences."""
    word = re.sub(r'[\s_-]+', ' ', name).strip(' .!,;:"\'*`').lower()
    return SYNONYMS.get(word)


assert set(SYNONYMS.values()) == set(LABELS)
