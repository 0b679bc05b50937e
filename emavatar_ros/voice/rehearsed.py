"""A voice that has some phrases ready: they sound at once, as often as they are wanted.

They are made when the voice warms up, some 0.4 s each on two cores, and kept on disk beside the models, 30 kB each, so
that the next start only reads them. What is kept is the avatar's own voice, never a visitor's.
"""

from __future__ import annotations

import hashlib
import io
import logging
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np

from emavatar_ros.avatars import Avatar
from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.media.audio import Audio
from emavatar_ros.models.store import Store
from emavatar_ros.planning.acknowledging import phrases
from emavatar_ros.voice.instruction import delivery
from emavatar_ros.voice.speech import Phoneme, Speech, Voice

log = logging.getLogger(__name__)
Phrase = tuple[str, Delivery, str]
"""Text, how it is said, and its language (BCP 47)."""
VERSION: Final = 1
"""Raise it when a voice says the same otherwise: what another version kept is made anew."""


class Rehearsed:
    """A Voice (speech.py) over another. phrases: short ones to have ready; folder: where they are kept."""

    def __init__(self, voice: Voice, phrases: Iterable[Phrase], folder: Path) -> None:
        self._voice = voice
        self._phrases = tuple(dict.fromkeys(phrases))
        self._folder = folder
        self._ready: dict[Phrase, tuple[Speech, ...]] = {}
        self.name, self.rate = voice.name, voice.rate

    def speak(self, text: str, delivery: Delivery, language: str) -> Iterator[Speech]:
        """As Voice.speak."""
        ready = self._ready.get((text, delivery, language))
        yield from self._voice.speak(text, delivery, language) if ready is None else ready

    def stop(self) -> None:
        """As Voice.stop."""
        self._voice.stop()

    def warm_up(self) -> None:
        """As Voice.warm_up; makes the phrases, or reads them from where they are kept."""
        self._voice.warm_up()
        for phrase in self._phrases:
            file = self._file(phrase)
            kept = _read(file)
            if kept is None:
                kept = tuple(self._voice.speak(*phrase))
                _keep(file, kept)
            self._ready[phrase] = kept

    def _file(self, phrase: Phrase) -> Path:
        key = hashlib.sha256(repr((VERSION, self.name, self.rate, *phrase)).encode()).hexdigest()[:32]
        return self._folder / f'{key}.npz'


def acknowledging(voice: Voice, avatar: Avatar) -> Rehearsed:
    """An avatar's voice that has its acknowledgements ready, kept beside the models."""
    spoken = ((beat.text, delivery(beat.instruction, beat.expression), language)
              for beat, language in phrases(avatar.languages))
    return Rehearsed(voice, spoken, Store().root / '.phrases')


def _keep(file: Path, pieces: tuple[Speech, ...]) -> None:
    """Write what is one piece of speech; a disk that is full or read-only is no reason to be silent."""
    if len(pieces) != 1:
        return
    (piece,) = pieces
    half = file.with_suffix('.part')
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with half.open('wb') as out:
            np.savez(out, samples=piece.audio.samples, rate=piece.audio.rate, text=piece.text,
                     symbols=np.array([item.symbol for item in piece.phonemes], dtype=str),
                     times=np.array([(item.start, item.duration) for item in piece.phonemes]).reshape(-1, 2))
        half.replace(file)
    except OSError as error:
        log.info('phrases are made at each start, %s cannot be written: %s', file.parent, error.strerror)
        with suppress(OSError):
            half.unlink()


def _read(file: Path) -> tuple[Speech, ...] | None:
    """The piece kept in a file; None when there is none or it is damaged."""
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as kept:
            audio = Audio(kept['samples'].astype(np.float32), int(kept['rate']))
            phonemes = tuple(Phoneme(str(symbol), float(start), float(duration))
                             for symbol, (start, duration) in zip(kept['symbols'], kept['times'], strict=True))
            return (Speech(audio, phonemes, str(kept['text'])),)
    except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile):
        return None
