"""The ends of a clause and its level: silence trimmed, a pause by its last mark, no click where pieces join."""

from __future__ import annotations

from typing import Final

import numpy as np

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.media.audio import Samples

PAUSES: Final = {'.': 0.32, '!': 0.32, '?': 0.34, '…': 0.4, ';': 0.22, ':': 0.22, ',': 0.14, '—': 0.2}
"""Silence behind a clause by the mark it ends with, s."""


def audible(samples: Samples, rate: int, floor: float = 0.012) -> tuple[int, int]:
    """First and last sample of what is heard: from 25 ms before the sound passes `floor` of its peak to 50 ms after."""
    size = rate // 200
    blocks = np.abs(samples[:len(samples) // size * size]).reshape(-1, size).max(axis=1, initial=0)
    loud = np.flatnonzero(blocks > floor * max(float(blocks.max(initial=0)), 1e-4))
    if not len(loud):
        return 0, len(samples)
    return max(0, int((loud[0] - 5) * size)), min(len(samples), int((loud[-1] + 11) * size))


def faded(samples: Samples, rate: int) -> Samples:
    """The sound with 5 ms of fade at each end, so that it joins silence or another piece without a click."""
    count = min(rate // 200, len(samples) // 2)
    out: Samples = samples.copy()
    if count:
        ramp = np.linspace(0, 1, count, dtype=np.float32)
        out[:count] *= ramp
        out[-count:] *= ramp[::-1]
    return out


def levelled(samples: Samples, gain: float) -> Samples:
    """The sound `gain` dB louder; what would pass 0.8 of full scale is bent, not clipped."""
    out = samples * np.float32(10 ** (gain / 20))
    over = np.abs(out) - 0.8
    bent = np.sign(out) * (0.8 + 0.19 * np.tanh(np.maximum(over, 0) / 0.19))
    levelled: Samples = np.where(over > 0, bent, out).astype(np.float32)
    return levelled


def finished(samples: Samples, rate: int, mark: str, delivery: Delivery) -> Samples:
    """A trimmed clause as it is played: faded at its ends, the pause that its last mark asks for behind it, at the
    delivery's level."""
    pause = PAUSES.get(mark, 0.02) * delivery.pause
    silence = np.zeros(int(pause * rate), dtype=np.float32)
    return levelled(np.concatenate([faded(samples, rate), silence]), delivery.gain)
