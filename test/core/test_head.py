"""The parametric head: units move what they name, and only that; broken files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emavatar_ros import avatars
from emavatar_ros.errors import BadInput
from emavatar_ros.face import pose
from emavatar_ros.face.head import Head, load, refine
from emavatar_ros.face.units import INDEX, UNITS, FaceState, units


@pytest.fixture(scope='module', params=['mira', 'tomas'])
def head(request: pytest.FixtureRequest) -> Head:
    return load(avatars.load(request.param).folder, fine=False)


def test_no_units_is_the_rest_pose(head: Head) -> None:
    vertices, normals = head.pose(units())
    np.testing.assert_array_equal(vertices, head.rest)
    np.testing.assert_allclose(normals, head.rest_normals, atol=1e-5)
    used = np.unique(np.concatenate(list(head.triangles.values())))
    np.testing.assert_allclose(np.linalg.norm(normals[used], axis=1), 1, atol=1e-3)


def test_every_unit_moves_something_and_nothing_far(head: Head) -> None:
    for name in UNITS:
        moved = np.linalg.norm(head.pose(units({name: 1.0}))[0] - head.rest, axis=1)
        assert 0.005 < moved.max() < 1.5, name
        assert moved[head.canon[:, 1] < 5.3].max() < 0.02, f'{name} moves the shoulders'


def test_the_left_is_the_persons_own_left(head: Head) -> None:
    moved = np.linalg.norm(head.pose(units({'mouthSmileLeft': 1.0}))[0] - head.rest, axis=1)
    assert head.rest[moved > 0.5 * moved.max(), 0].min() > 0


def test_a_blink_closes_the_lids(head: Head) -> None:
    shut = head.pose(units(eyeBlink=1.0))[0]
    for upper, lower in (head.lids[:2], head.lids[2:]):
        before = head.rest[upper, 1] - head.rest[lower, 1]
        after = shut[upper, 1] - shut[lower, 1]
        assert before > 0.05 and after < 0.25 * before


def test_the_jaw_takes_the_lower_teeth_along(head: Head) -> None:
    teeth = np.unique(head.triangles['teeth'])
    drop = (head.rest - head.pose(units(jawOpen=1.0))[0])[teeth, 1]
    height = head.canon[teeth, 1]
    assert drop[height < 6.55].mean() > 0.1 and np.abs(drop[height > 6.70]).max() < 0.01


def test_normals_follow_the_face(head: Head) -> None:
    values = units(jawOpen=1.0, mouthSmile=1.0, browDown=1.0)
    vertices, normals = head.pose(values)
    skin = head.triangles['skin']
    flat = np.cross(vertices[skin[:, 1]] - vertices[skin[:, 0]], vertices[skin[:, 2]] - vertices[skin[:, 0]])
    agree = (normals[skin].mean(1) * flat).sum(1) > 0
    assert agree.mean() > 0.97


@pytest.mark.parametrize('bad', [np.zeros(51), np.zeros((52, 1)), np.zeros(0)])
def test_units_of_another_number_are_refused(head: Head, bad: np.ndarray) -> None:
    with pytest.raises(BadInput, match='52'):
        head.pose(bad)
    with pytest.raises(BadInput, match='52'):
        pose.resolve(FaceState(bad))


def test_values_out_of_range_are_cut(head: Head) -> None:
    wild = np.full(52, np.nan, np.float32)
    wild[INDEX['jawOpen']] = 9
    np.testing.assert_array_equal(head.pose(wild)[0], head.pose(units(jawOpen=1.5))[0])


def test_the_fine_mesh_has_four_times_the_faces() -> None:
    folder = avatars.load('mira').folder
    fine, coarse = load(folder), load(folder, fine=False)
    assert len(fine.triangles['skin']) == 4 * len(coarse.triangles['skin'])
    assert len(fine.triangles['teeth']) == len(coarse.triangles['teeth'])


def test_refining_a_cube_rounds_it() -> None:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32)
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    points, fine = refine(corners, quads)
    assert points.shape == (8 + 12 + 6, 3) and fine.shape == (24, 4)
    # Catmull and Clark: a cube's corners go to 5/9, its edges' middles to 3/4.
    np.testing.assert_allclose(np.abs(points[:8]), 5 / 9, atol=1e-6)
    np.testing.assert_allclose(np.sort(np.abs(points[8:20]), axis=1), [[0, 0.75, 0.75]] * 12, atol=1e-6)


def test_the_eyes_go_where_gaze_says_and_the_lids_follow() -> None:
    values, (left, right) = pose.resolve(FaceState(units(), gaze=(0.3, 0.2)))
    assert left == right == pytest.approx((0.2, 0.3))
    assert values[INDEX['eyeLookOutLeft']] > 0.3 and values[INDEX['eyeLookInRight']] > 0.3
    assert values[INDEX['eyeLookDownLeft']] > 0.3 and values[INDEX['eyeLookUpLeft']] == 0


def test_rotations_turn_the_way_the_face_state_says() -> None:
    nose, crown = np.array([0, 0, 1.0]), np.array([0, 1.0, 0])
    assert (pose.rotation(0, 0, 0.3) @ nose)[0] > 0.2, 'yaw turns to the own left, which is +x'
    assert (pose.rotation(0, 0.3, 0) @ nose)[1] < -0.2, 'pitch nods down'
    assert (pose.rotation(0.3, 0, 0) @ crown)[0] < -0.2, 'roll tilts to the own right'


@pytest.mark.parametrize('content', [b'', b'not a zip at all', None, 'old'])
def test_a_broken_head_file_is_bad_input(tmp_path: Path, content: bytes | str | None) -> None:
    (tmp_path / 'face').mkdir()
    file = tmp_path / 'face' / 'head.npz'
    if content == 'old':
        np.savez(file, version=np.array(0))
    elif isinstance(content, bytes):
        file.write_bytes(content)
    with pytest.raises(BadInput, match=r'head.npz'):
        load(tmp_path)


def test_a_truncated_head_file_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / 'face').mkdir()
    whole = (avatars.load('mira').folder / 'face' / 'head.npz').read_bytes()
    (tmp_path / 'face' / 'head.npz').write_bytes(whole[:len(whole) // 2])
    with pytest.raises(BadInput):
        load(tmp_path)
