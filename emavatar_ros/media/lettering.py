"""Writes on pictures, as well as the OpenCV at hand can.

OpenCV 5 brings a typeface for most of the world's letters; OpenCV 4 has only pen strokes for ASCII: there letters lose
their accents, and a sign that has no ASCII likeness becomes a question mark.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]

LIKE: Final = {'ß': 'ss', 'ä': 'ae', 'ö': 'oe', 'ü': 'ue', 'Ä': 'Ae', 'Ö': 'Oe', 'Ü': 'Ue', '’': "'", '‘': "'",
               '“': '"', '”': '"', '„': '"', '–': '-', '—': '-', '…': '...', 'æ': 'ae', 'ø': 'o', 'ł': 'l'}
BOLD: Final = 600
REGULAR: Final = 400


@lru_cache(1)
def typeface() -> Any:
    """OpenCV's typeface, or None where it has none."""
    return cv2.FontFace('sans') if hasattr(cv2, 'FontFace') else None


def plain(text: str) -> str:
    """The text in ASCII: umlauts written out, accents left off, '?' for what has no likeness."""
    text = unicodedata.normalize('NFKD', ''.join(LIKE.get(sign, sign) for sign in text))
    return ''.join(sign if sign.isascii() else '?' for sign in text if not unicodedata.combining(sign))


def width(text: str, size: int, bold: bool = False) -> int:
    """How wide `text` is at a letter size (px)."""
    face = typeface()
    if not text:
        return 0
    if face is None:
        return int(cv2.getTextSize(plain(text), cv2.FONT_HERSHEY_SIMPLEX, size / 30, _thick(size, bold))[0][0])
    # wrap: as far as it takes, or the text would be measured folded
    box = cv2.getTextSize((1 << 15, 4 * size), text, (0, 2 * size), face, size, BOLD if bold else REGULAR,
                          cv2.PUT_TEXT_ALIGN_LEFT, (0, 1 << 15))
    return int(box[2] + max(box[0], 0))


def write(picture: Pixels, text: str, x: float, y: float, size: int, colour: Colour, bold: bool = False) -> None:
    """Write on `picture` (uint8 [h, w, 3]) from x on, the letters standing on the line y (px)."""
    face, at = typeface(), (round(x), round(y))
    if not text:
        return
    if face is None:
        cv2.putText(picture, plain(text), at, cv2.FONT_HERSHEY_SIMPLEX, size / 30, colour, _thick(size, bold),
                    cv2.LINE_AA)
    else:
        cv2.putText(picture, text, at, colour, face, size, BOLD if bold else REGULAR, cv2.PUT_TEXT_ALIGN_LEFT,
                    (0, 1 << 15))


def shorten(text: str, size: int, room: float, bold: bool = False) -> str:
    """The text, or as much of its beginning as fits into `room` px and an ellipsis; '' when nothing much fits."""
    if width(text, size, bold) <= room:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if width(text[:middle].rstrip() + '…', size, bold) <= room else (low, middle - 1)
    return text[:low].rstrip(' ,.;:') + '…' if low >= 4 else ''


def fold(text: str, size: int, room: float, lines: int, bold: bool = False) -> list[str]:
    """The text in at most `lines` lines of at most `room` px; what is left over becomes an ellipsis."""
    words = text.split()
    made: list[str] = []
    while words and len(made) < lines - 1:
        count = 1
        while count < len(words) and width(' '.join(words[:count + 1]), size, bold) <= room:
            count += 1
        made.append(shorten(' '.join(words[:count]), size, room, bold))
        words = words[count:]
    last = shorten(' '.join(words), size, room, bold)
    return [line for line in [*made, last] if line]


def _thick(size: int, bold: bool) -> int:
    return max(1, round(size / (12 if bold else 18)))
