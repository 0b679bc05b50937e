"""Where hair grows, in the base mesh's measures: shared by the skin's paint and by the hair that is grown offline."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
ANGLES: Final = (0.0, 0.20, 0.42, 0.58, 0.70, 0.80, 0.92, 1.05, 1.18, 1.32, 1.45, 1.58, 1.80, 2.30, 3.15)
HEIGHTS: Final = {
    'bob': (8.00, 8.02, 8.02, 7.93, 7.78, 7.60, 7.40, 7.22, 7.08, 7.20, 7.46, 7.40, 6.95, 6.62, 6.55),
    'short': (8.05, 8.10, 8.20, 8.16, 7.98, 7.74, 7.62, 7.46, 7.20, 7.22, 7.46, 7.40, 6.98, 6.72, 6.66)}
"""Height of the hairline in dm at angles about the vertical axis (rad from the front, both sides)."""


def above(style: str, angle: Floats, height: Floats) -> Floats:
    """How far a place lies inside the hairline, dm (negative: outside)."""
    line = np.interp(np.abs(angle), ANGLES, HEIGHTS[style])
    return np.asarray(height - line, dtype=np.float32)
