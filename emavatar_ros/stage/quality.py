"""How finely and how often the face is drawn: the best this machine holds at the moment.

A ladder of sizes; the time that pictures really take to draw decides about a step down (soon) or up (after a calm
while, and more rarely when the last step up did not hold). How often depends on what the avatar does: without a
GPU the drawing shares the cores with the recogniser, the language model and the voice, so it may take a share of one
core that is smallest while they work: a visitor's wait costs more than a still face. Times are arguments, in seconds.
"""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass
from typing import Final

from emavatar_ros.settings import setting

SOFTWARE: Final = ('llvmpipe', 'softpipe', 'swrast', 'swiftshader', 'software')
HEIGHTS: Final = (2160, 1440, 1080, 720, 540, 360)
DOWN: Final = 0.8
"""Share of the time between two pictures that drawing may take; above it, a step down."""
UP: Final = 0.5
"""Share that drawing one step higher is expected to take at most, for a step up."""
SEEN: Final = 12
"""Pictures whose median time decides."""
LEAST: Final = 6.0
"""Pictures per second that are drawn whatever they cost: fewer look frozen."""
CALM: Final = 6.0
"""Seconds without trouble before a step up; doubled, up to a few minutes, each time it did not hold."""


@dataclass(frozen=True)
class QualityConfig:
    """How the face is drawn, and how that adapts."""

    rate: float = setting(30.0, 'pictures per second', unit='1/s', low=1.0, high=240.0)
    thinking_rate: float = setting(8.0, 'pictures per second while a reply is thought out, without a GPU', unit='1/s',
                                   low=1.0, high=240.0)
    listening_rate: float = setting(20.0, 'pictures per second while a visitor speaks, without a GPU', unit='1/s',
                                    low=1.0, high=240.0)
    idle_share: float = setting(0.5, 'share of one core that drawing may take while nothing happens, without a GPU',
                                low=0.05, high=1.0)
    listening_share: float = setting(0.25, 'the same while a visitor speaks', low=0.05, high=1.0)
    thinking_share: float = setting(0.12, 'the same while a reply is thought out', low=0.05, high=1.0)
    speaking_share: float = setting(0.7, 'the same while the avatar speaks', low=0.05, high=1.0)
    nice: int = setting(10, 'how far drawing steps back when the processor is short', low=0, high=19)
    samples: int = setting(4, 'samples a pixel for smooth edges at the highest quality', low=0, high=16)
    adapt: bool = setting(True, 'draw smaller when the machine cannot keep up, finer again when it can')
    threads: int = setting(1, 'threads that Mesa draws with when there is no GPU', low=0, high=32)


@dataclass(frozen=True)
class Level:
    """One rung: height in px (the width follows from the screen's shape), samples a pixel, and the share of the wanted
    pictures per second that is drawn."""

    height: int
    samples: int
    pace: float = 1.0

    @property
    def cost(self) -> float:
        """Expected effort relative to other levels: a share for the head itself, pixels, what their samples add."""
        return (150_000 + self.height ** 2) * (1 + 0.5 * self.samples) * self.pace


def is_software(renderer: str) -> bool:
    """Whether this renderer, as OpenGL names it, draws on the processor."""
    return any(name in renderer.casefold() for name in SOFTWARE)


def ladder(height: int, samples: int) -> tuple[Level, ...]:
    """Levels for a screen of `height` px, the finest first: smooth, plain, fewer pictures, then smaller ones."""
    levels = [Level(height, samples), Level(height, 0), Level(height, 0, 2 / 3)]
    levels += [Level(h, 0, 2 / 3) for h in HEIGHTS if h < height]
    return (*dict.fromkeys(levels), Level(levels[-1].height, 0, 0.5))


class Quality:
    """Chooses level and rate. height: px of the screen or picture; renderer: its name, which tells whether there is a
    GPU."""

    def __init__(self, config: QualityConfig, height: int, renderer: str) -> None:
        self._config = config
        self.software = is_software(renderer)
        self._levels = ladder(height, config.samples)
        # A processor takes several times as long for smooth edges: it begins with plain ones.
        self._place = 1 if self.software and config.samples and config.adapt else 0
        self._times: deque[float] = deque(maxlen=SEEN)
        self._since = 0.0  # when the level was taken, or the last trouble on it
        self._wait = CALM
        self._went_up = False
        self.changes = 0
        """How often the level changed."""

    @property
    def level(self) -> Level:
        """What to draw now."""
        return self._levels[self._place]

    def rate(self, activity: str) -> float:
        """Pictures per second for what the avatar does: idle, listening, thinking or speaking."""
        most = self._config.rate * self.level.pace
        if not self.software:
            return most
        most = min(most, {'thinking': self._config.thinking_rate,
                          'listening': self._config.listening_rate}.get(activity, most))
        if not self._config.adapt or not self._times:
            return most
        share = getattr(self._config, f'{activity}_share')
        return float(min(most, max(LEAST, share / statistics.median(self._times))))

    def drawn(self, seconds: float, t: float) -> bool:
        """A picture took `seconds` to draw, until `t`; True when the level changed. Judged by the rate of a speaking
        face: what fits while it thinks need not fit then."""
        self._times.append(seconds)
        if not self._config.adapt or len(self._times) < SEEN:
            return False
        takes = statistics.median(self._times)
        share = min(DOWN, self._config.speaking_share) if self.software else DOWN
        if takes * self._config.rate * self.level.pace > share:
            if self._place + 1 < len(self._levels):
                # A step up that did not hold is tried again later and later.
                self._wait = min(self._wait * 2, 300.0) if self._went_up else self._wait
                return self._move(self._place + 1, False, t)
            self._since = t
        elif self._place and t - self._since > self._wait:
            above = self._levels[self._place - 1]
            if takes * self._config.rate * self.level.pace * above.cost / self.level.cost < UP:
                return self._move(self._place - 1, True, t)
        return False

    def _move(self, place: int, up: bool, t: float) -> bool:
        self._place, self._went_up, self._since = place, up, t
        self._times.clear()
        self.changes += 1
        return True
