"""What a recogniser makes of a sound, and what every recogniser must do; `whisper.py` is the default one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.media.audio import Audio

PIECE: Final = 28.0
"""Longest piece of a sound recognised at once, in seconds."""


@dataclass(frozen=True)
class Transcription:
    """What a recogniser made of a sound. text: '' when there were no words. language: ISO 639-1, '' when unknown.

    confidence in [0, 1]. embedding: the encoder's states over the speech part, mean then deviation, float32 [1024]
    for Whisper base; None when the recogniser has none or there were no states. reason: why the text is empty.
    """

    text: str
    language: str
    confidence: float
    embedding: NDArray[np.float32] | None = field(default=None, compare=False)
    reason: str = ''


class Recogniser(Protocol):
    """Turns sound into words. `name` is the model's."""

    name: str

    def warm_up(self) -> None:
        """Run once, so that the first visitor doesn't wait."""
        ...

    def transcribe(self, audio: Audio, language: str | None = None, expected: str | None = None) -> Transcription:
        """The words in mono 16 kHz sound; language is believed, expected is kept unless another is heard clearly."""
        ...


def join(parts: list[tuple[int, Transcription]]) -> Transcription:
    """One transcription of pieces that follow each other; weights: their lengths."""
    if len(parts) == 1:
        return parts[0][1]
    said = [(n, part) for n, part in parts if part.text] or parts[:1]
    total = sum(n for n, _ in said)
    states = [(n, part.embedding) for n, part in said if part.embedding is not None]
    embedding = None
    if states:
        embedding = np.asarray(sum(n * e for n, e in states) / sum(n for n, _ in states), np.float32)
    return Transcription(' '.join(part.text for _, part in said if part.text), said[0][1].language,
                         sum(n * part.confidence for n, part in said) / total, embedding, said[0][1].reason)
