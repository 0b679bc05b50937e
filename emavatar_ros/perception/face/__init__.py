"""The face view: who is in the picture and what their faces show.

view.py puts it together: landmarks.py finds faces and their units, tracking.py says who is who, crop.py cuts a face
out, a backend (small.py by default) says what expression it looks like, signs.py what its units say, and reading.py
makes one distribution of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

VIEW: Final = 'face'


class ExpressionNetworks(Protocol):
    """What an upright face's expression looks like. Not for two threads at once."""

    name: str
    """The model's name."""

    def scores(self, faces: Sequence[NDArray[np.uint8]]) -> NDArray[np.float64]:
        """Log-probabilities float64 [n, 8] in the order of LABELS of faces from `crop.cut`; an emotion that the
        networks don't know is minus infinity."""
        ...
