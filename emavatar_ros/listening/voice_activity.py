"""Is somebody speaking? What every voice activity detector must do; `silero.py` is the default one."""

from __future__ import annotations

from typing import Final, Protocol

from emavatar_ros.media.audio import Samples

RATE: Final = 16_000
"""Hz: the rate of all listening."""
WINDOW: Final = 512
"""Samples in a window: 32 ms."""


class VoiceActivity(Protocol):
    """Tells speech from anything else, window by window. One object per stream, one thread at a time."""

    name: str

    def __call__(self, window: Samples) -> float:
        """Probability in [0, 1] that the next WINDOW mono samples at RATE, float32 [512], are speech."""
        ...

    def reset(self) -> None:
        """Forget what came before: the next window belongs to another stream."""
        ...
