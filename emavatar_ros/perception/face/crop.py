"""One face cut out of a picture, level with the eyes, as expression networks want it."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np

from emavatar_ros.perception.face.landmarks import Pixels, Region

SIDE: Final = 112
"""Width and height of a cut face, in px."""
MARGIN: Final = 1.05
"""Side of what is cut in sides of the face."""


def cut(rgb: Pixels, face: Region) -> Pixels:
    """The face as an upright square, uint8 [112, 112, 3]; `face` is its bounding square, turned by the eye line."""
    scale = face.side * MARGIN / SIDE
    cos, sin = scale * np.cos(face.angle), scale * np.sin(face.angle)
    half = SIDE / 2
    matrix = np.array([[cos, -sin, face.x - (cos - sin) * half], [sin, cos, face.y - (sin + cos) * half]])
    # Shrinking a large face without averaging would leave grain the networks never saw: average first.
    shrink = max(int(scale), 1)
    if shrink > 1:
        reach = face.side * MARGIN * 0.75
        left, top = (min(max(int(at - reach), 0), length - shrink)
                     for at, length in ((face.x, rgb.shape[1]), (face.y, rgb.shape[0])))
        rgb = rgb[top:max(int(face.y + reach), top + shrink), left:max(int(face.x + reach), left + shrink)]
        rgb = cv2.resize(rgb, (max(rgb.shape[1] // shrink, 1), max(rgb.shape[0] // shrink, 1)),
                         interpolation=cv2.INTER_AREA)
        matrix[:, 2] -= left, top
        matrix /= shrink
    face_only = cv2.warpAffine(rgb, matrix.astype(np.float32), (SIDE, SIDE), borderMode=cv2.BORDER_REPLICATE,
                               flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    return np.asarray(face_only, dtype=np.uint8)
