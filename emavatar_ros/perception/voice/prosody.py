"""How something was said: loudness, melody, timbre and timing, measured with nothing but numpy.

A second of sound takes about 1 ms of processor time. Nothing but `level` depends on how loud the recording is, and
nothing on the silence around what was said. The pitch tracker is a plain autocorrelation: good enough for means and
spreads over an utterance, not for single moments.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.media.audio import Samples

RATE: Final = 16_000
HOP: Final = 160
"""Samples between measurements of the level: 10 ms. The pitch is measured at every second one."""
WINDOW: Final = 400
PITCH_WINDOW: Final = 520
"""Samples at half the rate: 65 ms."""
LOWEST, HIGHEST = 70, 450
"""Pitch looked for, in Hz."""
VOICED: Final = 0.4
"""Autocorrelation from which a moment is voiced."""
SPEECH_BELOW_LOUD: Final = 25.0
"""A moment is speech when it is at most so many dB below the loud ones."""
SILENCE: Final = 1e-10
"""Power of what is no sound at all: -100 dB."""
CLIPPED: Final = 0.985
"""Full scale, nearly: where several samples in a row lie beyond it the sound was cut off."""

NAMES: Final = (
    'level',            # dB re full scale, mean over speech
    'level_spread',     # dB, standard deviation
    'level_change',     # dB per 10 ms, mean absolute
    'pitch',            # semitones above 100 Hz, mean
    'pitch_spread',     # semitones, standard deviation
    'pitch_high',       # semitones above 100 Hz, 90th percentile
    'pitch_low',        # 10th percentile
    'pitch_change',     # semitones per 20 ms, mean absolute
    'brightness',       # spectral centroid, Hz, mean
    'brightness_spread',
    'edge',             # energy at 1-4 kHz over energy below 1 kHz, dB, mean
    'edge_spread',
    'speech_share',     # of the time from the first to the last moment of speech, 0 to 1
    'voiced_share',     # of the speech, 0 to 1
    'harmony',          # autocorrelation at the pitch's period, mean over voiced moments, 0 to 1
    'rate',             # loudness peaks (about syllables) per second of speech
    'creak_share',      # of the voiced moments, more than 7 semitones below the median pitch, 0 to 1
)


def measure(samples: Samples) -> NDArray[np.float32]:
    """The measures NAMES of mono 16 kHz sound, float32 [17]; finite for any input, silence included."""
    sound = np.asarray(samples, np.float64)
    if len(sound) < 2 * PITCH_WINDOW:
        sound = np.concatenate([sound, np.zeros(2 * PITCH_WINDOW - len(sound))])
    level = levels(sound)
    loudest = loud(level)
    speech = level > loudest - SPEECH_BELOW_LOUD
    moments = np.flatnonzero(speech)
    inside = slice(moments[0], moments[-1] + 1)
    even = sound * 10 ** (-max(loudest, -90.0) / 20)
    pitch, strength = _pitch(even, len(level))
    pitch[~speech[::2]] = np.nan
    voiced = np.isfinite(pitch)
    heard = pitch[voiced] if voiced.sum() >= 3 else np.zeros(3)
    steps = np.abs(np.diff(pitch))
    steps = steps[np.isfinite(steps) & (steps < 6)]  # a larger step is the tracker's octave error
    blocks = np.lib.stride_tricks.sliding_window_view(even, WINDOW)[::HOP][:len(level)][speech]
    power = np.abs(np.fft.rfft(blocks * np.hanning(WINDOW), 512)) ** 2 + 1e-7
    hertz = np.fft.rfftfreq(512, 1 / RATE)
    centroid = (power @ hertz) / power.sum(axis=1)
    edge = 10 * np.log10(power[:, (hertz > 1000) & (hertz < 4000)].sum(axis=1) / power[:, hertz < 1000].sum(axis=1))
    spoken = level[speech]
    return np.array([
        spoken.mean(), spoken.std(), np.abs(np.diff(level[inside])).mean() if len(moments) > 1 else 0.0,
        heard.mean(), heard.std(), np.percentile(heard, 90), np.percentile(heard, 10),
        steps.mean() if len(steps) else 0.0, centroid.mean(), centroid.std(), edge.mean(), edge.std(),
        speech[inside].mean(), voiced.sum() / max(speech[::2].sum(), 1),
        strength[voiced].mean() if voiced.any() else 0.0, _rate(level[inside], speech.sum()),
        (heard < np.median(heard) - 7).mean()], np.float32)


def levels(sound: NDArray[np.floating]) -> NDArray[np.float64]:
    """Level of the 25 ms from every tenth millisecond, dB re full scale; empty for less than one."""
    parts = np.square(sound[:len(sound) // (HOP // 2) * (HOP // 2)], dtype=np.float64).reshape(-1, HOP // 2).sum(axis=1)
    if len(parts) < WINDOW * 2 // HOP:
        return np.zeros(0)
    power = np.convolve(parts, np.ones(WINDOW * 2 // HOP), 'valid')[::2]
    return np.asarray(10 * np.log10(power / WINDOW + SILENCE))


def loud(level: NDArray[np.float64]) -> float:
    """Of some levels, that of the loud parts; silence around them changes nothing, a click hardly anything."""
    return float(np.percentile(level[level > level.max() - 40], 90))


def speech_seconds(samples: Samples) -> float:
    """How much of a mono 16 kHz sound is as loud as speech in it, in seconds."""
    level = levels(samples)
    return float((level > loud(level) - SPEECH_BELOW_LOUD).sum() * HOP / RATE) if len(level) else 0.0


def clipped_share(samples: Samples) -> float:
    """Share of the 25 ms pieces of a sound in which it was cut off at full scale, 0 to 1."""
    high = np.abs(samples) >= CLIPPED
    run = high[2:] & high[1:-1] & high[:-2]
    count = len(run) // WINDOW
    return float(run[:count * WINDOW].reshape(count, WINDOW).any(axis=1).mean()) if count else 0.0


def _pitch(sound: NDArray[np.float64], count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every 20 ms of `count` levels: semitones above 100 Hz, NaN where there is no voice; and how periodic it is."""
    half = sound[:len(sound) // 2 * 2].reshape(-1, 2).mean(axis=1)
    before = (PITCH_WINDOW - WINDOW // 2) // 2
    padded = np.concatenate([np.zeros(before), half, np.zeros(PITCH_WINDOW)])
    blocks = np.lib.stride_tricks.sliding_window_view(padded, PITCH_WINDOW)[::HOP][:(count + 1) // 2]
    blocks = (blocks - blocks.mean(axis=1, keepdims=True)) * np.hanning(PITCH_WINDOW)
    low, high = RATE // 2 // HIGHEST, RATE // 2 // LOWEST
    spectrum = np.fft.rfft(blocks, 640)  # just long enough: nothing wraps round before the longest period
    correlation = np.fft.irfft(spectrum.real ** 2 + spectrum.imag ** 2)
    lags = low + correlation[:, low:high].argmax(axis=1)
    rows = np.arange(len(lags))
    before_it, at, after = (correlation[rows, lags + shift] for shift in (-1, 0, 1))
    curve = before_it - 2 * at + after  # a parabola through three points: finer than a sample
    shift = np.where(np.abs(curve) > 1e-12, 0.5 * (before_it - after) / np.where(curve == 0, 1, curve), 0.0)
    strength = at / (correlation[:, 0] + 1e-9)
    semitones = 12 * np.log2(RATE / 2 / (lags + np.clip(shift, -0.5, 0.5)) / 100)
    return np.where(strength > VOICED, semitones, np.nan), strength


def _rate(level: NDArray[np.float64], speech: int) -> float:
    """Peaks of the smoothed loudness that stand out by 2 dB, per second of speech."""
    if len(level) < 12:
        return 0.0
    smooth = np.convolve(level, np.hanning(11) / np.hanning(11).sum(), 'same')
    peaks, valley, top = 0, smooth[0], smooth[0]
    for value in smooth:
        top = max(top, value)
        if value < top - 2:  # went down by 2 dB: what went up by 2 dB before was a peak
            peaks += top - valley >= 2
            valley = top = value
        elif value < valley:
            valley = top = value
    return float((peaks + (top - valley >= 2)) / max(speech * HOP / RATE, 0.1))
