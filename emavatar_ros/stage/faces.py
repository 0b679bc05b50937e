"""The face states that are to be seen soon, and the one for a moment between two of them.

The face runs ahead of the playout by about a tenth of a second, so that a state is there when its picture is drawn.
A newer word about a moment replaces the older one and all behind it: that is how an interruption reaches the mouth.
When no states come any more (the face's process is gone), the stage's own calm face takes over: it breathes and
blinks, with the mouth closed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

import numpy as np

from emavatar_ros.face.animator import Animator
from emavatar_ros.face.units import FaceState

KEPT: Final = 200
"""States held at most: more than three seconds at 60 a second."""
GONE: Final = 0.5
"""A newest state older than this, s: nobody is steering the face any more."""
FADE: Final = 0.4
"""Seconds the change to the calm face takes."""


def between(first: FaceState, second: FaceState, share: float) -> FaceState:
    """The state `share` (0 to 1) of the way from the first to the second."""
    def mix(a: float, b: float) -> float:
        return a + (b - a) * share

    return FaceState((first.units + (second.units - first.units) * np.float32(share)).astype(np.float32),
                     (mix(first.head[0], second.head[0]), mix(first.head[1], second.head[1]),
                      mix(first.head[2], second.head[2])),
                     (mix(first.gaze[0], second.gaze[0]), mix(first.gaze[1], second.gaze[1])),
                     mix(first.breath, second.breath))


class Faces:
    """A short stretch of the face's future. Times are seconds on the playout clock; one thread at a time."""

    def __init__(self, seed: int = 0) -> None:
        self._calm = Animator(seed)
        self._stamps: list[float] = []
        self._states: list[FaceState] = []

    def add(self, stamp: float, state: FaceState) -> None:
        """Take the state for a moment; what was known for it and later is replaced."""
        place = bisect_left(self._stamps, stamp)
        del self._stamps[place:], self._states[place:]
        self._stamps.append(stamp)
        self._states.append(state)
        del self._stamps[:-KEPT], self._states[:-KEPT]

    def cut(self, t: float) -> None:
        """What was foreseen for later than `t` no longer holds."""
        place = max(bisect_right(self._stamps, t), 1)
        del self._stamps[place:], self._states[place:]

    def at(self, t: float) -> FaceState:
        """The face to show at `t`."""
        if not self._stamps:
            return self._calm.at(t)
        place = bisect_left(self._stamps, t)
        if place == 0:
            return self._states[0] if self._stamps[0] - t < GONE else self._calm.at(t)
        last = self._stamps[place - 1]
        if place == len(self._stamps):
            late = (t - last - GONE) / FADE
            return self._states[-1] if late <= 0 else between(self._states[-1], self._calm.at(t), min(late, 1.0))
        gap = self._stamps[place] - last
        return between(self._states[place - 1], self._states[place], (t - last) / gap)
