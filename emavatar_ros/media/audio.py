"""Sound as a value: float32 samples in [-1, 1] with their rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import soxr
from numpy.typing import NDArray

from emavatar_ros.errors import BadInput

Samples = NDArray[np.float32]

CANCELLED: Final = 0.06
"""Share of the loudest channel's power below which a mean has lost it: a voice on one of four channels is just left."""


@dataclass(frozen=True)
class Audio:
    """samples: float32, [n] mono or [n, channels], nominally in [-1, 1]; rate: Hz."""

    samples: Samples
    rate: int

    def __post_init__(self) -> None:
        if self.rate <= 0 or self.samples.ndim not in (1, 2):
            raise BadInput(f'sound needs a rate above 0 and one or two axes, not {self.rate} Hz {self.samples.shape}')

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.rate

    def mono(self, rate: int | None = None) -> Audio:
        """Mean of the channels, resampled to `rate` where given. The loudest channel alone where the mean would lose
        most of it: channels that cancel each other out, or a voice on one of many."""
        samples = self.samples
        if samples.ndim == 2:
            samples = samples.mean(axis=1, dtype=np.float32)
            power = np.square(self.samples, dtype=np.float64).sum(axis=0)
            if len(power) > 1 and np.square(samples, dtype=np.float64).sum() < CANCELLED * power.max():
                samples = np.ascontiguousarray(self.samples[:, power.argmax()])
        if rate is not None and rate != self.rate:
            samples = np.asarray(soxr.resample(samples, self.rate, rate), dtype=np.float32)
        return Audio(samples, rate or self.rate)


class Resampler:
    """Mono stream from one rate to another, chunk by chunk; keeps the filter's state: chunks join without a click."""

    def __init__(self, source: int, target: int) -> None:
        self._stream = None if source == target else soxr.ResampleStream(source, target, 1, dtype='float32')

    def __call__(self, samples: Samples, last: bool = False) -> Samples:
        """Samples of the stream at the target rate; may be fewer than expected at first (the filter's delay)."""
        if self._stream is None:
            return samples
        return np.asarray(self._stream.resample_chunk(samples, last=last), dtype=np.float32)
