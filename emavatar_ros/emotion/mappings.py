"""Other people's names for emotions, in ours.

Models, data sets, messages and language models each have their own words and orders; every translation lives here,
once. A name that is none of ours (`other`, `bored`) maps to None and is never turned into neutral: `distribution`
counts its share apart. A model's outputs are a tuple of our labels in the model's order; other vocabularies map names.

Where a name could be two of ours, the choice is said beside the table. Contempt is the rare one: only FER+ and AvaMERG
have it, so that models trained on anything else can't tell it from anger or disgust.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS

Order = tuple[str | None, ...]
Names = Mapping[str, str]

_WORDS: Final[Names] = {
    'angry': 'anger annoyance annoyed disapproval furious frustrated frustration irritated irritation outraged rage '
             'mad resentful resentment indignant',
    'contempt': 'contemptuous scorn scornful disdain disdainful',
    'disgusted': 'disgust revulsion revolted repulsed',
    'fear': 'fearful afraid scared anxious anxiety nervousness nervous terrified terror apprehensive apprehension '
            'worried worry horrified panic',
    'happy': 'happiness joy joyful amusement amused approval excitement excited gratitude grateful love optimism '
             'optimistic relief relieved pride proud admiration desire caring content glad delighted pleased hopeful',
    'neutral': 'neutrality calm no_emotion',
    'sad': 'sadness disappointment disappointed embarrassment embarrassed grief remorse lonely loneliness unhappy '
           'despair ashamed guilty',
    'surprised': 'surprise realization realisation confusion confused curiosity curious astonished astonishment amazed '
                 'amazement'}
SYNONYMS: Final[Names] = MappingProxyType(
    {name.replace('_', ' '): label for label, names in _WORDS.items() for name in (label, *names.split())})
"""Single words that mean one of ours, GoEmotions' 28 among them; embarrassment counts as sad, confusion and curiosity
as surprised, as that data's own mapping has it. Not there, because they are two at once: jealous, bored, tired,
suspicious, nostalgic, mixed."""


def canonical(name: str) -> str | None:
    """Our label for one emotion word in any case, or None when it is none of ours. It reads names, not sentences:
    neither "not happy" nor "happy or sad" is one."""
    word = re.sub(r'[\s_-]+', ' ', name).strip(' .!,;:"\'*`').lower()
    return SYNONYMS.get(word)


def _order(names: str) -> Order:
    return tuple(canonical(name) for name in names.split())


def _names(names: str) -> Names:
    return MappingProxyType({name: SYNONYMS[name] for name in names.split()})


# Models, by the order of their outputs.
FACE_API: Final = ('neutral', 'happy', 'sad', 'angry', 'fear', 'disgusted', 'surprised')
"""face-api's expression network."""
FER_2013: Final = ('angry', 'disgusted', 'fear', 'happy', 'sad', 'surprised', 'neutral')
"""FER-2013's classes in its order."""
MINI_XCEPTION: Final = FER_2013
DEEPFACE: Final = FER_2013
"""DeepFace's emotion network: angry, disgust, fear, happy, sad, surprise, neutral."""
FER_PLUS: Final = ('neutral', 'happy', 'surprised', 'sad', 'angry', 'disgusted', 'fear', 'contempt')
"""Networks trained on FER+: neutral, happiness, surprise, sadness, anger, disgust, fear, contempt."""
EMOTION2VEC: Final = _order('angry disgusted fearful happy neutral other sad surprised unknown')
"""emotion2vec plus: nine outputs, two of them nothing."""

# Data sets, by name.
GO_EMOTIONS: Final = _names(
    'admiration amusement anger annoyance approval caring confusion curiosity desire disappointment disapproval '
    'disgust embarrassment excitement fear gratitude grief joy love nervousness optimism pride realization relief '
    'remorse sadness surprise neutral')
"""GoEmotions' 28 in its order. It has no contempt: scorn is in its disapproval and annoyance, which are anger here."""
MELD: Final = _names('neutral surprise fear sadness joy disgust anger')
AVAMERG: Final[Names] = MappingProxyType({label: label for label in LABELS if label != 'neutral'})
"""AvaMERG's seven coarse emotions are called as ours are; neutral is not one of them."""
EMPATHETIC_DIALOGUES: Final[Names] = MappingProxyType({name: label for label, names in {
    'angry': 'angry annoyed furious',
    'contempt': 'jealous',
    'disgusted': 'disgusted',
    'fear': 'afraid anxious apprehensive terrified',
    'happy': 'anticipating caring confident content excited faithful grateful hopeful impressed joyful prepared proud '
             'trusting',
    'sad': 'ashamed devastated disappointed embarrassed guilty lonely nostalgic sad sentimental',
    'surprised': 'surprised'}.items() for name in names.split()})
"""EmpatheticDialogues' 32 in AvaMERG's seven. Which went where was not published; this is our reading. Open to doubt:
jealous (the only one of the 32 near AvaMERG's contempt; else anger), nostalgic and sentimental (bitter-sweet),
anticipating and prepared (may be tense), impressed (as GoEmotions' admiration: pleasant rather than startled)."""

# REP-155's `Expression`.
HRI: Final[Names] = MappingProxyType({
    'angry': 'angry', 'contempt': 'annoyed', 'disgusted': 'disgusted', 'fear': 'scared', 'happy': 'happy',
    'neutral': 'neutral', 'sad': 'sad', 'surprised': 'surprised'})
"""Ours as REP-155's `Expression` names them; it has no contempt, `annoyed` is the nearest."""
FROM_HRI: Final[Mapping[str, str | None]] = MappingProxyType({
    'neutral': 'neutral', 'angry': 'angry', 'sad': 'sad', 'happy': 'happy', 'surprised': 'surprised',
    'disgusted': 'disgusted', 'scared': 'fear', 'pleading': None, 'vulnerable': None, 'despaired': 'sad',
    'guilty': 'sad', 'disappointed': 'sad', 'embarrassed': 'sad', 'horrified': 'fear', 'skeptical': None,
    'annoyed': 'angry', 'furious': 'angry', 'suspicious': None, 'rejected': 'sad', 'bored': None, 'tired': None,
    'asleep': None, 'confused': 'surprised', 'amazed': 'surprised', 'excited': 'happy'})
"""Every constant of `Expression` in ours. `annoyed` is read as anger, so contempt does not come back as it went."""


def distribution(labels: Sequence[str | None], values: ArrayLike, unknown: float = 0.03
                 ) -> tuple[Distribution | None, float]:
    """A model's outputs in our labels, and the share in [0, 1] that it gave to none of them.

    labels: ours in the order of the outputs, None for an output that is none of ours; one label may stand for several
    outputs. values: the outputs' probabilities, of at least 0. unknown: what each label without an output keeps, since
    a model can't deny what it never learned. The distribution is None when nothing is left for our labels.
    """
    weights = np.nan_to_num(np.asarray(values, dtype=float).ravel(), nan=0.0, posinf=0.0, neginf=0.0).clip(0)
    ours = dict.fromkeys(LABELS, 0.0)
    nothing = 0.0
    for label, weight in zip(labels, weights, strict=True):
        if label is None:
            nothing += float(weight)
        else:
            ours[label] += float(weight)
    known = sum(ours.values())
    if known <= 0:
        return None, float(nothing > 0)
    unheard = [label for label in LABELS if label not in labels]
    scale = (1 - unknown * len(unheard)) / known
    shares = {label: unknown if label in unheard else share * scale for label, share in ours.items()}
    return Distribution.from_mapping(shares), nothing / (known + nothing)


assert set(SYNONYMS.values()) == set(LABELS)
