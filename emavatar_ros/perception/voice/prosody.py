"""How something was said: loudness, melody, timbre and timing, measured with nothing but numpy.

A second of sound takes about 3 ms of processor time. The pitch tracker is a plain autocorrelation: good
enough for means and spreads over an utterance, not for single moments.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.media.audio import Samples

RATE: Final = 16_000
HOP: Final = 160
"""Samples between measurements: 10 ms."""
WINDOW: Final = 400
PITCH_WINDOW: Final = 1040
LOWEST, HIGHEST = 70, 450
"""Pitch looked for, in Hz."""
VOICED: Final = 0.4
"""Autocorrelation from which a moment is voiced."""
SPEECH_BELOW_PEAK: Final = 30.0
"""A moment is speech when it is at most so many dB below the loudest."""

NAMES: Final = (
    'level',            # dB re full scale, mean over speech
    'level_spread',     # dB, standard deviation
    'level_change',     # dB per 10 ms, mean absolute
    'pitch',            # semitones above 100 Hz, mean
    'pitch_spread',     # semitones, standard deviation
    'pitch_high',       # semitones above 100 Hz, 90th percentile
    'pitch_low',        # 10th percentile
    'pitch_change',     # semitones per 10 ms, mean absolute
    'brightness',       # spectral centroid, Hz, mean
    'brightness_spread',
    'edge',             # energy at 1-4 kHz over energy below 1 kHz, dB, mean
    'edge_spread',
    'speech_share',     # of the time from the first to the last moment of speech, 0 to 1
    'voiced_share',     # of the speech, 0 to 1
    'rate',             # loudness peaks (about syllables) per second of speech
    'creak_share',      # of the voiced moments, more than 7 semitones below the median pitch, 0 to 1
)


def measure(samples: Samples) -> NDArray[np.float32]:
    """The measures NAMES of mono 16 kHz sound, float32 [16]; finite for any input, silence included."""
    sound = np.asarray(samples, np.float64)
    if len(sound) < PITCH_WINDOW:
        sound = np.concatenate([sound, np.zeros(PITCH_WINDOW - len(sound))])
    blocks = np.lib.stride_tricks.sliding_window_view(sound, WINDOW)[::HOP]
    level = 10 * np.log10((blocks ** 2).mean(axis=1) + 1e-10)
    speech = level > level.max() - SPEECH_BELOW_PEAK
    moments = np.flatnonzero(speech)
    inside = slice(moments[0], moments[-1] + 1)
    pitch = _pitch(sound, len(level))
    pitch[~speech] = np.nan
    heard = pitch[np.isfinite(pitch)]
    if len(heard) < 4:
        heard = np.zeros(4)
    steps = np.abs(np.diff(pitch))
    steps = steps[np.isfinite(steps) & (steps < 4)]  # a larger step is the tracker's octave error
    power = np.abs(np.fft.rfft(blocks[speech] * np.hanning(WINDOW), 512)) ** 2 + 1e-9
    hertz = np.fft.rfftfreq(512, 1 / RATE)
    centroid = (power * hertz).sum(axis=1) / power.sum(axis=1)
    edge = 10 * np.log10(power[:, (hertz > 1000) & (hertz < 4000)].sum(axis=1) / power[:, hertz < 1000].sum(axis=1))
    spoken = level[speech]
    return np.array([
        spoken.mean(), spoken.std(), np.abs(np.diff(level[inside])).mean() if len(moments) > 1 else 0.0,
        heard.mean(), heard.std(), np.percentile(heard, 90), np.percentile(heard, 10),
        steps.mean() if len(steps) else 0.0, centroid.mean(), centroid.std(), edge.mean(), edge.std(),
        speech[inside].mean(), np.isfinite(pitch).sum() / speech.sum(), _rate(level[inside], speech.sum()),
        (heard < np.median(heard) - 7).mean()], np.float32)


def speech_seconds(samples: Samples) -> float:
    """How much of a mono 16 kHz sound is as loud as speech in it, in seconds."""
    if len(samples) < WINDOW:
        return 0.0
    blocks = np.lib.stride_tricks.sliding_window_view(np.asarray(samples, np.float64), WINDOW)[::HOP]
    level = 10 * np.log10((blocks ** 2).mean(axis=1) + 1e-10)
    return float((level > level.max() - SPEECH_BELOW_PEAK).sum() * HOP / RATE)


def _pitch(sound: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Semitones above 100 Hz every 10 ms, NaN where there is no voice."""
    half = (PITCH_WINDOW - WINDOW) // 2
    padded = np.concatenate([np.zeros(half), sound, np.zeros(PITCH_WINDOW)])
    blocks = np.lib.stride_tricks.sliding_window_view(padded, PITCH_WINDOW)[::HOP][:count]
    blocks = (blocks - blocks.mean(axis=1, keepdims=True)) * np.hanning(PITCH_WINDOW)
    correlation = np.fft.irfft(np.abs(np.fft.rfft(blocks, 2048)) ** 2)
    low, high = RATE // HIGHEST, RATE // LOWEST
    lags = low + correlation[:, low:high].argmax(axis=1)
    strength = correlation[np.arange(len(lags)), lags] / (correlation[:, 0] + 1e-12)
    return np.where(strength > VOICED, 12 * np.log2(RATE / lags / 100), np.nan)


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
