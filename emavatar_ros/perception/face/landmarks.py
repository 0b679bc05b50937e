"""Where faces are in a picture, their 478 landmarks, and the 52 face units they show.

Model: Google's face_landmarker.task (Apache-2.0, 3.8 MB): a detector (128 px), a landmark network (256 px) and a
network from landmarks to blendshapes. LiteRT runs each on one thread: 1.1 + 5.0 + 0.6 ms on a desktop core.
Pictures are uint8 [h, w, 3], RGB; places are in pixels of that picture, x to the right and y down. "Left" and
"right" in the names of face units are the person's own.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import Missing
from emavatar_ros.face.units import INDEX, UNITS, Units

Pixels = NDArray[np.uint8]
Points = NDArray[np.float32]

RIGHT_EYE: Final = 33
LEFT_EYE: Final = 263
"""Outer corners of the eyes; the person's right eye is on the left of a picture."""
RIGHT_CHEEK, LEFT_CHEEK, FOREHEAD, CHIN = 234, 454, 10, 152

_DETECTOR = 128
_LANDMARKS = 256
_REGION = 1.5
"""Side of the square that goes into the landmark network, in long sides of the face."""
_OVERLAP = 0.3
"""Detections that overlap more than this (intersection over union) are the same face."""
_BLENDSHAPES: Final = (
    '_neutral', 'browDownLeft', 'browDownRight', 'browInnerUp', 'browOuterUpLeft', 'browOuterUpRight', 'cheekPuff',
    'cheekSquintLeft', 'cheekSquintRight', 'eyeBlinkLeft', 'eyeBlinkRight', 'eyeLookDownLeft', 'eyeLookDownRight',
    'eyeLookInLeft', 'eyeLookInRight', 'eyeLookOutLeft', 'eyeLookOutRight', 'eyeLookUpLeft', 'eyeLookUpRight',
    'eyeSquintLeft', 'eyeSquintRight', 'eyeWideLeft', 'eyeWideRight', 'jawForward', 'jawLeft', 'jawOpen', 'jawRight',
    'mouthClose', 'mouthDimpleLeft', 'mouthDimpleRight', 'mouthFrownLeft', 'mouthFrownRight', 'mouthFunnel',
    'mouthLeft', 'mouthLowerDownLeft', 'mouthLowerDownRight', 'mouthPressLeft', 'mouthPressRight', 'mouthPucker',
    'mouthRight', 'mouthRollLower', 'mouthRollUpper', 'mouthShrugLower', 'mouthShrugUpper', 'mouthSmileLeft',
    'mouthSmileRight', 'mouthStretchLeft', 'mouthStretchRight', 'mouthUpperUpLeft', 'mouthUpperUpRight',
    'noseSneerLeft', 'noseSneerRight')
"""The network's outputs in its own order: `_neutral` instead of tongueOut."""
_FROM_BLENDSHAPES: Final = np.array([i for i, name in enumerate(_BLENDSHAPES) if name in INDEX])
_TO_UNITS: Final = np.array([INDEX[name] for name in _BLENDSHAPES if name in INDEX])
_POINTS_FOR_UNITS: Final = np.array([
    0, 1, 4, 5, 6, 7, 8, 10, 13, 14, 17, 21, 33, 37, 39, 40, 46, 52, 53, 54, 55, 58, 61, 63, 65, 66, 67, 70, 78, 80,
    81, 82, 84, 87, 88, 91, 93, 95, 103, 105, 107, 109, 127, 132, 133, 136, 144, 145, 146, 148, 149, 150, 152, 153,
    154, 155, 157, 158, 159, 160, 161, 162, 163, 168, 172, 173, 176, 178, 181, 185, 191, 195, 197, 234, 246, 249, 251,
    263, 267, 269, 270, 276, 282, 283, 284, 285, 288, 291, 293, 295, 296, 297, 300, 308, 310, 311, 312, 314, 317, 318,
    321, 323, 324, 332, 334, 336, 338, 356, 361, 362, 365, 373, 374, 375, 377, 378, 379, 380, 381, 382, 384, 385, 386,
    387, 388, 389, 390, 397, 398, 400, 402, 405, 409, 415, 454, 466, 468, 469, 470, 471, 472, 473, 474, 475, 476,
    477])


