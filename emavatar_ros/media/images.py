"""Pictures from whatever a camera driver sends to uint8 [h, w, 3], RGB.

Encodings are named as in sensor_msgs/image_encodings. No ROS in here: the caller passes a message's fields.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import BadInput

Pixels = NDArray[np.uint8]
Bytes = bytes | bytearray | memoryview | NDArray[np.uint8]

LARGEST: Final = 8192
"""Longest side of a compressed picture that is taken, in px: a small file can claim to be an enormous picture."""


def _yuv(code: int) -> Callable[[Pixels], Pixels]:
    return lambda packed: np.asarray(cv2.cvtColor(packed, code), dtype=np.uint8)


_PACKED: Final[dict[str, tuple[int, Callable[[Pixels], Pixels]]]] = {
    # bytes per pixel, how to turn [h, w, bytes] into RGB
    'rgb8': (3, lambda p: p),
    'bgr8': (3, lambda p: p[:, :, ::-1]),
    'rgba8': (4, lambda p: p[:, :, :3]),
    'bgra8': (4, lambda p: p[:, :, 2::-1]),
    'mono8': (1, lambda p: np.repeat(p, 3, axis=2)),
    '8UC1': (1, lambda p: np.repeat(p, 3, axis=2)),
    '8UC3': (3, lambda p: p[:, :, ::-1]),
    'yuv422_yuy2': (2, _yuv(cv2.COLOR_YUV2RGB_YUYV)),
    'yuyv': (2, _yuv(cv2.COLOR_YUV2RGB_YUYV)),
    'yuv422': (2, _yuv(cv2.COLOR_YUV2RGB_UYVY)),
    'uyvy': (2, _yuv(cv2.COLOR_YUV2RGB_UYVY)),
}
ENCODINGS: Final = MappingProxyType({name: depth for name, (depth, _) in _PACKED.items()} | {'nv12': 1})
"""Encodings that `decode` takes, with the bytes per pixel of a row (nv12: of its luma)."""


def decode(encoding: str, data: Bytes, width: int, height: int, step: int = 0) -> Pixels:
    """RGB uint8 [height, width, 3], contiguous, from raw pixels.

    `step` is the length of a row in bytes, padding included; 0 means no padding. nv12: height rows of luma, then
    height / 2 rows of interleaved chroma, all `step` long. 8UC1 and 8UC3 are taken as mono8 and bgr8, which OpenCV's
    drivers mean by them. Raises BadInput for an encoding not in ENCODINGS and for sizes that don't fit the data.
    """
    if encoding not in ENCODINGS:
        raise BadInput(f'unknown picture encoding {encoding!r}; known: {", ".join(ENCODINGS)}')
    if width < 1 or height < 1:
        raise BadInput(f'a picture must have at least one pixel, not {width}x{height}')
    depth = ENCODINGS[encoding]
    step = step or width * depth
    rows = height
    if encoding == 'nv12':
        if width % 2 or height % 2:
            raise BadInput(f'an nv12 picture has an even width and height, not {width}x{height}')
        rows += height // 2
    elif depth == 2 and width % 2:
        raise BadInput(f'a {encoding} picture has an even width, not {width}')
    flat = np.frombuffer(data, dtype=np.uint8)
    # The last row may come without its padding.
    if step < width * depth or len(flat) < step * (rows - 1) + width * depth:
        raise BadInput(f'a {width}x{height} {encoding} picture with rows of {step} bytes needs {step * rows} bytes '
                       f'of data in rows of at least {width * depth}, not {len(flat)}')
    flat = flat[:step * rows]
    if len(flat) < step * rows:
        flat = np.concatenate((flat, np.zeros(step * rows - len(flat), dtype=np.uint8)))
    grid = flat.reshape(rows, step)[:, :width * depth]
    if encoding == 'nv12':
        return np.asarray(cv2.cvtColor(np.ascontiguousarray(grid), cv2.COLOR_YUV2RGB_NV12), dtype=np.uint8)
    packed = np.ascontiguousarray(grid).reshape(height, width, depth)
    rgb: Pixels = np.ascontiguousarray(_PACKED[encoding][1](packed))
    return rgb


def decode_compressed(data: Bytes) -> Pixels:
    """RGB uint8 [h, w, 3] from a JPEG, PNG or any still format OpenCV knows; turned as its EXIF says.

    Raises BadInput when it is no picture, is cut off so that nothing can be read, or is larger than LARGEST.
    """
    flat = np.frombuffer(data, dtype=np.uint8)
    bgr = None
    if len(flat):
        try:
            bgr = cv2.imdecode(flat, cv2.IMREAD_COLOR)
        except cv2.error:
            bgr = None
    if bgr is None:
        raise BadInput(f'{len(flat)} bytes of compressed picture could not be read: not a JPEG or PNG, or cut off')
    if max(bgr.shape[:2]) > LARGEST:
        raise BadInput(f'a picture of {bgr.shape[1]}x{bgr.shape[0]} is larger than {LARGEST} pixels a side')
    return np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), dtype=np.uint8)


def fit(rgb: Pixels, longest: int) -> Pixels:
    """The picture itself, or made smaller so that its longer side is `longest` px."""
    scale = longest / max(rgb.shape[:2])
    if scale >= 1:
        return rgb
    size = (max(round(rgb.shape[1] * scale), 1), max(round(rgb.shape[0] * scale), 1))
    return np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
