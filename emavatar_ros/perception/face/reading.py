"""From what the networks and the units say of one face in one picture to a distribution over the eight emotions.

The expression networks are far surer than they are right, so their mean is softened; the units nudge it; then it is
weighed by how often such a reading was right where this project measured it. No labelled faces ship with the
project, so nothing here is trained: it is a prior, and confidences are its own estimate.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.face.units import Units
from emavatar_ros.perception.face import signs

_SOFTEN = 2.0
"""Temperature of the networks' mean: they are far surer than they are right."""
_CONTEMPT = -4.0
"""Log-probability of contempt before the units speak: no network knows it."""
_TRUST = 0.6
"""How far a reading is believed to be one of CONFUSION's errors."""
_CONFUSION: Final = {
    'angry': (171, 11, 3, 2, 13, 22, 22), 'disgusted': (11, 67, 8, 12, 34, 14, 38), 'fear': (0, 2, 8, 0, 3, 5, 1),
    'happy': (5, 16, 5, 332, 16, 8, 14), 'sad': (13, 41, 13, 16, 112, 10, 52),
    'surprised': (28, 19, 18, 8, 10, 262, 19), 'neutral': (21, 36, 5, 16, 48, 28, 244)}
"""Truth by row; read as angry, disgusted, fear, happy, sad, surprised, neutral: this project's measurement on 1,862
student-labelled faces, used as a prior of how often a reading is right."""


def _reliability() -> NDArray[np.float64]:
    """P(truth | read), float64 [8 read, 8 truth]; the rare emotions half as rare as they were measured to be."""
    read = ('angry', 'disgusted', 'fear', 'happy', 'sad', 'surprised', 'neutral')
    table = np.eye(len(LABELS))
    for column, name in enumerate(read):
        row = np.zeros(len(LABELS))
        for truth, counts in _CONFUSION.items():
            row[LABELS.index(truth)] = (counts[column] + 1) / (sum(counts) + 7) ** 0.5
        table[LABELS.index(name)] = row / row.sum()
    contempt = LABELS.index('contempt')
    table[contempt] = 0.7 * table[contempt] + 0.3 * table[LABELS.index('neutral')]
    return table


RELIABILITY: Final = _reliability()


def judge(scores: NDArray[np.float64], above: Units, yaw: float) -> Distribution:
    """One reading: the networks' mean log-probabilities [8] (contempt minus infinity), the units above rest [52] and
    the head's yaw in rad."""
    logits = np.where(np.isneginf(scores), _CONTEMPT * _SOFTEN, scores) / _SOFTEN
    p = Distribution.from_logits(logits + signs.nudge(signs.measures(above), yaw)).array
    return Distribution.of((1 - _TRUST) * p + _TRUST * p @ RELIABILITY)
