"""What a living face does by itself: blinks, breath, sway, restless eyes, nods. All of it a function of time.

Nothing is stored and nothing is drawn in sequence: time is cut into slots, and a hash of seed, kind and slot number
says what happens in each. So any moment can be asked for in any order, and the same seed gives the same life. What
depends on the mode (idle, listening, thinking, speaking) takes it as a function of time, asked where a slot begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

Mode = Callable[[float], str]
"""The mode at a time in seconds."""

CLOSING: Final = 0.10
OPENING: Final = 0.20
"""Seconds a lid takes to close and to open; people take about as long."""
_BLINK_SLOT: Final = 2.4
_BLINKS: Final = {'idle': 0.7, 'listening': 0.6, 'thinking': 0.75, 'speaking': 0.9}
"""Share of slots with a blink: 15 a minute while listening, 22 while speaking, as people do."""
_DOUBLE: Final = 0.12
"""Share of blinks followed by a second one at once."""
_FIXATION: Final = 0.9
_AVERSION: Final = 4.1
_AWAY: Final = {'idle': 0.4, 'listening': 0.1, 'thinking': 0.3, 'speaking': 0.3}
"""Share of aversion slots in which the eyes leave the visitor for a second or so."""
_NOD_SLOT: Final = 3.7
_BREATH: Final = 4.3
"""Seconds a breath takes, 14 a minute; it wanders by 7 percent."""


def smooth(x: float) -> float:
    """0 below 0, 1 above 1, without a corner between."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3 - 2 * x)


class Life:
    """The involuntary part of one face. seed: whose life it is."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._phases = [2 * math.pi * self._chance('phase', k) for k in range(12)]

    def blink(self, t: float, mode: Mode) -> float:
        """How far the lids are closed by blinking, 0 to 1."""
        slot = math.floor(t / _BLINK_SLOT)
        closed = 0.0
        for k in (slot - 1, slot):
            begin = (k + 0.75 * self._chance('blink', k)) * _BLINK_SLOT
            if self._chance('whether', k) < _BLINKS[mode(begin)]:
                closed = max(closed, _lid(t - begin))
                if self._chance('double', k) < _DOUBLE:
                    closed = max(closed, _lid(t - begin - CLOSING - OPENING - 0.06))
        return closed

    def breath(self, t: float) -> float:
        """Phase of the shoulders, 0 out to 1 in; breathing in takes two fifths of a breath."""
        turn = t / _BREATH + 0.1 * math.sin(2 * math.pi * t / 37 + self._phases[0]) + self._phases[1]
        turn %= 1.0
        return smooth(turn / 0.4) if turn < 0.4 else 1 - smooth((turn - 0.4) / 0.6)

    def sway(self, t: float) -> tuple[float, float, float]:
        """Small movement of the head: roll, pitch, yaw in rad, each within about 0.03."""
        def wander(k: int, size: float) -> float:
            a, b, c = self._phases[k:k + 3]
            return size * (0.5 * math.sin(t * 0.73 + a) + 0.3 * math.sin(t * 1.37 + b) + 0.2 * math.sin(t * 0.31 + c))
        return wander(2, 0.018), wander(5, 0.016), wander(8, 0.028)

    def nod(self, t: float, mode: Mode) -> float:
        """Pitch of the head by nods while listening, rad; positive is down."""
        slot = math.floor(t / _NOD_SLOT)
        total = 0.0
        for k in (slot - 1, slot):
            begin = (k + 0.6 * self._chance('nod', k)) * _NOD_SLOT
            since = t - begin
            if 0 < since < 0.95 and self._chance('nods', k) < 0.65 and mode(begin) == 'listening':
                size = 0.045 + 0.04 * self._chance('nod size', k)
                total += size * math.sin(2 * math.pi * since / 0.475) ** 2 * (1 - since / 0.95)
        return total

    def restless(self, t: float, mode: Mode) -> tuple[float, float]:
        """Where the eyes stray from what they look at: yaw, pitch in rad. Small jumps about the visitor's face all the
        time; now and then, by mode, a look away and back."""
        slot = math.floor(t / _FIXATION)
        begin = (slot + 0.5 * self._chance('fixation', slot)) * _FIXATION
        if t < begin:
            slot -= 1
            begin = (slot + 0.5 * self._chance('fixation', slot)) * _FIXATION
        part = smooth((t - begin) / 0.045)  # a saccade
        yaw, pitch = (old + (new - old) * part for old, new in zip(self._spot(slot - 1), self._spot(slot), strict=True))
        slot = math.floor(t / _AVERSION)
        begin = (slot + 0.3 * self._chance('away at', slot)) * _AVERSION
        if self._chance('away', slot) < _AWAY[mode(begin)]:
            end = begin + 0.7 + 1.3 * self._chance('away long', slot)
            out = smooth((t - begin) / 0.06) - smooth((t - end) / 0.06)
            side = -1 if self._chance('side', slot) < 0.5 else 1
            yaw += out * side * (0.12 + 0.13 * self._chance('away yaw', slot))
            pitch += out * (0.12 * self._chance('away pitch', slot) - 0.07)
        return yaw, pitch

    def _spot(self, slot: int) -> tuple[float, float]:
        return 0.022 * (self._chance('x', slot) - 0.5), 0.016 * (self._chance('y', slot) - 0.5)

    def _chance(self, kind: str, slot: int) -> float:
        """A number in [0, 1) that belongs to seed, kind and slot (splitmix64 of them)."""
        z = (slot * 0x9E3779B97F4A7C15 + self._seed * 0xD1B54A32D192ED03
             + int.from_bytes(kind.encode()[-8:], 'little') * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return ((z ^ (z >> 31)) >> 11) / float(1 << 53)


def _lid(since: float) -> float:
    """How far a lid is closed `since` seconds after a blink began."""
    return smooth(since / CLOSING) if since < CLOSING else 1 - smooth((since - CLOSING - 0.02) / OPENING)
