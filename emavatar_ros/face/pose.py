"""Where things go: the camera, the head's rotation, eyes and lids, and which wrinkles show."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import BadInput
from emavatar_ros.face.units import HIGHEST, INDEX, UNITS, FaceState, Units

Floats = NDArray[np.float32]
PIVOT: Final = np.array([0.0, 6.45, 0.15], np.float32)
JAW: Final = INDEX['jawOpen']
DISTANCE: Final = 11.0
EYES: Final = 7.284
CLOSED: Final = 0.10
"""Weight of mouthClose that shuts the lips of a mouth at rest."""
LOOK: Final = 0.55
"""Rotation of an eye in rad at weight 1 of an eyeLook unit."""


def camera(width: int, height: int) -> tuple[Floats, Floats]:
    """Projection float32 [4, 4] (column vectors) and the camera's place [3]: head and shoulders at any shape."""
    aspect = width / height
    tall = max(3.55, 2.75 / aspect)
    middle = EYES - (0.5 - 0.415) * tall
    plane = DISTANCE - 0.9
    near, far = 4.0, 20.0
    up = plane / (tall / 2)
    place = np.array([0, middle, DISTANCE], np.float32)
    project = np.array([[up / aspect, 0, 0, 0], [0, up, 0, 0],
                        [0, 0, -(far + near) / (far - near), -2 * far * near / (far - near)], [0, 0, -1, 0]])
    view = np.eye(4)
    view[:3, 3] = -place
    return (project @ view).astype(np.float32), place


