"""From what the networks and the units say of one face in one picture to a distribution over the eight emotions.

The expression networks are far surer than they are right, and shy of some emotions: their opinion is softened and
shifted by a prior; the units nudge it, more once the person's own face at rest is known. Nothing here is trained: the
figures below were chosen by this project by looking at 1,674 student-labelled faces (a public collection: all of its
rarer emotions and 300 each of happy and neutral; the labels are noisy). On those, pictures without a person's history,
they give accuracy .62, balanced .51 and a calibration error of .04, where the networks' plain mean with hand-set
softening gave .53, .42 and .05. Chosen again by search on one half, with files of one series kept together, they give
.59 to .65 on the other half, .53 to .55 balanced without contempt, calibration error .02 to .09: no figure is tuned to
single faces. Disgust (.04) and fear (.19 of 21 faces) stay weak evidence. tools/measure_face.py repeats this.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.face.units import Units
from emavatar_ros.perception.face import signs

_TRUST = 0.56
"""Inverse temperature of the networks."""
_PRIOR: Final = {'angry': 0.15, 'contempt': -3.0, 'disgusted': 0.2, 'fear': -0.3, 'happy': 0.0, 'neutral': 0.1,
                 'sad': 0.1, 'surprised': 0.7}
"""Log-odds before anything is seen; contempt's is all there is, for no network knows it."""
_KNOWN = 0.8
"""How far the units are believed against the networks."""
_STRANGER = 0.3
"""How far the units are believed while the person's face at rest is unknown: what looks like lowered brows may be
how the brows are. Two sides that differ need no such knowledge."""


def judge(scores: NDArray[np.float64], above: Units, yaw: float, known: bool) -> Distribution:
    """One reading: the networks' log-probabilities [8] (minus infinity: not known to them), the units above rest [52],
    the head's yaw in rad, and whether that rest is the person's own."""
    gains = signs.nudge(signs.measures(above), yaw)
    gains = np.where(np.array(LABELS) == 'contempt', gains, (_KNOWN if known else _STRANGER) * gains)
    prior = np.array([_PRIOR[label] for label in LABELS])
    return Distribution.from_logits(np.where(np.isneginf(scores), 0.0, _TRUST * scores) + prior + gains)
