"""espeak-ng's own voice: the fallback, and the voice for every language Kokoro lacks.

GPL-3, a program of its own (apt install espeak-ng); a few MB; any processor, a thousandth of real time. It sounds like
a machine. Rate, pitch, range, pauses and level of a delivery are all realised.

Phoneme times: the program tells none. They are laid out: each clause is spoken by itself, its phonemes get usual
lengths by kind (a stressed vowel longer than a stop), and the whole is stretched over the audible part of the clause,
around the silences found inside it. Within a clause a phoneme may be some 50 ms off; at its ends it is right.
"""

from __future__ import annotations

import io
import math
import re
import unicodedata
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

import numpy as np

from emavatar_ros.avatars import Avatar
from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.errors import Unavailable
from emavatar_ros.media.audio import Audio, Samples
from emavatar_ros.settings import setting
from emavatar_ros.voice import graphemes
from emavatar_ros.voice.clauses import FIRST, MOST, clauses
from emavatar_ros.voice.edges import audible, finished
from emavatar_ros.voice.speech import Phoneme, Speech, match
from emavatar_ros.voice.text import speakable

WORDS_A_MINUTE: Final = 165
_VOWELS: Final = frozenset('aɑæɐɶeɛɜɝœəʌɚᵊɘɵɤɪᵻɨɯiɔoɒuʊyøʏʉ')
_STOPS: Final = frozenset('pbtdkɡgqʔɾ')


@dataclass(frozen=True)
class Config:
    """Settings of the espeak-ng voice."""

    first_words: int = setting(FIRST, 'words in the first piece of a reply', low=2, high=20)
    most_words: int = setting(MOST, 'words in the longest later piece', low=6, high=40)


class Espeak:
    """A Voice (speech.py) of the espeak-ng program."""

    def __init__(self, config: Config, avatar: Avatar, rate: int = 22_050) -> None:
        """rate: Hz of what `speak` gives; espeak-ng's own is 22,050. Raises Missing without the program."""
        graphemes.program()
        self._config = config
        self._profile = avatar.voice
        self._voices = {tag.lower(): name for tag, name in avatar.voice.espeak.items()}
        self.rate = rate
        self.name = 'espeak-ng ' + '/'.join(avatar.voice.espeak.values())

    def speak(self, text: str, delivery: Delivery, language: str) -> Iterator[Speech]:
        """As Voice.speak."""
        voice = self._voice(language)
        for clause in clauses(speakable(text, language), self._config.first_words, self._config.most_words):
            spelled = graphemes.ipa(clause, voice.split('+')[0])
            if any(unicodedata.category(symbol).startswith('L') for symbol in spelled):
                yield self._say(clause, spelled, voice, delivery)

    def stop(self) -> None:
        """As Voice.stop: nothing to do, a clause takes some 20 ms."""

    def warm_up(self) -> None:
        """As Voice.warm_up: reads the program and its data from disk once."""
        for _ in self.speak('Hello.', Delivery(), next(iter(self._voices), 'en')):
            pass

    def _voice(self, language: str) -> str:
        """espeak-ng's voice for a language: the avatar's, else the language's own with the avatar's variant (+f3)."""
        tag = match(language, self._voices)
        if tag is not None:
            return self._voices[tag]
        variant = next((name[name.index('+'):] for name in self._voices.values() if '+' in name), '')
        return graphemes.known(language) + variant

    def _say(self, clause: str, spelled: str, voice: str, delivery: Delivery) -> Speech:
        # Measured: the pitch argument moves the median F0 by 0.64 of what its table says, and a wider range raises it.
        octaves = math.log2(delivery.pitch) + self._profile.pitch / 12
        pitch = 50 + 78 * octaves - 17 * (delivery.range - 1)
        arguments = ['-m', '-z', '--stdout', '-v', voice,
                     '-s', str(round(min(max(WORDS_A_MINUTE * self._profile.rate * delivery.rate, 80), 450))),
                     '-p', str(round(min(max(pitch, 0), 99)))]
        words = f'<speak><prosody range="{round(100 * delivery.range)}%">{escape(clause)}</prosody></speak>'
        samples = _sound(graphemes.run(arguments, words), self.rate)
        first, last = audible(samples, self.rate)
        trimmed = samples[first:last]
        phonemes = laid_out(spelled, trimmed, self.rate)
        return Speech(Audio(finished(trimmed, self.rate, spelled[-1], delivery), self.rate), phonemes, clause)


def _sound(data: bytes, rate: int) -> Samples:
    """The samples of a wav stream whose header may not know its length."""
    try:
        with wave.open(io.BytesIO(data)) as file:
            own = file.getframerate()
            raw = file.readframes(len(data))
    except (wave.Error, EOFError):
        raise Unavailable('espeak-ng gave no sound') from None
    samples: Samples = np.frombuffer(raw[:len(raw) // 2 * 2], dtype='<i2').astype(np.float32)
    samples *= np.float32(1 / 32768)
    return Audio(samples, own).mono(rate).samples


def _sounds(word: str) -> list[tuple[str, float]]:
    """The phonemes of one word in IPA (letters of one sound tied by ^) and a usual length of each, relative."""
    found = re.findall(r'[ˈˌ]*\w(?:\^\w|[ːʰʲ\u0303\u0329])*', word)
    lengths = []
    for symbol in found:
        stem = symbol.strip('ˈˌ')
        length = 0.5 if stem[0] in _STOPS else 0.75
        if stem[0] in _VOWELS:
            length = 1.35 if 'ˈ' in symbol else 0.8
        if 'ː' in symbol or '^' in symbol:
            length *= 1.3
        lengths.append((symbol.replace('^', ''), length))
    return lengths


def laid_out(spelled: str, samples: Samples, rate: int) -> tuple[Phoneme, ...]:
    """Phonemes of a clause (IPA with ties, as `graphemes.ipa` gives it) spread over its trimmed sound, see above."""
    size = rate // 100
    blocks = np.abs(samples[:len(samples) // size * size]).reshape(-1, size).max(axis=1, initial=0)
    loud = blocks > 0.02 * max(float(blocks.max(initial=0)), 1e-4)
    edge = np.flatnonzero(loud)
    if not len(edge):
        return ()
    active = np.zeros(len(loud), dtype=bool)
    active[edge[0]:edge[-1] + 1] = True
    start = edge[0]
    for stop in edge[1:]:
        if stop - start > 8:  # over 80 ms of silence is a pause, less belongs to a stop consonant
            active[start + 1:stop] = False
        start = stop
    times = np.concatenate([[0.0], np.cumsum(active)])  # speech time passed at each 10 ms
    sounds = [sound for word in re.split(r'[^\w^ˈˌːʰʲ\u0303\u0329]+', spelled) for sound in _sounds(word)]
    total = sum(length for _, length in sounds)
    found: list[Phoneme] = []
    passed = 0.0
    for symbol, length in sounds:
        begin = np.searchsorted(times, passed / total * times[-1], side='right') - 1
        passed += length
        end = np.searchsorted(times, passed / total * times[-1], side='left')
        begin = max(int(begin), round(found[-1].end * 100) if found else 0)
        if end > begin:
            found.append(Phoneme(symbol, begin / 100, (int(end) - begin) / 100))
    return tuple(found)


def create(config: Config, avatar: Avatar) -> Espeak:
    """The espeak-ng voice of an avatar. Raises Missing without the program."""
    return Espeak(config, avatar)