@dataclass(frozen=True)
class Region:
    """A turned square in the picture: centre x, y and side in px; angle in rad, clockwise as seen."""

    x: float
    y: float
    side: float
    angle: float

    def overlap(self, other: Region) -> float:
        """Intersection over union of the two squares, taken upright; in [0, 1]."""
        half, half_other = self.side / 2, other.side / 2
        wide = min(self.x + half, other.x + half_other) - max(self.x - half, other.x - half_other)
        high = min(self.y + half, other.y + half_other) - max(self.y - half, other.y - half_other)
        common = max(wide, 0.0) * max(high, 0.0)
        return common / max(self.side ** 2 + other.side ** 2 - common, 1e-9)


class Landmarker:
    """The three networks. Not for two threads at once."""

    def __init__(self, path: Path) -> None:
        """Load face_landmarker.task; raises Missing when the file or LiteRT is not there."""
        if not path.is_file():
            raise Missing(f'{path} is not there; fetch it with: emavatar models pull face-landmarker')
        with zipfile.ZipFile(path) as task:
            self._detector = _Network(task.read('face_detector.tflite'))
            self._landmarks = _Network(task.read('face_landmarks_detector.tflite'))
            self._blendshapes = _Network(task.read('face_blendshapes.tflite'))
        self._anchors = _anchors()

    def detect(self, rgb: Pixels, threshold: float = 0.5) -> list[Region]:
        """Regions of the faces in the whole picture, the surest first; `threshold` in [0, 1]."""
        high, wide = rgb.shape[:2]
        scale = _DETECTOR / max(high, wide)
        new_wide, new_high = max(round(wide * scale), 1), max(round(high * scale), 1)
        left, top = (_DETECTOR - new_wide) // 2, (_DETECTOR - new_high) // 2
        square = np.zeros((_DETECTOR, _DETECTOR, 3), dtype=np.uint8)
        small = cv2.resize(rgb, (new_wide, new_high), interpolation=cv2.INTER_AREA)
        square[top:top + new_high, left:left + new_wide] = small
        boxes, scores = self._detector(square[None].astype(np.float32) / 127.5 - 1)
        sure = 1 / (1 + np.exp(-np.clip(scores[0, :, 0], -80, 80)))
        keep = np.flatnonzero(sure > threshold)
        if not len(keep):
            return []
        # Per anchor: centre, width and height, then x, y of right eye, left eye, nose, mouth, right ear, left ear.
        found = boxes[0, keep].reshape(-1, 8, 2) / _DETECTOR
        found[:, [0, 2, 3, 4, 5, 6, 7]] += self._anchors[keep, None]
        found *= _DETECTOR
        found[:, [0, 2, 3, 4, 5, 6, 7]] -= (left, top)
        return _merge(found / scale, sure[keep])

    def landmarks(self, rgb: Pixels, region: Region) -> tuple[Points, float]:
        """Landmarks float32 [478, 3] in px (z: away from the camera) and how likely there is a face, in [0, 1]."""
        scale = region.side / _LANDMARKS
        cos, sin = scale * np.cos(region.angle), scale * np.sin(region.angle)
        half = _LANDMARKS / 2
        matrix = np.array([[cos, -sin, region.x - (cos - sin) * half], [sin, cos, region.y - (sin + cos) * half]],
                          dtype=np.float32)
        cut = cv2.warpAffine(rgb, matrix, (_LANDMARKS, _LANDMARKS), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
        outputs = self._landmarks(cut[None].astype(np.float32) * np.float32(1 / 255))
        local = outputs[0].reshape(478, 3)
        points = np.empty_like(local)
        points[:, :2] = local[:, :2] @ matrix[:, :2].T + matrix[:, 2]
        points[:, 2] = local[:, 2] * scale
        return points, float(1 / (1 + np.exp(-np.clip(outputs[1].ravel()[0], -80, 80))))

    def units(self, points: Points) -> Units:
        """The face units of these landmarks, float32 [52] in [0, 1]; tongueOut is not seen and stays 0."""
        values = self._blendshapes(points[_POINTS_FOR_UNITS, :2][None].astype(np.float32))[0].ravel()
        units = np.zeros(len(UNITS), dtype=np.float32)
        units[_TO_UNITS] = values[_FROM_BLENDSHAPES]
        return units


def region_of(points: Points) -> Region:
    """The region in which to look for this face in the next picture: level with the eyes, half as large again."""
    angle = roll_of(points)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]], dtype=np.float32)
    level = points[:, :2] @ turn
    low, high = level.min(axis=0), level.max(axis=0)
    x, y = turn @ ((low + high) / 2)
    return Region(float(x), float(y), float(_REGION * (high - low).max()), angle)


