"""From a place in the picture to a direction in the room."""

from __future__ import annotations

import math


def direction(x: float, y: float, aspect: float, view_angle: float) -> tuple[float, float, float]:
    """Unit vector from the camera to what is seen at `x`, `y` (-1 to 1, left to right and top to bottom).

    aspect: height of the picture over its width; view_angle: the camera's horizontal field of view, rad. The vector's
    axes are REP-103's for a body: x out of the lens, y to the camera's left, z up.
    """
    half = math.tan(view_angle / 2)
    left, up = -half * x, -half * aspect * y
    length = math.sqrt(1 + left * left + up * up)
    return 1 / length, left / length, up / length
