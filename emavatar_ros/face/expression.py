"""What a face shows for an emotion: weights of the face units, full and while speaking, and the listener's answer.

The weights began as those that read well on the head (the project's notes on its face) and follow the action units
usually named for each emotion; contempt is one-sided by nature. While speaking, the mouth belongs to the words: the
gentle version keeps brows, eyes and cheeks and only a shade of the mouth. A listener does not copy the visitor: to
anger it shows calm attention, to fear and sadness concern (`answer`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from emavatar_ros.errors import BadInput
from emavatar_ros.face.units import HIGHEST, UNITS, Units, units

EXPRESSIONS: Final[dict[str, dict[str, float]]] = {
    'angry': {'browDown': 1.4, 'noseSneer': 0.9, 'mouthPress': 0.8, 'eyeSquint': 0.5, 'mouthFrown': 0.5},
    'contempt': {'mouthSmileLeft': 0.75, 'mouthDimpleLeft': 0.9, 'mouthPressLeft': 0.45, 'cheekSquintLeft': 0.35,
                 'noseSneerLeft': 0.25, 'eyeSquint': 0.3, 'browOuterUpRight': 0.35, 'browDownLeft': 0.3,
                 'mouthLeft': 0.15},
    'disgusted': {'noseSneer': 1.3, 'mouthUpperUp': 0.8, 'browDown': 0.7, 'cheekSquint': 0.6, 'eyeSquint': 0.5,
                  'mouthShrugLower': 0.5, 'mouthFrown': 0.5},
    'fear': {'browInnerUp': 1.2, 'browOuterUp': 0.4, 'browDown': 0.35, 'eyeWide': 0.9, 'mouthStretch': 0.8,
             'mouthLowerDown': 0.3, 'jawOpen': 0.15},
    'happy': {'mouthSmile': 1.0, 'cheekSquint': 0.9, 'eyeSquint': 0.4, 'mouthUpperUp': 0.35, 'jawOpen': 0.12,
              'mouthDimple': 0.3},
    'neutral': {},
    'sad': {'browInnerUp': 1.2, 'mouthFrown': 1.1, 'eyeBlink': 0.25, 'mouthShrugLower': 0.7, 'browDown': 0.2},
    'surprised': {'browInnerUp': 0.8, 'browOuterUp': 0.8, 'eyeWide': 0.8, 'jawOpen': 0.5, 'mouthFunnel': 0.2},
    # What is no emotion of the eight but a listener needs.
    'concern': {'browInnerUp': 1.05, 'browDown': 0.25, 'mouthFrown': 0.4, 'mouthPress': 0.2, 'eyeSquint': 0.15},
    'calm': {'browInnerUp': 0.25, 'mouthPress': 0.15, 'eyeSquint': 0.1, 'mouthSmile': 0.08},
    'interest': {'browInnerUp': 0.25, 'browOuterUp': 0.3, 'eyeWide': 0.15, 'mouthSmile': 0.15},
    'warm': {'mouthSmile': 0.38, 'cheekSquint': 0.35, 'eyeSquint': 0.2, 'mouthDimple': 0.15},
    'thinking': {'browDownLeft': 0.2, 'browInnerUp': 0.2, 'browOuterUpRight': 0.25, 'eyeSquint': 0.15,
                 'mouthPress': 0.25, 'mouthLeft': 0.12},
}
"""Weights at full intensity by name: the eight labels, then concern, calm, interest, warm, thinking."""

_ANSWER: Final[dict[str, tuple[str, float]]] = {
    'angry': ('calm', 1.0), 'contempt': ('calm', 0.8), 'disgusted': ('concern', 0.6), 'fear': ('concern', 0.9),
    'happy': ('happy', 0.6), 'neutral': ('warm', 0.55), 'sad': ('concern', 1.0), 'surprised': ('interest', 1.0),
    'unsure': ('warm', 0.45)}


def _speaking_factor(name: str) -> float:
    stem = name.removesuffix('Left').removesuffix('Right')
    if not stem.startswith(('mouth', 'jaw', 'tongue')):
        return 0.8  # brows, eyes, cheeks, nose
    return {'mouthSmile': 0.42, 'mouthDimple': 0.4, 'mouthFrown': 0.32, 'mouthStretch': 0.2, 'mouthUpperUp': 0.2,
            'mouthLeft': 0.5, 'mouthRight': 0.5, 'mouthShrugLower': 0.15}.get(stem if stem != 'mouth' else name, 0.0)


_SPEAKING: Final = np.array([_speaking_factor(name) for name in UNITS], dtype=np.float32)
_FULL: Final = {name: units(weights) for name, weights in EXPRESSIONS.items()}


def expression(name: str, intensity: float = 1.0) -> Units:
    """Face units of an expression, float32 [52] in [0, 1.5]; intensity in [0, 1.5], 0 gives the neutral face.

    Raises BadInput for a name not in EXPRESSIONS.
    """
    if name not in _FULL:
        raise BadInput(f'unknown expression {name!r}; known: {", ".join(EXPRESSIONS)}')
    shown: Units = np.clip(_FULL[name] * np.float32(intensity), 0, HIGHEST)
    return shown


def speaking(name: str, intensity: float = 1.0) -> Units:
    """The gentle version shown while speaking: brows, eyes and cheeks, and a shade of the mouth that leaves the words
    readable. Same units, range and errors as `expression`."""
    return expression(name, intensity) * _SPEAKING


def answer(label: str, confidence: float = 1.0) -> tuple[str, float]:
    """What a listener shows to a visitor who feels `label` (one of the eight, or unsure): expression and intensity.

    Concern for sadness and fear, calm for anger, a shared smile for joy; the less sure, the fainter. Raises BadInput
    for any other label.
    """
    if label not in _ANSWER:
        raise BadInput(f'unknown emotion {label!r}; known: {", ".join(_ANSWER)}')
    name, intensity = _ANSWER[label]
    return name, intensity * (0.4 + 0.6 * min(max(confidence, 0.0), 1.0))

