"""Where hair grows, in the base mesh's measures: shared by the skin's paint and by the hair that is grown offline."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
ANGLES: Final = (0.0, 0.20, 0.42, 0.58, 0.70, 0.80, 0.92, 1.05, 1.18, 1.32, 1.45, 1.58, 1.80, 2.30, 3.15)
HEIGHTS: Final = {
    'bob': (7.90, 7.93, 7.95, 7.88, 7.76, 7.62, 7.46, 7.34, 7.30, 7.50, 7.62, 7.62, 7.45, 6.85, 6.75),
    'crop': (7.98, 8.02, 8.10, 8.08, 7.92, 7.72, 7.60, 7.44, 7.20, 7.36, 7.60, 7.62, 7.45, 6.90, 6.80)}
"""Height of the hairline in dm at angles about the vertical axis (rad from the front, both sides)."""


def above(style: str, angle: Floats, height: Floats) -> Floats:
    """How far a place lies inside the hairline, dm (negative: outside)."""
    line = np.interp(np.abs(angle), ANGLES, HEIGHTS[style])
    return np.asarray(height - line, dtype=np.float32)
