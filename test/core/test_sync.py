"""How far lips and sound are apart: the measure finds a shift that is known, and says nothing where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from emavatar_ros.evaluation.sync import RATE, _shift, loudness
from emavatar_ros.media.audio import Audio


def syllables(seconds: float, shift: float = 0.0) -> np.ndarray:
    """How open a mouth is, at RATE: syllables of uneven length and height, `shift` s later."""
    chance = np.random.default_rng(5)
    t, opening, at = np.arange(round(seconds * RATE)) / RATE, np.zeros(round(seconds * RATE)), 0.1
    while at < seconds:
        length = chance.uniform(0.12, 0.4)
        phase = np.clip((t - at - shift) / length, 0, 1)
        opening += chance.uniform(0.4, 1.0) * np.sin(np.pi * phase) ** 2
        at += length + chance.uniform(0.0, 0.15)
    return opening


def speech(rate: int, seconds: float) -> Audio:
    """A buzz as loud as the mouth is open, with a hiss that no mouth opens for."""
    t = np.arange(round(rate * seconds)) / rate
    loud = np.interp(t, np.arange(round(seconds * RATE)) / RATE, syllables(seconds))
    hiss = 0.2 * np.sin(2 * np.pi * 6000 * t) * (np.sin(2 * np.pi * 0.7 * t) > 0.8)
    return Audio((0.3 * loud * np.sign(np.sin(2 * np.pi * 140 * t)) + hiss).astype(np.float32), rate)


@pytest.mark.parametrize('rate', [16000, 22050, 48000])
@pytest.mark.parametrize('shift', [-0.12, 0.0, 0.045, 0.2])
def test_a_known_shift_is_found(rate: int, shift: float) -> None:
    sound = loudness(speech(rate, 4.0))
    seen = syllables(4.0, shift)
    n = min(len(sound), len(seen))
    assert _shift(sound[:n], seen[:n]) == pytest.approx(shift, abs=0.015)


def test_nothing_is_said_of_silence_or_of_a_still_mouth() -> None:
    sound = loudness(speech(16000, 4.0))
    assert _shift(sound, np.zeros(len(sound))) is None
    assert _shift(np.zeros(len(sound)), syllables(4.0)[:len(sound)]) is None
