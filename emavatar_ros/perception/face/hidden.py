"""Whether sunglasses hide the eyes or a mask the mouth: told from the picture in the regions of the landmarks.

The landmark network draws eyes and lips where it supposes them, also behind a lens or under a cloth. There the picture
lacks what every face has: lips have edges and differ from the skin around them, whatever its colour; an eye has a
bright and a dark part. A lens is even inside, in spite of a reflection, and has a sharp rim. All measures are ratios
within the face, so neither light nor skin colour matters.

The figures were chosen by looking at 1,613 student-labelled faces and at 1,600 with sunglasses, masks and ordinary
glasses painted on 160 of them. Of single plain pictures .3 % are taken for hidden mouths (some have a hand there) and
1.0 % for sunglasses (a third of them do wear some; 1.9 % of the darkest fifth when those are left out). Painted masks
of one colour are found in 99 %, patterned ones in 6 of 10; black, brown, graded and mirroring glasses in .94, .96, .90
and .82; ordinary glasses are taken for dark ones in 2 %. What is no mask by its colour is called something.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.perception.face.crop import SIDE
from emavatar_ros.perception.face.landmarks import LEFT_EYE, RIGHT_EYE, Pixels, Points

SUNGLASSES: Final = 'sunglasses hide the eyes'
MASK: Final = 'a mask hides the mouth'
SOMETHING: Final = 'something hides the mouth'
"""What looks like the skin: a hand, it may be."""

_UPPER: Final = [9, 151, 108, 337, 6]
_LOWER: Final = [205, 425, 216, 436, 164, 18, 200, 199]
_CHEEKS: Final = [101, 330, 205, 425, 6, 195, 5, 50, 280]
"""Places of skin: above a mask, under it, and around the eyes but under no glasses."""
_LIPS: Final = [61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291, 409, 270, 269, 267, 0, 37, 39, 40, 185]
_EYES: Final = ([33, 246, 161, 160, 159, 158, 157, 173, 133, 155, 154, 153, 145, 144, 163, 7],
                [263, 466, 388, 387, 386, 385, 384, 398, 362, 382, 381, 380, 374, 373, 390, 249])
_INNER: Final = (133, 362)

_COVERED = 0.8
_DARKENED = 1.75
_OTHER_COLOUR, _OTHER_LIGHT = 0.06, 0.25
_DIFFERS = 2.0
_ROWS, _COLUMNS = np.mgrid[:SIDE, :SIDE].astype(np.float32)

_SQUARE: Final = np.mgrid[-2:3, -2:3].reshape(2, -1)
_VOTES = 5
_LASTS = 2.0

Floats = NDArray[np.floating]


class Hidden:
    """A judgement over several looks at one person: most of the last five, of the last two seconds."""

    def __init__(self) -> None:
        self._votes: deque[tuple[float, str]] = deque(maxlen=_VOTES)

    @property
    def reason(self) -> str:
        """What hides the face, '' when nothing does."""
        if not self._votes:
            return ''
        counts = Counter(found for _, found in self._votes)
        hiding = sum(count for found, count in counts.items() if found)
        if 2 * hiding <= len(self._votes):
            return ''
        del counts['']
        return counts.most_common(1)[0][0]

    def update(self, found: str, stamp: float) -> None:
        """Take in what `hidden` found at `stamp` (s)."""
        while self._votes and not 0 <= stamp - self._votes[0][0] <= _LASTS:
            self._votes.popleft()
        self._votes.append((stamp, found))


def hidden(face: Pixels, points: Points) -> str:
    """What hides this cut face, uint8 [112, 112, 3], or ''; points: its landmarks in it, from `placed`."""
    eyes = tuple(_area(points[eye], 1.15, 1.5) for eye in _EYES)
    smooth = cv2.GaussianBlur(cv2.cvtColor(face, cv2.COLOR_RGB2GRAY), (0, 0), 0.9).astype(np.float32)
    down, across = (cv2.Sobel(smooth, cv2.CV_32F, *order) / 8 for order in ((0, 1), (1, 0)))
    edges = cv2.magnitude(down, across)
    covered, colour, light = _mouth(face, points, smooth, down, edges[eyes[0] | eyes[1]])
    if covered > _COVERED:
        return MASK if colour > _OTHER_COLOUR or abs(light) > _OTHER_LIGHT else SOMETHING
    return SUNGLASSES if _lenses(face, points, smooth, edges) > _DARKENED else ''


def _mouth(face: Pixels, points: Points, smooth: Floats, down: Floats, eyes: Floats) -> tuple[float, float, float]:
    """How little of lips can be seen where they should be; how much colour and light (log) differ from the skin above.

    Lips have edges across the face, in the light of the skin and against those of the eyes, and parts of unlike light.
    """
    above, below = (np.median(_patches(face, points, places), axis=0) for places in (_UPPER, _LOWER))
    light = float(above.mean()) + 5
    lips = _area(points[_LIPS], 1.1, 1.1)
    edge = float(np.abs(down)[lips].mean()) + 0.3
    seen = (np.log(20 * edge / light) + np.log(edge / (float(eyes.mean()) + 0.3))
            + np.log(10 * (float(smooth[lips].std()) + 1) / light)) / 3
    colour = float(np.abs(_hue(above) - _hue(below)).sum())
    return float(-seen) + _DIFFERS * colour, colour, float(np.log((below.mean() + 5) / light))


def _lenses(face: Pixels, points: Points, smooth: Floats, edges: Floats) -> float:
    """How much the eyes look like two even lenses with a rim: both alike, dark down to the cheeks."""
    light = float(np.median(_patches(face, points, _CHEEKS).mean(axis=1))) + 5
    wide = float(np.linalg.norm(points[LEFT_EYE] - points[RIGHT_EYE]))
    inside, rim, middle, bottom = [], [], [], []
    for outer, inner in zip((RIGHT_EYE, LEFT_EYE), _INNER, strict=True):
        x, y = (points[outer] + points[inner]) / 2 + (0, 0.02 * wide)
        window = (slice(max(int(y - 0.3 * wide), 0), max(int(y + 0.3 * wide) + 2, 0)),
                  slice(max(int(x - 0.43 * wide), 0), max(int(x + 0.43 * wide) + 2, 0)))
        rows, columns, edge, grey = _ROWS[window], _COLUMNS[window], edges[window], smooth[window]
        off = ((columns - x) / (0.2 * wide + 1e-6)) ** 2 + ((rows - y) / (0.14 * wide + 1e-6)) ** 2
        lens, around = off < 1, (off > 1.1 ** 2) & (off < 2.1 ** 2) & (rows > y - 0.05 * wide)
        low = lens & (rows > y + 0.06 * wide)
        if not low.any() or not around.any():
            return 0.0
        # A median: a reflection is small.
        inside.append(np.median(edge[lens]))
        rim.append(np.percentile(edge[around], 90))
        middle.append(np.log((np.median(grey[lens]) + 5) / light))
        bottom.append(np.log((np.median(grey[low]) + 5) / light))
    even = np.log(20 * (np.mean(inside) + 0.3) / light)
    rims = np.log(20 * (np.mean(rim) + 0.3) / light)
    return float(rims - 1.7 * even - 0.5 * max(bottom) - 0.5 * abs(middle[0] - middle[1]))


def _patches(face: Pixels, points: Points, places: list[int]) -> Floats:
    """Median colours of small squares around landmarks, [n, 3]."""
    at = np.clip(np.round(points[places]).astype(int), 2, SIDE - 3)
    rows, columns = at[:, 1, None] + _SQUARE[0], at[:, 0, None] + _SQUARE[1]
    return np.asarray(np.median(face[rows, columns], axis=1))


def _hue(colour: Floats) -> Floats:
    return np.asarray(colour / (colour.sum() + 15))


def _area(outline: Points, grow: float, taller: float) -> NDArray[np.bool_]:
    """The pixels within landmarks [n, 2], drawn larger from their middle; never empty."""
    centre = outline.mean(axis=0)
    area = np.zeros((SIDE, SIDE), np.uint8)
    corners = np.clip(np.round(centre + (outline - centre) * (grow, taller)), 0, SIDE - 1)
    cv2.fillPoly(area, [corners.astype(np.int32)], 1)
    return area > 0
