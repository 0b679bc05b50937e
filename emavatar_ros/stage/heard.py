"""Which words of a stretch of speech were heard by a given moment.

A voice gives the times of phonemes, not of words. The words' shares of the letters tell which phoneme each ends
with: within a clause that is off by a phoneme or two, and pauses are where they really are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emavatar_ros.voice.speech import Phoneme

NEARLY: Final = 0.05
"""A word whose end is so near, s, counts as heard: nobody would finish it."""


def word_ends(text: str, phonemes: Sequence[Phoneme], seconds: float) -> list[float]:
    """When each word of `text` (split at white space) ends, s from the first sample; seconds: the sound's length.

    Without phonemes the words share the sound by their letters.
    """
    lengths = [sum(letter.isalnum() for letter in word) or 1 for word in text.split()]
    total, so_far, ends = sum(lengths), 0, []
    for length in lengths:
        so_far += length
        if phonemes:
            index = min(max(round(so_far / total * len(phonemes)), 1), len(phonemes)) - 1
            ends.append(min(phonemes[index].end, seconds))
        else:
            ends.append(seconds * so_far / total)
    return ends


def words_heard(text: str, phonemes: Sequence[Phoneme], seconds: float, position: float) -> str:
    """The words of `text` that have ended `position` seconds into the sound."""
    words = text.split()
    if position >= seconds - NEARLY:
        return ' '.join(words)
    ends = word_ends(text, phonemes, seconds)
    return ' '.join(word for word, end in zip(words, ends) if end <= position + NEARLY)
