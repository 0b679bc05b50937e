"""Kokoro v1.0, 82 million parameters, int8: the default voice, on a CPU.

Licence Apache-2.0; 92 MB and 0.5 MB a voice; about 300 MB of memory; American and British English, Spanish, French,
Hindi, Italian, Brazilian Portuguese (the first letter of a voice's id says which). Any other language is spoken by
espeak-ng's own voice (espeak.py), at Kokoro's sample rate. The graph can't stream: a text is spoken clause by clause,
the first one short. The processor time for a second of sound is about a second on one contended core, a third to two
thirds of one on quiet cores.

How a clause is made: words to IPA (graphemes.py), IPA to Kokoro's alphabet, tokens through the graph with the
delivery's melody and timing (kokoro_graph.py), silence at both ends cut to what is audible, a pause by the mark it
ends with. Phoneme times are the
graph's own token lengths, steps of 25 ms that add up to the sound's length exactly (see `timed`). One caller.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.avatars import Avatar
from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.media.audio import Audio, Samples
from emavatar_ros.models.store import Store
from emavatar_ros.settings import setting
from emavatar_ros.voice import espeak, graphemes, kokoro_graph
from emavatar_ros.voice.clauses import FIRST, MOST, clauses
from emavatar_ros.voice.edges import audible, finished
from emavatar_ros.voice.speech import Phoneme, Speech, match
from emavatar_ros.voice.text import speakable

RATE: Final = 24_000
MOST_TOKENS: Final = 500
"""Tokens given to the graph at once; it takes 510."""
LANGUAGES: Final = {'a': 'en-us', 'b': 'en-gb', 'e': 'es', 'f': 'fr-fr', 'h': 'hi', 'i': 'it', 'p': 'pt-br'}
"""espeak-ng's language by the first letter of a voice's id; Japanese and Chinese voices need another speller."""
# espeak-ng's IPA (letters of one sound tied by ^) to Kokoro's alphabet, as its own speller writes it.
_TIES: Final = {'a^ɪ': 'I', 'a^ʊ': 'W', 'd^ʒ': 'ʤ', 'e^ɪ': 'A', 't^ʃ': 'ʧ', 'ɔ^ɪ': 'Y', 'o^ʊ': 'O', 'ə^ʊ': 'Q',
                'd^z': 'ʣ', 't^s': 'ʦ', 's^s': 'S'}
_ENGLISH: Final = (('ʔˌn\u0329', 'tn'), ('ʔn\u0329', 'tn'), ('ʔn', 'tn'), ('ʔ', 't'), ('ə^l', 'ᵊl'), ('ʲo', 'jo'),
                   ('ʲə', 'jə'), ('ʲ', ''), ('r', 'ɹ'), ('x', 'k'), ('ç', 'k'), ('ɐ', 'ə'), ('ɬ', 'l'), ('\u0303', ''))
_AMERICAN: Final = (('ɚ', 'əɹ'), ('ɜːɹ', 'ɜɹ'), ('ɜː', 'ɜɹ'), ('ɪə', 'iə'), ('ː', ''), ('o', 'ɔ'), ('ɾ', 'T'))
_BRITISH: Final = (('e^ə', 'ɛː'), ('ɚ', 'ə'), ('iə', 'ɪə'), ('o', 'ɔ'))
_IPA: Final = {'A': 'eɪ', 'I': 'aɪ', 'O': 'oʊ', 'Q': 'əʊ', 'W': 'aʊ', 'Y': 'ɔɪ', 'T': 'ɾ', 'ʤ': 'dʒ', 'ʧ': 'tʃ',
               'ʣ': 'dz', 'ʦ': 'ts', 'S': 's', 'ᵊ': 'ə', 'ᵻ': 'ɪ'}
_STRESS: Final = 'ˈˌ'
_MARKS: Final = frozenset(';:,.!?—…"()“” ')


@dataclass(frozen=True)
class Config:
    """Settings of the Kokoro voice."""

    threads: int = setting(2, 'processor threads for synthesis', low=1, high=32)
    first_words: int = setting(FIRST, 'words in the first piece of a reply; fewer are heard sooner', low=2, high=20)
    most_words: int = setting(MOST, 'words in the longest later piece', low=6, high=40)


@dataclass(frozen=True)
class Synthesis:
    """What the graph gave for one string of symbols: untrimmed sound (24 kHz), steps per token with the pad at each
    end ([len(symbols) + 2], 600 samples a step), the F0 curve in Hz (two values a step)."""

    samples: Samples
    steps: NDArray[np.int64]
    f0: NDArray[np.float32]


def symbols(ipa: str, language: str) -> str:
    """espeak-ng's IPA with ties and marks, as `graphemes.ipa` gives it, in Kokoro's alphabet.

    language: one of LANGUAGES' values. Letters it has no rule for pass as they are.
    """
    for old, new in _TIES.items():
        ipa = ipa.replace(old, new)
    if language.startswith('en'):
        rules = _ENGLISH + (_BRITISH if language == 'en-gb' else _AMERICAN)
        for old, new in rules:
            ipa = ipa.replace(old, new)
        ipa = ipa.replace('e', 'A')
        ipa = re.sub(r'(\S)\u0329', r'ᵊ\1', ipa)
    return ipa.replace('^', '').replace('\u0329', '')


class Kokoro:
    """A Voice (speech.py) with the ids of one avatar. One thread, but for `stop`."""

    rate = RATE

    def __init__(self, config: Config, avatar: Avatar, model: Path, voices: Path) -> None:
        """model: folder with kokoro-v1.0.int8.onnx and vocab.json; voices: folder with <id>.bin.

        Raises Missing when a file, onnxruntime or espeak-ng is not there, BadInput for a voice it can't spell.
        """
        graphemes.program()
        self._config = config
        self._profile = avatar.voice
        self._running: Any = None
        self._styles = {tag.lower(): (_spoken(name), _style(voices / f'{name}.bin'))
                        for tag, name in avatar.voice.kokoro.items()}
        if not self._styles:
            raise BadInput(f'the avatar {avatar.name} names no Kokoro voice')
        self.name = 'kokoro-v1.0 ' + '/'.join(avatar.voice.kokoro.values())
        self._other = espeak.Espeak(espeak.Config(first_words=config.first_words, most_words=config.most_words),
                                    avatar, rate=RATE)
        try:
            self._vocabulary: dict[str, int] = json.loads((model / 'vocab.json').read_text('utf-8'))['vocab']
            self._session: Any = kokoro_graph.session(model / 'kokoro-v1.0.int8.onnx', config.threads)
        except FileNotFoundError as error:
            raise Missing(f'{error.filename} is not there; run: emavatar models pull kokoro') from None

    def speak(self, text: str, delivery: Delivery, language: str) -> Iterator[Speech]:
        """As Voice.speak."""
        found = match(language, self._styles)
        if found is None:
            yield from self._other.speak(text, delivery, language)
            return
        spelling, style = self._styles[found]
        for clause in clauses(speakable(text, language), self._config.first_words, self._config.most_words):
            for part in self._parts(symbols(graphemes.ipa(clause, spelling), spelling)):
                try:
                    speech = self._say(clause, part, style, delivery)
                except kokoro_graph.Stopped:
                    return
                yield speech
                clause = ''  # a clause too long for one run of the graph has its text on the first part

    def stop(self) -> None:
        """As Voice.stop; takes effect at the graph's next node, within milliseconds."""
        running = self._running
        if running is not None:
            running.terminate = True

    def warm_up(self) -> None:
        """As Voice.warm_up; about a second of processor time."""
        for _ in self.speak('Hello, it is good to see you.', Delivery(), next(iter(self._styles))):
            pass

    def synthesise(self, part: str, style: NDArray[np.float32], delivery: Delivery) -> Synthesis:
        """Run the graph on symbols of its alphabet (at most 510), with the avatar's own rate and pitch applied."""
        tokens = [self._vocabulary[symbol] for symbol in part]
        rate = self._profile.rate * delivery.rate
        # A mark's own token is two fifths of the silence that is heard for it, so it has to stretch more than that.
        pause = max(0.2, 1 + 2.4 * (delivery.pause - 1))
        scale = np.array([pause if symbol in _MARKS and symbol != ' ' else 1.0 for symbol in part]) / rate
        if part[-1] in _MARKS:
            scale[-1] = 0.35  # nothing is heard in it and `finished` adds the pause: making it would only take time
        quiet = np.zeros(len(tokens) + 2, dtype=np.float32)
        # A symbol is heard in the steps of the token before it: in the last sound's own nothing is.
        quiet[max(place for place, symbol in enumerate(part) if symbol not in _MARKS) + 1:] = 1
        given = {
            'tokens': np.array([[0, *tokens, 0]], dtype=np.int64),
            'style': style[min(len(tokens), len(style)) - 1],
            'speed': np.ones(1, dtype=np.float32),
            'f0_scale': np.array([delivery.pitch * 2 ** (self._profile.pitch / 12)], dtype=np.float32),
            'f0_range': np.array([delivery.range], dtype=np.float32),
            'energy': np.zeros(1, dtype=np.float32),
            'dur_scale': np.concatenate([[1.0], scale, [1.0]]).astype(np.float32)[None],
            'quiet': quiet[None]}
        self._running = running = kokoro_graph.run_options()
        try:
            samples, steps, f0 = kokoro_graph.run(self._session, given, running)
        finally:
            self._running = None
        return Synthesis(np.asarray(samples, dtype=np.float32).ravel(), steps.ravel().astype(np.int64), f0.ravel())

    def style(self, language: str) -> tuple[str, NDArray[np.float32]]:
        """espeak-ng's language and the style table float32 [510, 1, 256] used for a language; KeyError if none is."""
        return self._styles[match(language, self._styles) or language]

    def _parts(self, spelled: str) -> Iterator[str]:
        """Symbols the graph knows, in strings it can take, none without a sound in it."""
        spelled = ''.join(symbol for symbol in spelled if symbol in self._vocabulary)
        while spelled:
            cut = len(spelled)
            if cut > MOST_TOKENS:
                cut = spelled.rfind(' ', 0, MOST_TOKENS) + 1 or MOST_TOKENS
            part, spelled = spelled[:cut], spelled[cut:]
            if any(unicodedata.category(symbol).startswith('L') and symbol not in 'ˈˌː' for symbol in part):
                yield part.strip()

    def _say(self, clause: str, part: str, style: NDArray[np.float32], delivery: Delivery) -> Speech:
        made = self.synthesise(part, style, delivery)
        first, last = audible(made.samples, RATE)
        samples = finished(made.samples[first:last], RATE, part[-1], delivery)
        return Speech(Audio(samples, RATE), timed(part, made.steps, first, last), clause)


