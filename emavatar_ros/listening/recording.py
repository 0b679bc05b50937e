"""What was said in a whole recording: one turn, from its first voiced sample to its last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.listening.events import Utterance
from emavatar_ros.listening.transcription import PIECE, Recogniser, join
from emavatar_ros.listening.voice_activity import RATE, WINDOW, VoiceActivity
from emavatar_ros.media.audio import Audio, Samples

EDGE = 0.3
"""Sound kept before and after the voiced part, in seconds."""
VOICED = 0.5
LEAST = 0.16
"""Voiced time below which nothing was said, in seconds."""


def hear(audio: Audio, activity: VoiceActivity, recogniser: Recogniser, language: str | None = None
         ) -> Utterance | None:
    """The recording as one utterance (any rate, any channels), or None when nobody speaks in it.

    A long one is recognised in pieces of at most 28 s, cut where it is most likely silent; its text is '' when there
    is a voice but no words. Time 0 is the recording's first sample.
    """
    samples = audio.mono(RATE).samples
    voiced = probabilities(samples, activity)
    spoken = np.flatnonzero(voiced >= VOICED)
    if len(spoken) * WINDOW < LEAST * RATE:
        return None
    start, end = spoken[0] * WINDOW / RATE, min((spoken[-1] + 1) * WINDOW / RATE, len(samples) / RATE)
    first, last = max(0, int((start - EDGE) * RATE)), min(len(samples), int((end + EDGE) * RATE))
    parts = []
    expected = None
    for begin, stop in _pieces(voiced, first, last):
        made = recogniser.transcribe(Audio(samples[begin:stop], RATE), language, expected)
        expected = (made.language if made.text else None) or expected
        parts.append((stop - begin, made))
    whole = join(parts)
    return Utterance(whole.text, whole.language, whole.confidence, float(start), float(end),
                     Audio(samples[first:last], RATE), whole.embedding, first / RATE)


def probabilities(samples: Samples, activity: VoiceActivity) -> NDArray[np.float64]:
    """Probability of speech of each window of 32 ms of a mono 16 kHz sound; the last one is padded with silence."""
    activity.reset()
    padded = np.concatenate([samples, np.zeros(-len(samples) % WINDOW, np.float32)])
    return np.array([activity(padded[at:at + WINDOW]) for at in range(0, len(padded), WINDOW)], dtype=np.float64)


def _pieces(voiced: NDArray[np.float64], first: int, last: int) -> list[tuple[int, int]]:
    """Sample ranges of at most PIECE seconds, cut at the least voiced window of each piece's second half."""
    pieces = []
    while last - first > PIECE * RATE:
        low = (first + int(PIECE / 2 * RATE)) // WINDOW
        high = (first + int(PIECE * RATE)) // WINDOW - 1
        cut = (low + int(np.argmin(voiced[low:high]))) * WINDOW
        pieces.append((first, cut))
        first = cut
    return [*pieces, (first, last)]
