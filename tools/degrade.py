"""A clip as other rooms, lines and microphones hear it: what training adds so that a head doesn't learn the studio.

Everything is mono float at 16 kHz and drawn from a given generator: the same seed gives the same sound.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

import av
import numpy as np
import soxr
from scipy.signal import butter, fftconvolve, sosfilt

RATE = 16000


def loudness(samples: np.ndarray) -> float:
    """Root mean square of the louder half of a sound: of its speech, whatever silence is around it."""
    blocks = samples[:len(samples) // 320 * 320].reshape(-1, 320).astype(np.float64)
    power = np.sort((blocks ** 2).mean(axis=1))
    return float(np.sqrt(power[len(power) // 2:].mean()) + 1e-9)


def mix(samples: np.ndarray, noise: np.ndarray, decibels: float) -> np.ndarray:
    """The sound with noise so many dB below its speech."""
    return samples + noise * (loudness(samples) / (np.sqrt((noise ** 2).mean()) + 1e-9) * 10 ** (-decibels / 20))


def babble(others: Sequence[np.ndarray], length: int, chance: np.random.Generator, voices: int = 6) -> np.ndarray:
    """Several people at once, each going on without a pause."""
    out = np.zeros(length)
    for _ in range(voices):
        said = np.zeros(0)
        while len(said) < length + RATE:
            clip = others[chance.integers(len(others))]
            said = np.concatenate([said, clip / loudness(clip)])
        start = chance.integers(RATE)
        out += said[start:start + length]
    return out


def coloured(length: int, chance: np.random.Generator, tilt: float) -> np.ndarray:
    """Noise whose power falls with frequency to the power of `tilt`: 0 is white, 1 pink, 2 brown."""
    spectrum = np.fft.rfft(chance.normal(size=length))
    return np.asarray(np.fft.irfft(spectrum / np.maximum(np.arange(len(spectrum)), 4) ** (tilt / 2), length))


def room(samples: np.ndarray, chance: np.random.Generator, rt60: float) -> np.ndarray:
    """The echo of a room that falls by 60 dB in `rt60` seconds; the direct sound is 0 to 10 dB above the rest."""
    echo = chance.normal(size=int(rt60 * RATE)) * 10 ** (-3 * np.arange(int(rt60 * RATE)) / (rt60 * RATE))
    echo[:int(0.002 * RATE)] = 0
    echo *= 10 ** (-chance.uniform(0, 10) / 20) / np.sqrt((echo ** 2).sum())
    echo[0] = 1
    return np.asarray(fftconvolve(samples, echo)[:len(samples)])


def band(samples: np.ndarray, low: float, high: float) -> np.ndarray:
    """Only what lies between two frequencies, Hz."""
    return np.asarray(sosfilt(butter(4, (low, high), 'bandpass', fs=RATE, output='sos'), samples))


def narrow(samples: np.ndarray) -> np.ndarray:
    """Through 8 kHz and back."""
    back = soxr.resample(soxr.resample(samples.astype(np.float32), RATE, 8000), 8000, RATE)
    return np.asarray(np.pad(back, (0, max(0, len(samples) - len(back))))[:len(samples)])


def mu_law(samples: np.ndarray) -> np.ndarray:
    """Eight bits a sample, as on a telephone line."""
    held = np.clip(samples, -1, 1)
    code = np.round(np.sign(held) * np.log1p(255 * np.abs(held)) / np.log(256) * 127) / 127
    return np.asarray(np.sign(code) * np.expm1(np.abs(code) * np.log(256)) / 255)


def coded(samples: np.ndarray, codec: str, bits: int) -> np.ndarray:
    """Through a lossy codec (libopus, mp3) at so many bits a second."""
    memory = io.BytesIO()
    rate = 48000 if codec == 'libopus' else RATE
    sound = np.clip(soxr.resample(samples.astype(np.float32), RATE, rate), -1, 1) * 32767
    with av.open(memory, 'w', format='ogg' if codec == 'libopus' else 'mp3') as out:
        stream = out.add_stream(codec, rate=rate, layout='mono', bit_rate=bits)
        block = av.AudioFrame.from_ndarray(sound.astype(np.int16)[None], format='s16', layout='mono')
        block.sample_rate = rate
        resampler = av.AudioResampler(format=stream.format, layout='mono', rate=rate,
                                      frame_size=stream.frame_size or None)
        for part in (*resampler.resample(block), *resampler.resample(None)):
            out.mux(stream.encode(part))
        out.mux(stream.encode(None))
    memory.seek(0)
    with av.open(memory) as heard:
        decimate = av.AudioResampler(format='fltp', layout='mono', rate=RATE)
        parts = [part for piece in (*heard.decode(audio=0), None) for part in decimate.resample(piece)]
    back = np.concatenate([part.to_ndarray()[0] for part in parts])
    return np.asarray(np.pad(back, (0, max(0, len(samples) - len(back))))[:len(samples)])


def elsewhere(samples: np.ndarray, others: Sequence[np.ndarray], chance: np.random.Generator) -> np.ndarray:
    """Somewhere else: perhaps a room, people or a machine around, a narrow line, a codec, another loudness, silence
    before and after."""
    heard = np.concatenate([np.zeros(chance.integers(RATE // 2)), samples, np.zeros(chance.integers(RATE // 2))])
    if chance.random() < 0.4:
        heard = room(heard, chance, chance.uniform(0.2, 0.8))
    kind = chance.random()
    if kind < 0.45:
        heard = mix(heard, babble(others, len(heard), chance, int(chance.integers(3, 8))), chance.uniform(5, 20))
    elif kind < 0.8:
        heard = mix(heard, coloured(len(heard), chance, chance.uniform(0, 2)), chance.uniform(10, 30))
    heard = heard * 0.7 / (np.abs(heard).max() + 1e-9)
    line = chance.random()
    if line < 0.2:
        heard = narrow(heard)
    elif line < 0.4:
        heard = band(heard, chance.uniform(100, 350), chance.uniform(3000, 4000))
    codec = chance.random()
    if codec < 0.15:
        heard = mu_law(heard)
    elif codec < 0.3:
        heard = coded(heard, 'mp3', int(chance.choice([24000, 32000])))
    elif codec < 0.4:
        heard = coded(heard, 'libopus', int(chance.choice([8000, 12000, 16000])))
    return np.clip(heard * 10 ** (chance.uniform(-20, 12) / 20), -1, 1).astype(np.float32)
