"""Valence and arousal of a distribution over emotions.

Where each emotion lies on Russell's circumplex (valence pleasant +1, arousal excited +1). The figures are this
project's, read off the usual picture of the circumplex; only their order and sign are relied upon.
"""

from __future__ import annotations

from typing import Final

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS

CIRCUMPLEX: Final[dict[str, tuple[float, float]]] = {
    'angry': (-0.6, 0.75),
    'contempt': (-0.55, 0.15),
    'disgusted': (-0.65, 0.3),
    'fear': (-0.65, 0.7),
    'happy': (0.8, 0.5),
    'neutral': (0.0, 0.0),
    'sad': (-0.65, -0.45),
    'surprised': (0.15, 0.75),
}


def valence_arousal(distribution: Distribution) -> tuple[float, float]:
    """Expected valence and arousal, each in [-1, 1]."""
    valence = sum(p * CIRCUMPLEX[label][0] for label, p in zip(LABELS, distribution.p, strict=True))
    arousal = sum(p * CIRCUMPLEX[label][1] for label, p in zip(LABELS, distribution.p, strict=True))
    return valence, arousal
