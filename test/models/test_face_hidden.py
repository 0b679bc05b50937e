"""Sunglasses and masks, painted on the project's own rendered heads, are seen and said; bare heads are never hidden.

And what else the real landmarks owe: mirrored faces show mirrored units, lips that speak are seen to, and odd pictures
are no accident.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from emavatar_ros import avatars
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.face.expression import expression
from emavatar_ros.face.renderer import Renderer
from emavatar_ros.face.units import UNITS, FaceState, units
from emavatar_ros.perception.face.attention import Level
from emavatar_ros.perception.face.hidden import MASK, SOMETHING, SUNGLASSES
from emavatar_ros.perception.face.view import Config, Face, FaceView, create
from emavatar_ros.settings import build

JAW = [93, 132, 58, 172, 136, 150, 149, 176, 148, 152, 377, 400, 378, 379, 365, 397, 288, 361, 323, 330, 195, 101]
MIRROR = [UNITS.index(name.replace('Left', '*').replace('Right', 'Left').replace('*', 'Right')) for name in UNITS]
CLOTHS = {'white': (235, 235, 235), 'blue': (140, 185, 215), 'black': (28, 28, 30)}
LENSES = {'black': (18, 18, 18), 'brown': (70, 45, 30), 'tinted': (60, 60, 70)}


@pytest.fixture(scope='module')
def seeing() -> FaceView:
    return create(build(Config, {'tracking.counted_ids': True}))


@pytest.fixture(scope='module', params=avatars.names())
def renderer(request: pytest.FixtureRequest) -> Iterator[Renderer]:
    made = Renderer(avatars.load(request.param), 640, 480)
    yield made
    made.close()


def show(renderer: Renderer, label: str = 'neutral', head: tuple[float, float, float] = (0, 0, 0)) -> np.ndarray:
    renderer.draw(FaceState(expression(label), head=head))
    return renderer.read().copy()


def only(seeing: FaceView, rgb: np.ndarray) -> Face:
    seeing.forget()
    (face,) = seeing.see(rgb, 0.0)
    return face


def masked(rgb: np.ndarray, face: Face, colour: tuple[int, int, int]) -> np.ndarray:
    """A cloth over mouth and nose: darker to the sides, with pleats, its edge a little soft."""
    area = np.zeros(rgb.shape[:2], np.float32)
    cv2.fillPoly(area, [np.round(face.points[JAW, :2]).astype(np.int32)], 1.0)
    area = cv2.GaussianBlur(area, (5, 5), 0)[..., None]
    y, x = np.mgrid[:rgb.shape[0], :rgb.shape[1]].astype(np.float32)
    middle, half = face.points[13], face.roi[2] / 2
    shade = (1 - 0.35 * ((x - middle[0]) / half) ** 2) * (1 + 0.05 * np.sin(y / half * 15))
    cloth = np.clip(shade[..., None] * colour, 0, 255)
    return (rgb * (1 - area) + cloth * area).astype(np.uint8)


def darkened(rgb: np.ndarray, face: Face, colour: tuple[int, int, int], square: bool) -> np.ndarray:
    """Two lenses that let a tenth through, each with a small reflection, and a bar between them."""
    area, rgb = np.zeros(rgb.shape[:2], np.float32), rgb.copy()
    wide = float(np.linalg.norm(face.points[263] - face.points[33]))
    centres = [(face.points[a, :2] + face.points[b, :2]) / 2 + (0, 0.03 * wide) for a, b in ((33, 133), (263, 362))]
    for x, y in centres:
        if square:
            cv2.rectangle(area, (int(x - 0.27 * wide), int(y - 0.19 * wide)),
                          (int(x + 0.27 * wide), int(y + 0.19 * wide)), 1.0, -1)
        else:
            cv2.circle(area, (int(x), int(y)), int(0.25 * wide), 1.0, -1)
    lens = np.float32(colour) * np.ones_like(rgb, np.float32)
    for x, y in centres:
        cv2.circle(lens, (int(x - 0.1 * wide), int(y - 0.08 * wide)), int(0.04 * wide), (220, 220, 220), -1)
    area = 0.9 * cv2.GaussianBlur(area, (3, 3), 0)[..., None]
    cv2.line(rgb, *(tuple(int(v) for v in centre - (0, 0.05 * wide)) for centre in centres), (20, 20, 20), 3)
    return (rgb * (1 - area) + lens * area).astype(np.uint8)


@pytest.mark.parametrize('light', [1.0, 0.45])
def test_bare_heads_are_not_hidden(seeing: FaceView, renderer: Renderer, light: float) -> None:
    for label in LABELS:
        for head in ((0, 0, 0), (0.2, 0.1, 0.3), (0, -0.1, -0.4)):
            assert only(seeing, (show(renderer, label, head) * light).astype(np.uint8)).reason == '', (label, head)


@pytest.mark.parametrize('cloth', CLOTHS)
def test_a_mask_is_seen(seeing: FaceView, renderer: Renderer, cloth: str) -> None:
    for label in ('neutral', 'happy'):
        rgb = show(renderer, label)
        face = only(seeing, masked(rgb, only(seeing, rgb), CLOTHS[cloth]))
        assert face.label is None and face.reason == MASK
        assert seeing.candidate(0, 0).reason == MASK


@pytest.mark.parametrize('lens', LENSES)
@pytest.mark.parametrize('square', [True, False])
def test_sunglasses_are_seen(seeing: FaceView, renderer: Renderer, lens: str, square: bool) -> None:
    for label in ('neutral', 'happy'):
        rgb = show(renderer, label)
        face = only(seeing, darkened(rgb, only(seeing, rgb), LENSES[lens], square))
        assert face.label is None and face.reason == SUNGLASSES


def test_a_hand_is_no_mask(seeing: FaceView, renderer: Renderer) -> None:
    rgb = show(renderer)
    face = only(seeing, rgb)
    x, y = (int(value) for value in face.points[205, :2])
    skin = tuple(int(value) for value in rgb[y - 4:y + 5, x - 4:x + 5].mean(axis=(0, 1)))
    assert only(seeing, masked(rgb, face, skin)).reason == SOMETHING  # type: ignore[arg-type]


@pytest.mark.parametrize('label', LABELS)
def test_a_mirrored_face_is_the_same_face(seeing: FaceView, renderer: Renderer, label: str) -> None:
    rgb = show(renderer, label, head=(0.1, 0.05, 0.0))
    face, mirrored = only(seeing, rgb), only(seeing, rgb[:, ::-1].copy())
    apart = np.abs(face.units - mirrored.units[MIRROR])
    assert apart.max() < 0.35 and apart.mean() < 0.04
    assert np.allclose(face.head, np.multiply(mirrored.head, (-1, 1, -1)), atol=0.06)
    assert face.distribution is not None and mirrored.distribution is not None
    assert face.distribution.label == mirrored.distribution.label
    assert np.allclose(face.distribution.array, mirrored.distribution.array, atol=0.1)


def test_who_speaks_and_who_is_engaged(seeing: FaceView, renderer: Renderer) -> None:
    seeing.forget()
    for i in range(30):
        renderer.draw(FaceState(units(jawOpen=(0.05, 0.25, 0.4, 0.2)[i % 4])))
        (speaking,) = seeing.see(renderer.read(), i / 10)
    assert speaking.speaking > 0.5 and speaking.engagement is Level.ENGAGED
    rest = show(renderer)
    for i in range(30, 60):
        (quiet,) = seeing.see(rest, i / 10)
    assert quiet.speaking == 0 and quiet.id == speaking.id


def test_the_same_pictures_give_the_same(renderer: Renderer) -> None:
    pictures = [show(renderer, label) for label in ('neutral', 'happy', 'sad')]
    first, second = ([[(face.id, face.roi, face.distribution, face.label) for face in view.see(picture, i * 0.3)]
                      for i, picture in enumerate(pictures)]
                     for view in (create(build(Config, {'tracking.counted_ids': True})) for _ in range(2)))
    assert first == second and first[0][0][0] == 'f1'


def test_odd_pictures(seeing: FaceView, renderer: Renderer) -> None:
    rgb = show(renderer, 'happy')
    black = np.zeros((480, 640, 3), np.uint8)
    for odd in (black, ~black, black[:, :2].copy()):
        seeing.forget()
        assert seeing.see(odd, 0.0) == () and seeing.candidate(0, 0).abstains
    grey = np.repeat(rgb.mean(axis=2, keepdims=True), 3, axis=2).astype(np.uint8)
    large = cv2.resize(rgb, (4000, 3000), interpolation=cv2.INTER_LINEAR)
    turned = cv2.warpAffine(rgb, cv2.getRotationMatrix2D((320, 240), 45, 1), (640, 480), borderValue=(128, 128, 128))
    assert [only(seeing, picture).label for picture in (rgb, grey, large, turned)] == ['happy'] * 4
    eight = np.tile(cv2.resize(rgb, (320, 240), interpolation=cv2.INTER_AREA), (2, 4, 1))
    seeing.forget()
    faces = seeing.see(eight, 0.0)
    assert 2 <= len(faces) <= 4 and len({face.id for face in faces}) == len(faces)
    assert sum(face.partner for face in faces) == 1