def rotation(roll: float, pitch: float, yaw: float) -> Floats:
    """Rotation matrix float32 [3, 3] from roll, pitch, yaw in rad, signs as in FaceState."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    about_z = np.array([[cr, -sr, 0], [sr, cr, 0], [0, 0, 1]])
    about_x = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    turned: Floats = (about_y @ about_x @ about_z).astype(np.float32)
    return turned


def follow(canon: Floats) -> Floats:
    """How far places of the base mesh follow the head, float32 [n], 0 (shoulders) to 1."""
    return _smooth((canon[:, 1] - 5.55) / 0.85)


def cut(canon: Floats, neckline: tuple[float, float, float, float]) -> Floats:
    """How far places of the base mesh are inside the garment, dm float32 [n]; the same as in cloth.frag.

    neckline: height of the edge behind and in front of the neck, width of the border, depth of a V; dm.
    """
    x, y, z = np.abs(canon[:, 0]), canon[:, 1], canon[:, 2]
    front, near = _smooth((z + 0.2) / 1.2), _smooth((z - 0.3) / 0.6)
    edge = neckline[0] + (neckline[1] - neckline[0]) * front + 0.10 * x
    return np.asarray(edge - neckline[3] * np.maximum(0, 1 - x * 1.6) * near - y, dtype=np.float32)


def _smooth(t: Floats) -> Floats:
    t = np.clip(t, 0, 1).astype(np.float32)
    result: Floats = t * t * (3 - 2 * t)
    return result


def shine(canon: Floats) -> Floats:
    """How much the skin shines at places of the base mesh, float32 [n]: nose, forehead and cheek bones the most."""
    a, y = np.abs(np.arctan2(canon[:, 0], canon[:, 2] - 0.1)), canon[:, 1]

    def spot(angle: float, height: float, wide: float, tall: float) -> Floats:
        here: Floats = np.exp(-((a - angle) / wide) ** 2 - ((y - height) / tall) ** 2)
        return here

    value = 0.45 + 0.5 * spot(0, 7.0, 0.09, 0.3) + 0.35 * spot(0, 7.8, 0.35, 0.2) + 0.3 * spot(0.42, 7.06, 0.14, 0.09)
    value += 0.25 * spot(0, 6.42, 0.1, 0.06) - 0.3 * spot(0.225, 7.2, 0.12, 0.06) - 0.5 * spot(0.24, 7.44, 0.2, 0.05)
    result: Floats = np.clip(value, 0.1, 1).astype(np.float32)
    return result


def resolve(state: FaceState) -> tuple[Units, tuple[tuple[float, float], tuple[float, float]]]:
    """Unit weights with the lids following the eyes; pitch and yaw in rad of the left and of the right eye.

    The eyes go where `gaze` says or, if further, where the eyeLook units say.
    """
    values = np.array(state.units, dtype=np.float32, copy=True)
    if values.shape != (len(UNITS),):
        raise BadInput(f'face units must be {len(UNITS)} numbers, not an array of shape {values.shape}')
    np.clip(np.nan_to_num(values), 0, HIGHEST, out=values)
    # At rest the lips of the mesh are a little apart.
    closing = CLOSED * (1 - min(1.0, 1.2 * max(0.0, mouth_light(values) - 0.1)))
    values[INDEX['mouthClose']] = max(float(values[INDEX['mouthClose']]), closing)
    yaw, pitch = (float(np.clip(np.nan_to_num(angle), -0.7, 0.7)) for angle in state.gaze)
    eyes = []
    for side, outward in (('Left', 1), ('Right', -1)):
        unit_yaw = outward * LOOK * float(values[INDEX['eyeLookOut' + side]] - values[INDEX['eyeLookIn' + side]])
        unit_pitch = LOOK * float(values[INDEX['eyeLookDown' + side]] - values[INDEX['eyeLookUp' + side]])
        down, across = max(pitch, unit_pitch, key=abs), max(yaw, unit_yaw, key=abs)
        eyes.append((down, across))
        for name, amount in (('Down', down), ('Up', -down), ('Out', outward * across), ('In', -outward * across)):
            values[INDEX[f'eyeLook{name}{side}']] = min(max(amount, 0.0) / LOOK, 1.0)
        # Lids that are nearly shut would let the looking-down unit push them past each other.
        shut = float(values[INDEX['eyeBlink' + side]])
        for name in ('eyeLookDown', 'eyeSquint', 'eyeWide', 'eyeLookUp'):
            values[INDEX[name + side]] *= max(0.0, 1 - shut)
    return values, (eyes[0], eyes[1])


def resting(eyes: Floats, rest: Floats, lids: NDArray[np.int64]) -> tuple[float, float]:
    """Pitch in rad of the left and the right eye at rest: half way to the middle of the lids' opening.

    A face seems to look at you when its iris lies well between its lids, whatever the exact axis of the ball.
    """
    middle = rest[lids, 1].reshape(2, 2).mean(1)
    low = 0.5 * (eyes[:, 1] - middle) / eyes[:, 3]
    return float(low[0]), float(low[1])


def wrinkles(values: Units) -> Floats:
    """Strength of the lines that show, float32 [4]: forehead, frown, smile, 0."""
    def both(name: str) -> float:
        return float(values[INDEX[name + 'Left']] + values[INDEX[name + 'Right']]) / 2

    forehead = 0.55 * float(values[INDEX['browInnerUp']]) + 0.6 * both('browOuterUp')
    smile = 0.5 * both('mouthSmile') + 0.6 * both('cheekSquint')
    return np.array([min(forehead, 1.2), min(both('browDown'), 1.2), min(smile, 1.2), 0], np.float32)


def mouth_light(values: Units) -> float:
    """How far light gets into the mouth, 0 to 1: by how much the lips are apart."""
    def both(name: str) -> float:
        return float(values[INDEX[name + 'Left']] + values[INDEX[name + 'Right']]) / 2

    apart = 1.6 * float(values[JAW]) + 0.7 * both('mouthUpperUp') + 0.7 * both('mouthLowerDown')
    return float(np.clip(0.10 + apart + 0.45 * both('mouthSmile') - float(values[INDEX['mouthClose']]), 0.1, 1))


def sphere(rings: int = 12, around: int = 22) -> tuple[Floats, NDArray[np.int32]]:
    """The front half (and a bit) of a unit sphere about z: points float32 [n, 3], triangles int32 [k, 3]."""
    polar = np.linspace(0.0, 1.75, rings)
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    p, a = np.meshgrid(polar, angle, indexing='ij')
    points = np.stack([np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)], 2).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(rings - 1), np.arange(around), indexing='ij')
    first, second = i * around + j, i * around + (j + 1) % around
    faces = np.concatenate([np.stack([first, first + around, second], -1).reshape(-1, 3),
                            np.stack([second, first + around, second + around], -1).reshape(-1, 3)])
    return points.astype(np.float32), faces.astype(np.int32)
