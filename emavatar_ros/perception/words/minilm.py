"""The words view: what a visitor's words say they feel.

MiniLM's layers and a small head trained on GoEmotions (see words_head) read each sentence; irony's usual forms and a
very short answer's context only shift certainty. It reads English; other languages, and no words, are abstained
from with a reason. About 12 ms of one core for a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.history import Line
from emavatar_ros.perception.words import VIEW, signs
from emavatar_ros.perception.words.embedding import Embedding
from emavatar_ros.perception.words.head import FILE, WordsHead
from emavatar_ros.settings import setting

MODEL: Final = 'minilm + words head'

_SOUNDS: Final = {'angry': 'angry', 'contempt': 'scornful', 'disgusted': 'disgusted', 'fear': 'afraid',
                  'happy': 'happy', 'neutral': 'matter-of-fact', 'sad': 'sad', 'surprised': 'surprised'}
_TELLING = 0.8
"""A word counts as evidence from this weight on, in log-odds."""


@dataclass(frozen=True)
class Config:
    """Settings of the words view."""

    context: float = setting(0.25, 'how far a very short answer leans on what the visitor last felt, or on calm',
                             low=0.0, high=0.9)
    short: int = setting(2, 'an answer of at most this many words is very short', unit='words', low=0, high=20)
    long: int = setting(40, 'a text of more words is read sentence by sentence', unit='words', low=10, high=90)


class Words:
    """Reads one utterance at a time; nothing is kept between calls."""

    def __init__(self, config: Config, embedding: Embedding, head: WordsHead) -> None:
        self._config = config
        self._embedding = embedding
        self._head = head

    def read(self, text: str, language: str = 'en', history: Sequence[Line] = ()) -> Candidate:
        """What `text` says the visitor feels. `language`: BCP 47; `history`: the lines before it, oldest first."""
        words = re.findall(r"[^\W_]+(?:['’][^\W_]+)?", text)
        if not words:
            return Candidate.abstain(VIEW, MODEL, 'nothing was said')
        primary = language.replace('_', '-').split('-')[0].lower()
        if primary != 'en':
            reason = f'only English words are read, not {primary!r}' if primary else 'the language is not known'
            return Candidate.abstain(VIEW, MODEL, reason)
        reading = self._distribution(text.strip(), len(words))
        felt = next((line.emotion for line in reversed(history) if line.role == 'visitor'), None)
        if len(words) <= self._config.short and (felt or '!' not in text):
            # "No." alone was a quarrel where the head learned; here it mostly answers a question.
            weight, lean = self._config.context, Distribution.from_mapping({felt or 'neutral': 1.0})
            reading = Distribution.mix(((1 - weight, reading), (weight, lean)))
        if signs.asks(text):
            reading = signs.calmer(reading)
        found = signs.measures(text, history, reading.label)
        ironic = found['sarcasm_frame'] > 0 and reading['happy'] > 0.2
        if ironic:
            reading = signs.ironic(reading)
        evidence = self._evidence(text, reading.label)
        if ironic:
            evidence += ', but they praise something unwelcome, which may be irony'
        elif found['laughter']:
            evidence += ', with laughter'
        return Candidate.of(VIEW, MODEL, reading, evidence)

    def measures(self, text: str, history: Sequence[Line] = ()) -> dict[str, float]:
        """Countable cues of the words by the names `deliberate` uses; see signs."""
        candidate = self.read(text, history=history)
        return signs.measures(text, history, candidate.label)

    def warm_up(self) -> None:
        """Read something, so that the first visitor doesn't wait."""
        self.read('Hello there, how are you?')

    def _distribution(self, text: str, words: int) -> Distribution:
        parts = [text]
        if words > self._config.long:
            parts = [part for part in re.split(r'(?<=[.!?…])\s+|\n+', text) if re.search(r'\w', part)]
        layers = self._embedding.layers(parts)
        readings = [self._head.read(rows, self._embedding.tokens(part))
                    for rows, part in zip(layers, parts, strict=True)]
        # In a long text the feeling is in a few sentences; the rest is what happened.
        return Distribution.mix((0.25 + 1 - reading['neutral'], reading) for reading in readings)

    def _evidence(self, text: str, label: str) -> str:
        weights: dict[str, float] = {}
        for token, word in self._embedding.words(text):
            weights[word.lower()] = max(weights.get(word.lower(), 0.0), self._head.weight(token, label))
        telling = [word for word in sorted(weights, key=lambda word: -weights[word]) if weights[word] >= _TELLING][:2]
        sound = _SOUNDS[label]
        if len(telling) == 2:
            return f'the words "{telling[0]}" and "{telling[1]}" sound {sound}'
        if telling:
            return f'the word "{telling[0]}" sounds {sound}'
        return f'the words as a whole sound {sound}'


def create(config: Config | None = None, minilm: Path | None = None, head: Path = FILE) -> Words:
    """The words view with MiniLM from the model store, or from the folder given."""
    if minilm is None:
        from emavatar_ros.models.store import Store
        minilm = Store().path('minilm')
    return Words(config or Config(), Embedding(minilm), WordsHead(head))


