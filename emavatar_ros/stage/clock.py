"""The playout clock: which sample of a line of sound is heard when.

A line is everything a speaker was given, counted in seconds from its opening; silence between stretches does not
count. Each stretch is noted with the moment its first sample is heard. A device learns that moment from its driver a
little ahead of time, so the clock knows the near future too and the face can be drawn for it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

from emavatar_ros.media.audio import Samples

KEPT: Final = 2.0
"""Seconds that heard stretches stay known, so that a question about the recent past has an answer."""


@dataclass(frozen=True)
class Stretch:
    """Sound heard without a gap. first: place on the line in s; when: the moment it is heard in s; seconds: length;
    samples: float32 [n] mono when the clock keeps them."""

    first: float
    when: float
    seconds: float
    samples: Samples | None = None

    @property
    def end(self) -> float:
        """Place on the line where it ends, s."""
        return self.first + self.seconds

    @property
    def until(self) -> float:
        """The moment its last sample was heard, s."""
        return self.when + self.seconds


class Clock:
    """Which part of the line is heard when. Not thread-safe; times are seconds on one clock of the caller's."""

    def __init__(self, rate: int, keep: bool = False) -> None:
        self.rate = rate
        self.keep = keep
        self.end = 0.0
        """Place on the line up to which sound is scheduled, s."""
        self._stretches: deque[Stretch] = deque()
        self._played: deque[Stretch] = deque()

    @property
    def until(self) -> float:
        """The moment after which nothing scheduled is left to hear, s; minus infinity when nothing ever was."""
        return self._stretches[-1].until if self._stretches else -float('inf')

    def add(self, samples: Samples, when: float, t: float) -> None:
        """Note at `t` that `samples` (mono at the line's rate) are heard from `when` on, after all noted before."""
        seconds = len(samples) / self.rate
        stretch = Stretch(self.end, when, seconds, samples if self.keep else None)
        self.end += seconds
        self._stretches.append(stretch)
        if self.keep:
            self._played.append(stretch)
        while len(self._stretches) > 1 and self._stretches[0].until < t - KEPT:
            self._stretches.popleft()

    def cut(self, t: float) -> float:
        """Forget what would be heard after `t`; gives the place on the line where the sound ended, s."""
        place = self.position(t)
        for queue in (self._stretches, self._played):
            while queue and queue[-1].when >= t:
                queue.pop()
            if queue and queue[-1].until > t:
                last = queue.pop()
                seconds = t - last.when
                samples = None if last.samples is None else last.samples[:round(seconds * self.rate)]
                queue.append(Stretch(last.first, last.when, seconds, samples))
        self.end = place
        return place

    def position(self, t: float) -> float:
        """Seconds of the line heard by `t`."""
        for stretch in reversed(self._stretches):
            if t >= stretch.when:
                return stretch.first + min(stretch.seconds, t - stretch.when)
        return self._stretches[0].first if self._stretches else self.end

    def when(self, place: float) -> float | None:
        """The moment the sample at `place` (s on the line) is or was heard; None when that isn't known."""
        for stretch in reversed(self._stretches):
            if place >= stretch.first:
                return stretch.when + place - stretch.first if place < stretch.end else None
        return None

    def played(self, t: float) -> list[Stretch]:
        """What was heard up to `t` and not handed out before; with `keep` only."""
        out = []
        while self._played and self._played[0].when < t:
            stretch = self._played.popleft()
            assert stretch.samples is not None
            n = max(round((t - stretch.when) * self.rate), 0)
            if n < len(stretch.samples):
                rest = n / self.rate
                self._played.appendleft(Stretch(stretch.first + rest, stretch.when + rest, stretch.seconds - rest,
                                                stretch.samples[n:]))
                stretch = Stretch(stretch.first, stretch.when, rest, stretch.samples[:n])
            if stretch.seconds:
                out.append(stretch)
            if self._played and self._played[0].when >= t - 1 / self.rate:
                break
        return out


def silence(seconds: float, rate: int) -> Samples:
    """Nothing to hear, float32 [n]."""
    return np.zeros(round(seconds * rate), dtype=np.float32)
