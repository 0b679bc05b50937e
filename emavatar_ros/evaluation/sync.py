"""How far lips and sound are apart in a recording: the sound's loudness against the mouth read back from the pictures.

Nothing of our own stamps is used: the file is opened as a player would, the mouth's opening is measured in every
picture from the landmarks of the face, the loudness of the sound is taken at the same moments, and the shift at which
the two agree best is the offset. A mouth does not follow loudness
exactly: it opens a little before a vowel is heard and closes for a nasal that is loud. So windows of several seconds
are compared. Of this project's voice against the mouth it commands, the measure itself reads 5 ms, within 5 ms.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import open_video, read_audio

RATE: Final = 200
"""Steps per second in which the two are compared."""
WINDOW: Final = 8.0
"""Seconds compared at a time: with fewer syllables a mouth that is seen eight times a second fits the wrong ones."""
HOP: Final = 1.0
SMOOTH: Final = 0.1
"""Seconds both are smoothed over: a mouth moves no faster."""
BAND: Final = (300.0, 3000.0)
"""Hz: nasals and hissing are loud with a closed mouth, and mostly outside."""
FARTHEST: Final = 0.4
"""Largest offset looked for, s."""
AGREE: Final = 0.35
"""Windows whose best correlation is below this say nothing: too little is spoken in them."""
RIVAL: Final = 0.6
"""Nor do those where another offset, PEAK away or more, agrees as well as this share of the best: syllables follow each
other so evenly that a mouth fits the next one, too."""
PEAK: Final = 0.1
"""Half width of a peak of agreement, s."""
LIPS: Final = (13, 14)
"""Landmarks of the inner upper and lower lip."""

Series = NDArray[np.float64]


def offsets(recording: Path) -> Series:
    """Offset of each window in s, positive where the picture is late; empty when nothing could be compared.

    Raises BadInput for a file that is no recording, Missing without the landmark model.
    """
    sound = loudness(read_audio(recording))
    stamps, opening = mouth(recording)
    if len(stamps) < 10:
        return np.zeros(0)
    # A picture stays until the next one: what is seen at a moment is the last picture before it.
    times = np.arange(0, min(stamps[-1], len(sound) / RATE), 1 / RATE)
    seen = _smooth(opening[np.searchsorted(stamps, times, side='right') - 1], SMOOTH)
    found = []
    for start in np.arange(0, max(times[-1] - WINDOW, 0) + 1e-9, HOP):
        rows = slice(round(start * RATE), round((start + WINDOW) * RATE))
        offset = _shift(sound[rows], seen[rows])
        if offset is not None:
            found.append(offset)
    return np.array(found)


def loudness(audio: Audio) -> Series:
    """Loudness of the sound at RATE in the band that an open mouth lets through, compressed as an ear does, and
    smoothed as slowly as a mouth moves; 0 is silence."""
    samples = audio.mono().samples.astype(np.float64)
    spectrum = np.fft.rfft(samples)
    pitch = np.fft.rfftfreq(len(samples), 1 / audio.rate)
    spectrum[(pitch < BAND[0]) | (pitch > BAND[1])] = 0
    samples = np.fft.irfft(spectrum, len(samples))
    size = audio.rate / RATE
    edges = np.round(np.arange(0, len(samples) / size + 1e-9) * size).astype(int)
    energy = np.array([np.mean(samples[a:b] ** 2) if b > a else 0.0 for a, b in pairwise(edges)])
    return _smooth(energy ** 0.25, SMOOTH)


def mouth(recording: Path) -> tuple[Series, Series]:
    """When each picture is shown (s) and how far the lips are apart in it, in heights of the face; empty without a
    face. Raises Missing without the landmark model."""
    from emavatar_ros.models.store import Store
    from emavatar_ros.perception.face.landmarks import CHIN, FOREHEAD, Landmarker, region_of

    landmarker = Landmarker(Store().path('face-landmarker') / 'face_landmarker.task')
    stamps, opening, region = [], [], None
    for image in open_video(recording, longest=960).images():
        if region is None:
            region = next(iter(landmarker.detect(image.pixels)), None)
            if region is None:
                continue
        points, _ = landmarker.landmarks(image.pixels, region)
        tall = float(np.linalg.norm(points[CHIN, :2] - points[FOREHEAD, :2]))
        stamps.append(image.stamp)
        opening.append(float(np.linalg.norm(points[LIPS[0], :2] - points[LIPS[1], :2])) / max(tall, 1.0))
        region = region_of(points)
    return np.array(stamps), np.array(opening)


def _shift(sound: Series, seen: Series) -> float | None:
    """The shift of `seen` against `sound` (s, positive: late) at which they agree best; None when they never do."""
    if sound.std() < 1e-4 or seen.std() < 1e-6:
        return None
    sound, seen = _settled(sound), _settled(seen)
    most = round(FARTHEST * RATE)
    n = len(sound)
    values = np.array([np.corrcoef(sound[max(-k, 0):n - max(k, 0)], seen[max(k, 0):n - max(-k, 0)])[0, 1]
                       for k in range(-most, most + 1)])
    best = int(values.argmax())
    if values[best] < AGREE or best in (0, len(values) - 1):
        return None
    far = np.abs(np.arange(len(values)) - best) >= PEAK * RATE
    tops = np.r_[False, (values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:]), False]
    if values[far & tops].max(initial=0.0) > RIVAL * values[best]:
        return None
    left, middle, right = values[best - 1:best + 2]
    fine = 0.5 * (left - right) / (left - 2 * middle + right - 1e-12)
    return float(best - most + fine) / RATE


def _settled(series: Series) -> Series:
    """Without its slow part, so that a smile or a louder sentence does not count."""
    return series - _smooth(series, 0.5)


def _smooth(series: Series, seconds: float) -> Series:
    size = max(round(seconds * RATE), 1)
    kernel = np.hanning(size + 2)[1:-1]
    padded = np.pad(series, (size // 2, size - 1 - size // 2), mode='edge')
    return np.convolve(padded, kernel / kernel.sum(), mode='valid')
