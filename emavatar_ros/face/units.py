"""The 52 face units by their ARKit names, in Apple's order, and the face state they make up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

UNITS: Final = (
    'eyeBlinkLeft', 'eyeLookDownLeft', 'eyeLookInLeft', 'eyeLookOutLeft', 'eyeLookUpLeft', 'eyeSquintLeft',
    'eyeWideLeft', 'eyeBlinkRight', 'eyeLookDownRight', 'eyeLookInRight', 'eyeLookOutRight', 'eyeLookUpRight',
    'eyeSquintRight', 'eyeWideRight', 'jawForward', 'jawLeft', 'jawRight', 'jawOpen', 'mouthClose', 'mouthFunnel',
    'mouthPucker', 'mouthLeft', 'mouthRight', 'mouthSmileLeft', 'mouthSmileRight', 'mouthFrownLeft',
    'mouthFrownRight', 'mouthDimpleLeft', 'mouthDimpleRight', 'mouthStretchLeft', 'mouthStretchRight',
    'mouthRollLower', 'mouthRollUpper', 'mouthShrugLower', 'mouthShrugUpper', 'mouthPressLeft', 'mouthPressRight',
    'mouthLowerDownLeft', 'mouthLowerDownRight', 'mouthUpperUpLeft', 'mouthUpperUpRight', 'browDownLeft',
    'browDownRight', 'browInnerUp', 'browOuterUpLeft', 'browOuterUpRight', 'cheekPuff', 'cheekSquintLeft',
    'cheekSquintRight', 'noseSneerLeft', 'noseSneerRight', 'tongueOut')
INDEX: Final = {name: i for i, name in enumerate(UNITS)}
HIGHEST: Final = 1.5
"""Largest unit value; 1 is the full movement a person makes with ease."""

Units = NDArray[np.float32]


def units(weights: Mapping[str, float] | None = None, **both: float) -> Units:
    """Unit vector float32 [52] from weights by name; a name without Left/Right sets both sides.

    Raises KeyError for a name that is no face unit.
    """
    vector = np.zeros(len(UNITS), dtype=np.float32)
    for name, value in {**(weights or {}), **both}.items():
        if name in INDEX:
            vector[INDEX[name]] = value
        else:
            vector[INDEX[name + 'Left']] = value
            vector[INDEX[name + 'Right']] = value
    return vector


@dataclass(frozen=True)
class FaceState:
    """What the face shows at one moment.

    units: float32 [52] in [0, 1.5], ARKit order. head: roll, pitch, yaw in rad (roll: the head tilts to its own
    right; pitch: nods down; yaw: turns to its own left; positive each). gaze: yaw, pitch of the eyes relative to
    the head in rad (positive: to its own left, down). breath: phase of the shoulders, 0 (out) to 1 (in).
    """

    units: Units
    head: tuple[float, float, float] = (0.0, 0.0, 0.0)
    gaze: tuple[float, float] = (0.0, 0.0)
    breath: float = 0.0
