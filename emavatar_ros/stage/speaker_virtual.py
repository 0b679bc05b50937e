"""A speaker without a sound device: nothing is heard, but time passes as if it were.

For machines without sound and for recordings. It has no thread: what it was given is heard from the moment it was
given, one stretch after the other.
"""

from __future__ import annotations

import threading

from emavatar_ros.media.audio import Audio
from emavatar_ros.stage.clock import Clock, Stretch
from emavatar_ros.stage.speaker import Config


class VirtualSpeaker:
    """Plays into nothing, in the caller's time; never runs dry."""

    def __init__(self, config: Config | None = None, keep: bool = False) -> None:
        self._config = config or Config()
        self._clock = Clock(self._config.rate, keep)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """There is no device to name."""
        return 'none (virtual)'

    @property
    def rate(self) -> int:
        """Sample rate of what `played` gives, Hz."""
        return self._config.rate

    @property
    def underruns(self) -> int:
        """Always 0: there is no device that could run dry."""
        return 0

    def open(self, t: float) -> None:
        """There is nothing to take."""

    def close(self) -> None:
        """There is nothing to give back."""

    def play(self, audio: Audio, t: float) -> tuple[float, float]:
        """Append sound: heard at once, or after what is still being heard."""
        samples = audio.mono(self.rate).samples * self._config.volume
        with self._lock:
            start = self._clock.end
            if len(samples):
                self._clock.add(samples, max(t, self._clock.until), t)
            return start, self._clock.end

    def stop(self, t: float) -> float:
        """Silent at once."""
        with self._lock:
            return self._clock.cut(t)

    def position(self, t: float) -> float:
        """Seconds of the line heard by `t`."""
        with self._lock:
            return self._clock.position(t)

    def when(self, place: float, t: float) -> float:
        """The moment `place` is heard; what lies beyond the line would be heard after its end, or now."""
        with self._lock:
            known = self._clock.when(place)
            return known if known is not None else max(t, self._clock.until) + max(place - self._clock.end, 0.0)

    def played(self, t: float) -> list[Stretch]:
        """What was heard up to `t` and not handed out before."""
        with self._lock:
            return self._clock.played(t) if self._clock.keep else []