def timed(part: str, steps: NDArray[np.int64], first: int, last: int) -> tuple[Phoneme, ...]:
    """Phonemes of a clause from its symbols and the steps of its tokens (a pad at each end), times counted from
    sample `first` of the untrimmed sound and ending by sample `last`.

    A symbol is heard during the steps of the token before its own. Measured on five sentences of three voices at two
    rates: hiss in the sound against the places of /s z sh ch/ and loudness against the vowels correlate by 0.50 so, by
    0.06 at the token's own place, and by 0.41 at best with one shift for all. What the last token's steps hold is
    silence.
    """
    starts = np.concatenate([[0], np.cumsum(steps)[:-2]]) * kokoro_graph.STEP
    starts[0] = max(starts[1] - 4 * kokoro_graph.STEP, 0)  # the pad before the clause is silence but for its end
    found: list[Phoneme] = []
    stress, since = '', 0
    for place, symbol in enumerate(part):
        start, end = int(starts[place]), int(starts[place + 1])
        if symbol in _STRESS:
            stress, since = symbol, start
            continue
        if stress:
            start = since
        if symbol in _MARKS:
            stress = ''
            continue
        start, end = (min(max(sample, first), last) - first for sample in (start, end))
        if not unicodedata.category(symbol).startswith('L') or symbol in 'ːʰʲ\u0303':
            if found:  # length and the like belong to the sound before
                before = found[-1]
                found[-1] = Phoneme(before.symbol + symbol, before.start, end / RATE - before.start)
            continue
        if end > start:
            found.append(Phoneme(stress + _IPA.get(symbol, symbol), start / RATE, (end - start) / RATE))
        stress = ''
    if found:  # the last sound rings on to the end of what is heard (`audible` leaves 50 ms behind it)
        final = found[-1]
        ring = (last - first) / RATE - 0.04
        found[-1] = Phoneme(final.symbol, final.start, max(final.duration, min(ring, final.end + 0.15) - final.start))
    return tuple(found)


def _spoken(name: str) -> str:
    language = LANGUAGES.get(name[:1])
    if language is None:
        raise BadInput(f'the Kokoro voice {name!r} speaks a language that espeak-ng does not spell for it; '
                       f'usable are ids that begin with one of {", ".join(LANGUAGES)}')
    return language


def _style(path: Path) -> NDArray[np.float32]:
    if not path.is_file():
        raise Missing(f'the Kokoro voice {path.stem} is not in {path.parent}; run: emavatar models pull kokoro-voices')
    return np.fromfile(path, dtype=np.float32).reshape(-1, 1, 256)


def create(config: Config, avatar: Avatar, store: Store | None = None) -> Kokoro:
    """The voice of an avatar, with its model from the store. Raises Missing or BadInput, as Kokoro does."""
    models = store or Store()
    return Kokoro(config, avatar, models.path('kokoro'), models.path('kokoro-voices'))
