"""The words view: what a visitor's words say they feel.

MiniLM's layers and a small head trained on GoEmotions (see head) read each sentence. What the data lacks is weighed in
afterwards, each in a bounded way: a feeling said in so many words counts, a denied one loses most of its share, a
short answer is read after the line before it, irony's usual forms turn praise round and make it less certain. It
reads English; other languages, and no words, are abstained from with a reason. About 13 ms of one core for a
sentence, 25 for a short answer with its context.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import UNPLEASANT
from emavatar_ros.history import Line
from emavatar_ros.language import english, guess
from emavatar_ros.perception.words import VIEW, context, irony, signs
from emavatar_ros.perception.words.embedding import Embedding
from emavatar_ros.perception.words.head import FILE, WordsHead
from emavatar_ros.perception.words.phrases import plain
from emavatar_ros.settings import setting

MODEL: Final = 'minilm + words head'

_SOUNDS: Final = {'angry': 'angry', 'contempt': 'scornful', 'disgusted': 'disgusted', 'fear': 'afraid',
                  'happy': 'happy', 'neutral': 'matter-of-fact', 'sad': 'sad', 'surprised': 'surprised'}
_TELLING = 0.8
"""A word counts as evidence from this weight on, in log-odds."""
_DENIED: Final = {
    'happy': {'sad': 0.45, 'angry': 0.4, 'neutral': 0.15}, 'surprised': {'neutral': 1.0},
    'sad': {'neutral': 0.75, 'happy': 0.25}, 'angry': {'neutral': 0.85, 'happy': 0.15},
    'fear': {'neutral': 0.85, 'happy': 0.15}, 'disgusted': {'neutral': 0.7, 'happy': 0.3}, 'contempt': {'neutral': 1.0}}
"""Where the probability of a feeling goes that is denied."""
_LINE: Final = 240
"""Characters read of a line before, from its end."""


@dataclass(frozen=True)
class Config:
    """Settings of the words view."""

    context: float = setting(0.85, 'how far a short answer such as "Really?" is read from the line before it',
                             low=0.0, high=1.0)
    mood: float = setting(0.25, 'how far matter-of-fact words lean on what the visitor said before', low=0.0, high=0.9)
    denial: float = setting(0.7, 'how much of a feeling that is denied ("not happy") goes to others', low=0.0, high=1.0)
    long: int = setting(40, 'a text of more words is read sentence by sentence', unit='words', low=10, high=90)


class Words:
    """Reads one utterance at a time; nothing is kept between calls."""

    def __init__(self, config: Config, embedding: Embedding, head: WordsHead) -> None:
        self._config = config
        self._embedding = embedding
        self._head = head

    def read(self, text: str, language: str = 'en', history: Sequence[Line] = ()) -> Candidate:
        """What `text` says the visitor feels. `language`: BCP 47; `history`: the lines before it, oldest first; at most
        the last two are read."""
        candidate, ironic = self._read(text, language, history)
        if candidate.abstains:
            return candidate
        found = signs.measures(text, history, candidate.label) | {'sarcasm_frame': float(ironic)}
        return replace(candidate, measures=found)

    def warm_up(self) -> None:
        """Read something, so that the first visitor doesn't wait."""
        self.read('Really?', history=(Line('avatar', 'Hello there, how are you?'),))

    def _read(self, text: str, language: str, history: Sequence[Line]) -> tuple[Candidate, bool]:
        text = plain(text)
        shown = signs.emoji(text)
        primary = language.replace('_', '-').split('-')[0].lower()
        if primary != 'en':
            reason = f'only English words are read, not {primary!r}' if primary else 'the language is not known'
            return Candidate.abstain(VIEW, MODEL, reason), False
        if not re.search(r'[^\W_]', text):
            if shown is None:
                return Candidate.abstain(VIEW, MODEL, 'nothing was said'), False
            return Candidate.of(VIEW, MODEL, shown, f'the emoji look {_SOUNDS[shown.label]}'), False
        other = _foreign(text) or self._strange(text)
        if other:
            return Candidate.abstain(VIEW, MODEL, f'only English words are read, and these look like {other}'), False
        reading = self._distribution(text)
        reading, why = self._denial(text, reading)
        if said := signs.declared(text):
            reading = Distribution.mix(((0.5, reading), (0.5, Distribution.from_mapping({said[1]: 1.0}))))
            why = f'the words "{said[0]}" say so'
        reading, because, mocking = self._context(text, reading, history)
        why, sounded = because or why, reading.label
        if said and sounded != said[1]:
            why = because
        if signs.asks(text):
            reading = signs.calmer(reading)
        if shown is not None:
            reading = Distribution.of((reading.array + 0.05) * (shown.array + 0.15))
        ironic = self._ironic(text, history)
        if ironic:
            reading = irony.turned(reading)
        evidence = why if why and reading.label == sounded else self._evidence(text, reading.label)
        if ironic and reading.label != 'contempt':
            evidence = 'put like this, the words may be irony'
        elif signs.measures(text)['laughter']:
            evidence += ', with laughter'
        return Candidate.of(VIEW, MODEL, reading, evidence), ironic or mocking

    def _strange(self, text: str) -> str | None:
        """"another language" when hardly a word is English: none of its small words, and words that MiniLM knows in
        pieces only or that are written with other letters. Of English comments 0.4 % look so: slang."""
        words = re.findall(r"[^\W\d_]{2,}(?:'\w+)?", text)
        if len(words) < 3 or english(words) >= 0.15:
            return None
        pieces = sum(len(self._embedding.tokens(word)) - 2 for word in words) / len(words)
        marked = sum(not word.isascii() for word in words) / len(words)
        return 'another language' if pieces >= 2.0 or marked >= 0.25 else None

    def _distribution(self, text: str) -> Distribution:
        parts = [text]
        if len(text.split()) > self._config.long:
            parts = [part for part in re.split(r'(?<=[.!?…])\s+', text) if re.search(r'\w', part)]
        layers = self._embedding.layers(parts)
        readings = []
        for rows, part in zip(layers, parts, strict=True):
            looking_down = signs.scorn(part) is not None
            readings.append(self._head.read(rows, self._embedding.tokens(part), 2.0 if looking_down else 0.0))
        # In a long text the feeling is in a few sentences; the rest is what happened.
        return Distribution.mix((0.25 + 1 - reading['neutral'], reading) for reading in readings)

    def _denial(self, text: str, reading: Distribution) -> tuple[Distribution, str]:
        """The reading less what is denied in it, and a sentence that says so, or ''."""
        found: dict[str, str] = {}
        for token, word in self._embedding.words(' '.join(signs.denied(text))):
            weight, label = max((self._head.weight(token, name), name) for name in _DENIED)
            if weight >= _TELLING:
                found.setdefault(label, word.lower())
        if not found:
            return reading, ''
        denied = set(found)
        if denied & UNPLEASANT and signs.one_clause(text):
            # "Not bad at all" is nothing bad; "not angry, just hurt" is still hurt.
            denied |= UNPLEASANT
        changed = reading
        for name in _DENIED:
            if name in denied:
                changed = signs.moved(changed, name, self._config.denial, _DENIED[name])
        if changed.label in found:
            return changed, ''
        return changed, f'"{next(iter(found.values()))}" is denied, and the words sound {_SOUNDS[changed.label]}'

    def _context(self, text: str, reading: Distribution, history: Sequence[Line]
                 ) -> tuple[Distribution, str, bool]:
        """The reading with the line before weighed in, a sentence about it or "", and whether bad news is praised."""
        answer = context.kind(text)
        lines = [line for line in history[-2:] if re.search(r'[^\W_]', line.text) and not _foreign(line.text)]
        if not lines:
            if answer in ('yes', 'no', 'noted'):
                # "No." alone was a quarrel where the head learned; here it mostly answers a question.
                reading = Distribution.mix(((0.6, reading), (0.4, context.after(answer, 0, 0))))
            return reading, '', False
        if not answer and reading['neutral'] < 0.3:
            return reading, '', False
        last, stated = lines[-1], None
        if answer in ('yes', 'no') and last.role == 'avatar':
            stated = context.restated(last.text, answer)
            if stated is None and context.offers(last.text):
                calm = Distribution.mix(((0.3, reading), (0.7, context.after(answer, 0, 0))))
                return calm, 'the words answer an offer', False
        texts = [stated or last.text[-_LINE:]] + [line.text[-_LINE:] for line in lines[:-1] if line.role == 'visitor']
        layers = self._embedding.layers(texts)
        good, bad = self._head.event(layers[0])
        mood = self._mood(lines, texts, layers)
        if len(layers) > 1:
            # What neither the answered line nor the answer says, the visitor's own line before may.
            earlier = self._head.event(layers[1])
            left = 0.5 * (1 - good - bad)
            good, bad = good + left * earlier[0], bad + left * earlier[1]
        if not answer:
            if not mood:
                return reading, '', False
            weight = self._config.mood * reading['neutral']
            changed = Distribution.mix(((1 - weight, reading), (weight, mood)))
            moved = changed.label != reading.label
            return changed, f'plain words after some that sound {_SOUNDS[changed.label]}' if moved else '', False
        meant = context.after('stated' if stated else answer, good, bad)
        if stated:
            said = self._denial(stated, self._head.read(layers[0], self._embedding.tokens(stated)))[0]
            meant = Distribution.mix(((0.4, meant), (0.6, said)))
        if mood and answer in ('yes', 'no', 'fine', 'noted', 'thanks', 'giveup'):
            meant = Distribution.mix(((0.75, meant), (0.25, mood)))
        changed = Distribution.mix(((1 - self._config.context, reading), (self._config.context, meant)))
        mocking = answer == 'praise' and bad > 0.6
        if mocking:
            changed = irony.turned(changed)
        return changed, self._because(text, stated, good, bad, changed.label), mocking

    def _mood(self, lines: Sequence[Line], texts: Sequence[str], layers: NDArray[np.float32]) -> Distribution | None:
        felt = next((line.emotion for line in reversed(lines) if line.role == 'visitor' and line.emotion), None)
        if felt:
            return Distribution.from_mapping({felt: 0.8, 'neutral': 0.2})
        own = next((i for i, line in enumerate(reversed(lines)) if line.role == 'visitor'), None)
        if own is None or own >= len(texts):
            return None
        return self._head.read(layers[own], self._embedding.tokens(texts[own]))

    def _ironic(self, text: str, history: Sequence[Line]) -> bool:
        """True for a usual form of irony, and for praise of what is likely bad news."""
        framed, praised = irony.framed(text), irony.praised(text)
        known = bool(history) and history[-1].role == 'avatar' and not _foreign(history[-1].text)
        if framed and known and context.kind(text) == 'praise':
            # "Just what I needed" is meant after good news.
            return self._head.event(self._embedding.layers([history[-1].text[-_LINE:]])[0])[0] < 0.6
        if framed or not praised:
            return framed
        return self._head.event(self._embedding.layers([praised])[0])[1] > 0.7

    @staticmethod
    def _because(text: str, stated: str | None, good: float, bad: float, label: str) -> str:
        if stated:
            return f'the answer "{text}" means "{stated}", which sounds {_SOUNDS[label]}'
        news = 'good news' if good > max(bad, 0.4) else 'bad news' if bad > 0.4 else 'a plain line'
        return f'"{text}" after {news} sounds {_SOUNDS[label]}'

    def _evidence(self, text: str, label: str) -> str:
        looking_down = signs.scorn(text)
        if label == 'contempt' and looking_down:
            several = ' ' in looking_down
            return f'the word{"s" * several} "{looking_down}" look{"s" * (not several)} down on somebody'
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


def _foreign(text: str) -> str | None:
    """The language a text is clearly in when it is not English (or "another script"), or None."""
    letters = [sign for sign in text if sign.isalpha()]
    if sum(sign <= 'ɏ' for sign in letters) < 0.6 * len(letters):
        return 'another script'
    # Single letters are more often a list's than a language's.
    language = guess(' '.join(re.findall(r"[^\W\d_]{2,}(?:'\w+)?", text)), 'en')
    return None if language == 'en' else repr(language)


def create(config: Config | None = None, minilm: Path | None = None, head: Path = FILE) -> Words:
    """The words view with MiniLM from the model store, or from the folder given."""
    if minilm is None:
        from emavatar_ros.models.store import Store
        minilm = Store().path('minilm')
    return Words(config or Config(), Embedding(minilm), WordsHead(head))
