"""The renderer: right size, right side, really the face it was told, and clear words when it can't."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros import avatars
from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.face import renderer as module
from emavatar_ros.face.renderer import Config, Renderer, create
from emavatar_ros.face.sheet import sheet, states
from emavatar_ros.face.units import FaceState, units


@pytest.fixture(scope='module', params=['mira', 'tomas'])
def drawn(request: pytest.FixtureRequest) -> Iterator[Renderer]:
    with Renderer(avatars.load(request.param), 320, 320, samples=0) as renderer:
        yield renderer


def picture(renderer: Renderer, state: FaceState) -> np.ndarray:
    renderer.draw(state)
    return renderer.read().astype(int)


def test_a_picture_has_the_size_asked_for_and_a_face_in_it(drawn: Renderer) -> None:
    rest = picture(drawn, FaceState(units()))
    assert rest.shape == (320, 320, 3)
    skin = np.array(drawn.avatar.face.skin) * 255
    cheek = rest[165:185, 120:150].mean((0, 1))
    assert np.abs(cheek / cheek.sum() - skin / skin.sum()).max() < 0.08
    corner = rest[:20, :20].mean((0, 1))
    assert corner.min() > 90 and np.ptp(corner) < 40, 'the top corner is the backdrop, not upside down'
    assert rest[-20:, 150:170].mean() < corner.mean(), 'the garment is at the bottom'


def test_the_same_state_gives_the_same_picture(drawn: Renderer) -> None:
    state = FaceState(units(mouthSmile=0.7), head=(0.02, 0.03, 0.1), gaze=(0.1, 0.0), breath=0.4)
    first = picture(drawn, state)
    picture(drawn, FaceState(units(jawOpen=1.0)))
    assert np.array_equal(first, picture(drawn, state))


def test_every_state_of_the_sheet_shows(drawn: Renderer) -> None:
    rest = picture(drawn, FaceState(units()))
    for label, state in states().items():
        if label != 'neutral':
            changed = np.abs(picture(drawn, state) - rest).max(2) > 24
            assert changed.sum() > 60, f'{label} cannot be seen'


def test_an_open_mouth_is_dark_inside(drawn: Renderer) -> None:
    rest, wide = picture(drawn, FaceState(units())), picture(drawn, FaceState(units(jawOpen=0.8)))
    mouth = (slice(175, 225), slice(140, 180))
    assert (wide[mouth].max(2) < 70).sum() > (rest[mouth].max(2) < 70).sum() + 20


def test_eyes_and_head_turn_to_the_own_left_which_is_right_in_the_picture(drawn: Renderer) -> None:
    eye = (slice(128, 144), slice(168, 200))

    def dark_middle(state: FaceState) -> float:
        weight = np.clip(90 - picture(drawn, state)[eye].max(2), 0, None).sum(0)
        return float((weight * np.arange(len(weight))).sum() / weight.sum())

    assert dark_middle(FaceState(units(), gaze=(0.4, 0))) > dark_middle(FaceState(units(), gaze=(-0.4, 0))) + 1.5
    skin = np.array(drawn.avatar.face.skin)

    def middle(yaw: float) -> float:
        image = picture(drawn, FaceState(units(), head=(0, 0, yaw)))[140:200]
        near = np.abs(image / (image.sum(2, keepdims=True) + 1) - skin / skin.sum()).max(2) < 0.05
        return float((near.sum(0) * np.arange(320)).sum() / near.sum())

    assert middle(0.4) > middle(-0.4) + 8


@pytest.mark.parametrize(('width', 'height'), [(16, 16), (320, 180), (180, 320), (641, 359)])
def test_any_shape_is_filled(width: int, height: int) -> None:
    with Renderer(avatars.load('mira'), width, height, samples=4) as renderer:
        image = picture(renderer, FaceState(units()))
    assert image.shape == (height, width, 3) and image.reshape(-1, 3).std(0).min() > 10
    assert image.min() >= 0 and image[0].mean() > 90


def test_a_renderer_resized_draws_what_a_new_one_draws() -> None:
    state = FaceState(units(mouthSmile=0.5))
    with Renderer(avatars.load('tomas'), 96, 64, 0) as fresh:
        wanted = picture(fresh, state)
        fresh.resize(64, 128, 4)
        assert picture(fresh, state).shape == (128, 64, 3)
        fresh.resize(96, 64, 0)
        assert np.array_equal(picture(fresh, state), wanted)
        with pytest.raises(BadInput, match='16 to 7680'):
            fresh.resize(8, 8, 0)


def test_smoothing_and_detail_change_the_edges_only_a_little() -> None:
    images = []
    for samples, detail in ((0, 'coarse'), (4, 'coarse'), (4, 'fine')):
        with create(Config(width=256, height=256, samples=samples, detail=detail), avatars.load('mira')) as renderer:
            assert renderer.info['renderer']
            images.append(picture(renderer, FaceState(units())))
    assert not np.array_equal(images[0], images[1])
    assert np.abs(images[1] - images[2]).mean() < 8 and np.abs(images[0] - images[1]).mean() < 4


def test_a_given_context_is_drawn_in_and_left_open() -> None:
    import moderngl

    context = moderngl.create_context(standalone=True, backend='egl', require=330)
    renderer = Renderer(avatars.load('mira'), 64, 64, 0, context=context)
    renderer.draw(FaceState(units()))
    assert renderer.framebuffer.size == (64, 64) and renderer.read().std() > 10
    renderer.close()
    assert context.buffer(b'still open').size == 10
    context.release()


@pytest.mark.parametrize(('width', 'height'), [(0, 100), (100, 15), (100000, 100)])
def test_impossible_sizes_are_refused(width: int, height: int) -> None:
    with pytest.raises(BadInput, match='16 to 7680'):
        Renderer(avatars.load('mira'), width, height)


def test_without_opengl_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import moderngl

    def refuse(**_: object) -> None:
        raise RuntimeError('eglInitialize failed')

    monkeypatch.setattr(moderngl, 'create_context', refuse)
    with pytest.raises(Missing, match=r'eglInitialize failed.*apt-get install'):
        module.Renderer(avatars.load('mira'), 64, 64)


def test_the_sheet_is_written_and_bad_paths_are_refused(tmp_path: Path) -> None:
    whole = sheet('mira', tmp_path / 'sheet.png', size=64)
    assert whole.shape == (4 * 64, 5 * 64, 3) and (tmp_path / 'sheet.png').stat().st_size > 10000
    for bad in ('sheet.exe', 'no/such/folder/sheet.png'):
        with pytest.raises(BadInput, match='cannot be written'):
            sheet('mira', tmp_path / bad, size=16)
