"""What a voice gives: sound with the times of its phonemes, and what every voice must be able to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.media.audio import Audio


@dataclass(frozen=True)
class Phoneme:
    """One sound of speech.

    symbol: IPA, with its stress mark in front (ˈ, ˌ) and its length mark behind (ː) where it has them; a diphthong
    or affricate is one phoneme of two letters. start: seconds from the first sample of its Speech; duration: seconds.
    Pauses are no phonemes: they are the gaps between.
    """

    symbol: str
    start: float
    duration: float

    @property
    def end(self) -> float:
        """Seconds from the first sample of its Speech."""
        return self.start + self.duration


@dataclass(frozen=True)
class Speech:
    """A stretch of speech, one clause as a rule: mono sound, its phonemes in order of time, and the words said.

    The pause before the next clause is part of the sound, so pieces are played one straight after the other.
    """

    audio: Audio
    phonemes: tuple[Phoneme, ...]
    text: str

    @property
    def seconds(self) -> float:
        """Length of the sound in seconds."""
        return self.audio.seconds


class Voice(Protocol):
    """One avatar's voice. One thread uses it at a time; only `stop` may come from another."""

    @property
    def name(self) -> str:
        """Model and voice, as turn.json names it."""

    @property
    def rate(self) -> int:
        """Sample rate of everything `speak` gives, Hz."""

    def speak(self, text: str, delivery: Delivery, language: str) -> Iterator[Speech]:
        """Say a text, clause by clause, each as soon as it is ready; stops when closed.

        text: what `text.speakable` leaves of it is said; nothing left gives no piece at all. language: BCP 47; one
        the voice can't speak is BadInput (it names those it can).
        """

    def stop(self) -> None:
        """From any thread: the piece being made is given up at once and its `speak` ends; the next one is untouched."""

    def warm_up(self) -> None:
        """Make the first real `speak` as quick as a later one."""


def match(language: str, available: Mapping[str, object]) -> str | None:
    """The entry of `available` (lower-case BCP 47 tags) that serves a language: the same tag, or the same primary
    language; None if there is none."""
    tag = language.strip().lower().replace('_', '-')
    if tag in available:
        return tag
    return next((known for known in available if known.split('-')[0] == tag.split('-')[0]), None)
