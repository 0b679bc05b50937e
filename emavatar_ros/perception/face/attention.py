"""Who is with us: how engaged somebody in the picture is, and whether their lips move as in speech.

No model in here: head, eyes, size and the distance of the lips over time. The figures are this project's, set by hand.
"""

from __future__ import annotations

from collections import deque
from enum import IntEnum
from typing import Final

import numpy as np

from emavatar_ros.perception.face.landmarks import CHIN, FOREHEAD, Points

UPPER_LIP, LOWER_LIP = 13, 14
"""Inner edges of the lips."""

_NEAR = 0.1
"""A face smaller than this share of the picture's height is of a passer-by, wherever it looks."""
_CALM = 0.8
"""Time constant of the interest, s."""
_HIGH, _LOW = 0.6, 0.35
_FIRST = 0.4
"""Nothing is said about somebody seen for less than this (s)."""
_TO_ENGAGED, _TO_DISENGAGED = 1.0, 2.0

_WINDOW = 1.0
_STILL, _MOVING = 0.10, 0.28
"""Ways to and fro of the lips, in heights of the face a second, of a quiet face at most and of a speaking one."""


class Level(IntEnum):
    """Engagement as in REP-155."""

    UNKNOWN = 0
    DISENGAGED = 1
    ENGAGING = 2
    ENGAGED = 3
    DISENGAGING = 4


class Engagement:
    """How engaged one person is: looks here, is near, and for how long."""

    def __init__(self) -> None:
        self._interest = 0.0
        self._first: float | None = None
        self._last = self._since = 0.0
        self.level = Level.UNKNOWN

    def update(self, looks_here: bool, size: float, stamp: float) -> Level:
        """Take in one look at `stamp` (s); `size`: height of the face as a share of the picture's."""
        wants = float(looks_here and size >= _NEAR)
        if self._first is None or stamp < self._last:
            self._first, self._interest = stamp, wants
        else:
            self._interest += (1 - np.exp(-(stamp - self._last) / _CALM)) * (wants - self._interest)
        self._last = stamp
        if stamp - self._first < _FIRST:
            return self.level
        high, low = self._interest > _HIGH, self._interest < _LOW
        match self.level:
            case Level.UNKNOWN:
                self._become(Level.ENGAGING if high else Level.DISENGAGED)
            case Level.DISENGAGED if high:
                self._become(Level.ENGAGING)
            case Level.ENGAGING if low:
                self._become(Level.DISENGAGED)
            case Level.ENGAGING if stamp - self._since >= _TO_ENGAGED:
                self._become(Level.ENGAGED)
            case Level.ENGAGED if low:
                self._become(Level.DISENGAGING)
            case Level.DISENGAGING if high:
                self._become(Level.ENGAGED)
            case Level.DISENGAGING if stamp - self._since >= _TO_DISENGAGED:
                self._become(Level.DISENGAGED)
        return self.level

    def _become(self, level: Level) -> None:
        self.level, self._since = level, self._last


class Lips:
    """Whether one person's lips move as in speech: to and fro, again and again."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()

    def update(self, points: Points, stamp: float) -> float:
        """Take in landmarks [478, 3] seen at `stamp` (s); returns how much the lips move, in [0, 1]: 0 as in a quiet
        face, 1 as in clear speech. One opening or closing, as of a smile, is no speech."""
        while self._seen and not 0 < stamp - self._seen[0][0] <= _WINDOW:
            self._seen.popleft()
        self._seen.append((stamp, opening(points)))
        span = stamp - self._seen[0][0]
        if len(self._seen) < 4 or span < _WINDOW / 2:
            return 0.0
        steps = np.diff([gap for _, gap in self._seen])
        to_and_fro = float(np.abs(steps).sum() - abs(steps.sum())) / span
        return float(np.clip((to_and_fro - _STILL) / (_MOVING - _STILL), 0.0, 1.0))


def opening(points: Points) -> float:
    """Distance of the lips in heights of the face."""
    height = float(np.linalg.norm(points[CHIN] - points[FOREHEAD]))
    return float(np.linalg.norm(points[LOWER_LIP] - points[UPPER_LIP])) / max(height, 1e-6)


INTEREST: Final = {Level.UNKNOWN: 1.0, Level.DISENGAGED: 0.6, Level.ENGAGING: 1.1, Level.ENGAGED: 1.3,
                   Level.DISENGAGING: 1.0}
"""How much likelier than by place alone somebody is the one talked with."""
