"""Cut-off peaks are rounded, everything else is left alone."""

from __future__ import annotations

import numpy as np

from emavatar_ros.media.declip import HIGHEST, declip


def voice(seconds: float = 0.5) -> np.ndarray:
    t = np.arange(round(16000 * seconds)) / 16000
    parts = [size * np.sin(2 * np.pi * hertz * t + hertz) for size, hertz in ((0.5, 140), (0.3, 420), (0.1, 900))]
    return np.sum(parts, axis=0).astype(np.float32)


def test_rounding_brings_a_clipped_sound_nearer_to_what_it_was() -> None:
    for gain in (2.0, 4.0):
        loud = voice() * gain
        cut = np.clip(loud, -1, 1)
        assert np.square(declip(cut) - loud).mean() < 0.5 * np.square(cut - loud).mean()
        assert np.abs(declip(cut)).max() <= HIGHEST and np.array_equal(declip(cut) > 0, cut > 0)


def test_a_clean_sound_silence_and_nothing_are_left_alone() -> None:
    for sound in (voice(), np.zeros(100, np.float32), np.zeros(0, np.float32)):
        assert declip(sound) is sound


def test_sound_that_is_cut_off_from_end_to_end_stays_finite() -> None:
    square = np.sign(voice()).astype(np.float32)
    assert np.isfinite(declip(square)).all() and np.abs(declip(square)).max() <= HIGHEST
