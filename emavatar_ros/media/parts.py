"""Sound and pictures as the files that a model behind a server takes."""

from __future__ import annotations

import io
import wave
from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from emavatar_ros.media.audio import Audio
from emavatar_ros.media.images import Pixels, fit

RATE: Final = 16000


def jpegs(pictures: Sequence[Pixels], most: int, longest: int) -> tuple[bytes, ...]:
    """At most so many of the pictures, spread evenly, at most `longest` px a side, as JPEG files."""
    chosen = np.linspace(0, len(pictures) - 1, min(len(pictures), most)).round().astype(int)
    return tuple(bytes(cv2.imencode('.jpg', cv2.cvtColor(fit(pictures[at], longest), cv2.COLOR_RGB2BGR))[1])
                 for at in chosen)


def wav(audio: Audio) -> bytes:
    """A 16 kHz mono WAV file of 16 bit; samples that are no numbers are silent."""
    samples = np.nan_to_num(audio.mono(RATE).samples)
    out = io.BytesIO()
    with wave.open(out, 'wb') as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype('<i2').tobytes())
    return out.getvalue()
