"""From many jumpy readings to one that holds: what is shown to others does not flicker.

Readings are averaged with a time constant; the label then changes only after another one has led for the hold time,
and becomes `unsure` when none is likely enough. Time is an argument, in seconds, and may have gaps of any length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import UNSURE
from emavatar_ros.settings import setting


@dataclass(frozen=True)
class Smoothing:
    """How calm the reading is."""

    time: float = setting(0.4, 'time constant of the average over readings', unit='s', low=0.0, high=10.0)
    hold: float = setting(0.6, 'how long another emotion must lead before it is believed', unit='s', low=0.0, high=10.0)
    floor: float = setting(0.35, 'below this probability no emotion is named: unsure', low=0.0, high=1.0)


class Smoother:
    """The running reading of one person by one view."""

    def __init__(self, config: Smoothing | None = None) -> None:
        self._config = config or Smoothing()
        self._mean: Distribution | None = None
        self._last = 0.0
        self._label = UNSURE
        self._challenger = UNSURE
        self._since = 0.0

    @property
    def distribution(self) -> Distribution | None:
        """The average of the readings, None before the first."""
        return self._mean

    @property
    def label(self) -> str:
        """The emotion that holds, or `unsure`."""
        return self._label

    def update(self, reading: Distribution, stamp: float) -> tuple[Distribution, str]:
        """Take in one reading made at `stamp` (s); returns the average and the label that holds now.

        A reading older than the last one is weighed as if it came with it.
        """
        first = self._mean is None
        gap = max(stamp - self._last, 0.0)
        if self._mean is None or not self._config.time:
            self._mean = reading
        else:
            share = 1 - math.exp(-gap / self._config.time)
            self._mean = Distribution.mix(((1 - share, self._mean), (share, reading)))
        leader = self._mean.label if self._mean.confidence >= self._config.floor else UNSURE
        # After a gap longer than the hold there is nothing left to hold on to.
        if first or gap > self._config.hold:
            self._label = self._challenger = leader
        if leader == self._label:
            self._challenger = leader
        elif leader != self._challenger:
            self._challenger, self._since = leader, stamp
        if self._challenger != self._label and stamp - self._since >= self._config.hold:
            self._label = self._challenger
        self._last = max(stamp, self._last) if not first else stamp
        return self._mean, self._label
