"""Where somebody stands, from where they are in the picture."""

import math

import pytest

from emavatar_ros.perception.direction import direction


def test_the_middle_is_straight_ahead():
    assert direction(0, 0, 0.75, 1.0) == (1, 0, 0)


def test_the_right_edge_is_half_the_view_angle_to_the_cameras_right():
    x, y, z = direction(1, 0, 0.75, 1.0)
    assert math.atan2(y, x) == pytest.approx(-0.5) and z == 0


def test_the_top_is_up_and_all_are_unit_vectors():
    x, y, z = direction(-0.4, -0.8, 0.75, 1.2)
    assert z > 0 and y > 0 and x * x + y * y + z * z == pytest.approx(1)
