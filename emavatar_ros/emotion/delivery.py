"""How a beat is to be said and shown: a few numbers every voice can realise or ignore."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Delivery:
    """Ratios to the avatar's own neutral voice.

    rate: speaking rate, 0.6 to 1.5. pitch: median F0, 0.75 to 1.35. range: spread of F0, 0.4 to 1.8.
    gain: output level in dB, -9 to +6. pause: length of pauses, 0.5 to 2.5.
    """

    rate: float = 1.0
    pitch: float = 1.0
    range: float = 1.0
    gain: float = 0.0
    pause: float = 1.0
