"""Every encoding a driver may send gives the same RGB; wrong sizes are refused."""

import cv2
import numpy as np
import pytest

from emavatar_ros.errors import BadInput
from emavatar_ros.media.images import ENCODINGS, decode, decode_compressed, fit

WIDTH, HEIGHT = 8, 6


def picture() -> np.ndarray:
    """Blocks of 2x2 of one colour, so that halved chroma loses nothing."""
    blocks = np.random.default_rng(1).integers(40, 216, (HEIGHT // 2, WIDTH // 2, 3), dtype=np.uint8)
    return blocks.repeat(2, axis=0).repeat(2, axis=1)


def encode(encoding: str, rgb: np.ndarray) -> np.ndarray:
    """Rows of bytes of a picture in an encoding, made without the code under test."""
    alpha = np.full((HEIGHT, WIDTH, 1), 255, np.uint8)
    match encoding:
        case 'rgb8':
            return rgb.reshape(HEIGHT, -1)
        case 'bgr8' | '8UC3':
            return rgb[:, :, ::-1].reshape(HEIGHT, -1)
        case 'rgba8':
            return np.concatenate((rgb, alpha), axis=2).reshape(HEIGHT, -1)
        case 'bgra8':
            return np.concatenate((rgb[:, :, ::-1], alpha), axis=2).reshape(HEIGHT, -1)
        case 'mono8' | '8UC1':
            return rgb[:, :, 1]
    # ITU-R BT.601, limited range, as cameras send it.
    r, g, b = (rgb[:, :, i].astype(float) for i in range(3))
    y = 16 + 0.257 * r + 0.504 * g + 0.098 * b
    u = 128 - 0.148 * r - 0.291 * g + 0.439 * b
    v = 128 + 0.439 * r - 0.368 * g - 0.071 * b
    y, u, v = (np.clip(np.rint(plane), 0, 255).astype(np.uint8) for plane in (y, u, v))
    if encoding == 'nv12':
        chroma = np.stack((u[::2, ::2], v[::2, ::2]), axis=2).reshape(HEIGHT // 2, WIDTH)
        return np.vstack((y, chroma))
    rows = np.empty((HEIGHT, WIDTH * 2), np.uint8)
    luma, first = (0, 1) if encoding in ('yuyv', 'yuv422_yuy2') else (1, 0)
    rows[:, luma::2] = y
    rows[:, first::4] = u[:, ::2]
    rows[:, first + 2::4] = v[:, ::2]
    return rows


@pytest.mark.parametrize('padding', [0, 5])
@pytest.mark.parametrize('encoding', ENCODINGS)
def test_every_encoding_gives_the_picture(encoding: str, padding: int) -> None:
    rgb = picture()
    rows = encode(encoding, rgb)
    rows = np.pad(rows, ((0, 0), (0, padding)), constant_values=77)
    got = decode(encoding, rows.tobytes(), WIDTH, HEIGHT, rows.shape[1])
    expected = np.repeat(rgb[:, :, 1:2], 3, axis=2) if encoding in ('mono8', '8UC1') else rgb
    assert got.shape == (HEIGHT, WIDTH, 3) and got.dtype == np.uint8 and got.flags.c_contiguous
    assert np.abs(got.astype(int) - expected).max() <= (4 if encoding[:2] in ('yu', 'uy', 'nv') else 0)


def test_the_last_row_may_lack_its_padding() -> None:
    rgb = picture()
    rows = np.pad(rgb.reshape(HEIGHT, -1), ((0, 0), (0, 8)))
    assert np.array_equal(decode('rgb8', rows.tobytes()[:-8], WIDTH, HEIGHT, rows.shape[1]), rgb)


def test_any_buffer_is_taken() -> None:
    rgb = picture()
    for data in (rgb.tobytes(), bytearray(rgb.tobytes()), memoryview(rgb.tobytes()), rgb.ravel()):
        assert np.array_equal(decode('rgb8', data, WIDTH, HEIGHT), rgb)


@pytest.mark.parametrize(('encoding', 'size', 'width', 'height', 'step'), [
    ('rgb8', 10, 8, 6, 24), ('rgb8', 1000, 8, 6, 20), ('rgb8', 0, 0, 6, 0), ('rgb8', 10, 8, -1, 0),
    ('rgb16', 300, 8, 6, 48),
    ('yuyv', 1000, 7, 6, 0), ('nv12', 1000, 8, 5, 0), ('nv12', 48, 8, 6, 8), ('', 100, 1, 1, 3)])
def test_what_does_not_fit_is_refused(encoding: str, size: int, width: int, height: int, step: int) -> None:
    with pytest.raises(BadInput):
        decode(encoding, bytes(size), width, height, step)


@pytest.mark.parametrize('kind', ['.png', '.jpg'])
def test_compressed(kind: str) -> None:
    rgb = np.full((24, 32, 3), (200, 60, 30), np.uint8)
    data = cv2.imencode(kind, rgb[:, :, ::-1])[1].tobytes()
    got = decode_compressed(data)
    assert got.shape == rgb.shape
    assert np.abs(got.astype(int) - rgb).max() <= (4 if kind == '.jpg' else 0)


@pytest.mark.parametrize('data', [b'', b'not a picture', b'\x89PNG\r\n\x1a\n'])
def test_broken_compressed_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        decode_compressed(data)


def test_fit() -> None:
    assert fit(np.zeros((100, 400, 3), np.uint8), 200).shape == (50, 200, 3)
    small = picture()
    assert fit(small, 200) is small