def roll_of(points: Points) -> float:
    """Angle of the eye line in rad, clockwise as seen in the picture."""
    across = points[LEFT_EYE] - points[RIGHT_EYE]
    return float(np.arctan2(across[1], across[0]))


def head_of(points: Points) -> tuple[float, float, float]:
    """Roll, pitch, yaw of the head in rad, signs as in FaceState: to its own right, down, to its own left."""
    across = points[LEFT_CHEEK] - points[RIGHT_CHEEK]
    down = points[CHIN] - points[FOREHEAD]
    yaw = float(np.arctan2(across[2], np.hypot(across[0], across[1])))
    pitch = float(np.arctan2(down[2], np.hypot(down[0], down[1])))
    return -roll_of(points), pitch, yaw


def gaze_of(units: Units) -> tuple[float, float]:
    """Yaw and pitch of the eyes in rad from the look units; a full unit is about 30 degrees."""
    def unit(name: str) -> float:
        return float(units[INDEX[name]])

    yaw = (unit('eyeLookOutLeft') + unit('eyeLookInRight') - unit('eyeLookInLeft') - unit('eyeLookOutRight')) / 2
    pitch = (unit('eyeLookDownLeft') + unit('eyeLookDownRight') - unit('eyeLookUpLeft') - unit('eyeLookUpRight')) / 2
    return 0.5 * yaw, 0.5 * pitch


def _merge(found: NDArray[np.floating], sure: NDArray[np.floating]) -> list[Region]:
    """One region for each group of overlapping detections [n, 8, 2]: their mean, weighted by how sure each is."""
    corner, far = found[:, 0] - found[:, 1] / 2, found[:, 0] + found[:, 1] / 2
    area = found[:, 1].prod(axis=1)
    free = np.ones(len(found), dtype=bool)
    regions = []
    for i in np.argsort(-sure, kind='stable'):
        if not free[i]:
            continue
        common = np.clip(np.minimum(far[i], far) - np.maximum(corner[i], corner), 0, None).prod(axis=1)
        group = free & (common / (area[i] + area - common + 1e-9) > _OVERLAP)
        group[i] = True
        free &= ~group
        mean = np.average(found[group], axis=0, weights=sure[group])
        eyes = mean[3] - mean[2]
        regions.append(Region(float(mean[0, 0]), float(mean[0, 1]), float(_REGION * mean[1].max()),
                              float(np.arctan2(eyes[1], eyes[0]))))
    return regions


def _anchors() -> NDArray[np.float32]:
    """Centres of the detector's 896 anchors, in [0, 1]."""
    centres = []
    for step, each in ((8, 2), (16, 6)):
        cells = _DETECTOR // step
        for y in range(cells):
            for x in range(cells):
                centres += [((x + 0.5) / cells, (y + 0.5) / cells)] * each
    return np.array(centres, dtype=np.float32)


class _Network:
    """One LiteRT network with one input, on one thread."""

    def __init__(self, content: bytes) -> None:
        try:
            from ai_edge_litert.interpreter import Interpreter
        except ImportError as error:
            raise Missing('seeing faces needs ai-edge-litert; install it with: '
                          'pip install emavatar_ros[embedded]') from error
        self._interpreter: Any = Interpreter(model_content=content, num_threads=1)
        self._interpreter.allocate_tensors()
        self._input = self._interpreter.get_input_details()[0]['index']
        self._outputs = [detail['index'] for detail in self._interpreter.get_output_details()]

    def __call__(self, x: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        self._interpreter.set_tensor(self._input, x)
        self._interpreter.invoke()
        return [self._interpreter.get_tensor(i) for i in self._outputs]
