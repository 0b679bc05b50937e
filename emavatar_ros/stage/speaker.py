"""What every speaker must be able to do, and which there are.

A speaker plays stretches of sound one after the other and knows what is really heard: its position counts the
seconds of sound that have reached the air, the device's delay taken into account, silence not counted. `t` is the
caller's clock in seconds, the same one for all calls; it only moves forward, except that `position` and `when` may
be asked about any time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from emavatar_ros.media.audio import Audio
from emavatar_ros.settings import setting
from emavatar_ros.stage.clock import Stretch

NONE: Final = 'none'
"""Name of the speaker that is no device."""


@dataclass(frozen=True)
class Config:
    """How the avatar's voice comes out."""

    latency: float = setting(0.1, 'sound the device holds ready: less is quicker, more stutters less', unit='s',
                             low=0.01, high=1.0)
    rate: int = setting(24_000, 'sample rate of the virtual speaker; a device runs at its own', unit='Hz',
                        low=8_000, high=192_000)
    volume: float = setting(1.0, 'loudness of the voice', low=0.0, high=1.0)


class Speaker(Protocol):
    """A place where sound comes out. Any thread may call it."""

    @property
    def name(self) -> str:
        """The device in use; says so when it is away or when there is none."""

    @property
    def rate(self) -> int:
        """Sample rate it runs at, Hz."""

    @property
    def underruns(self) -> int:
        """How often the device ran dry although it had been given sound, since the speaker was made."""

    def open(self, t: float) -> None:
        """Take the device. Raises Missing when there is none of that name, Unavailable when it refuses; the speaker can
        be used all the same: it is silent, lets time pass, and takes the device up when it comes."""

    def close(self) -> None:
        """Give the device back. Closing twice is allowed."""

    def play(self, audio: Audio, t: float) -> tuple[float, float]:
        """Append mono sound of any rate; gives its start and end on the line, s."""

    def stop(self, t: float) -> float:
        """Fall silent within 50 ms and drop what was not heard; gives the place on the line, s."""

    def position(self, t: float) -> float:
        """Seconds of the line heard by `t`; for a `t` ahead: if nothing else is played or stopped until then."""

    def when(self, place: float, t: float) -> float:
        """The moment `place` (s on the line) is or will be heard, as foreseen at `t`."""

    def played(self, t: float) -> list[Stretch]:
        """What was heard up to `t` and not handed out before, for a recording; empty unless made with `keep`."""


def create(config: Config, device: str, clock: Callable[[], float], keep: bool = False) -> Speaker:
    """The speaker `device` names: a device's name or a part of it, '' for the system's, `none` for none.

    clock: the caller's clock, s. keep: remember what was played, for a recording.
    """
    if device == NONE:
        from emavatar_ros.stage.speaker_virtual import VirtualSpeaker
        return VirtualSpeaker(config, keep)
    from emavatar_ros.stage.speaker_device import DeviceSpeaker
    return DeviceSpeaker(config, device, clock, keep)
