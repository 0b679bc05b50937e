"""The colour of each emotion, wherever one is drawn: warm where there is energy, cool where there is none."""

from __future__ import annotations

from typing import Final

Colour = tuple[int, int, int]

COLOURS: Final[dict[str, Colour]] = {
    'angry': (212, 58, 51),
    'contempt': (156, 92, 60),
    'disgusted': (110, 140, 42),
    'fear': (122, 82, 180),
    'happy': (246, 186, 38),
    'neutral': (146, 156, 166),
    'sad': (52, 112, 190),
    'surprised': (18, 165, 160),
    'unsure': (198, 200, 204),
}
"""sRGB, 0 to 255, of the eight labels and of unsure."""
