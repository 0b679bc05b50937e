"""What a conversation was about so far, in a few short lines for a language model, without one.

Keeps the last lines word for word and, of everything said before, what patterns find (prompts/summary.yaml, English
and Spanish): the visitor's name, losses, appointments, open questions, wishes, people, places, times, and how the mood
went. The whole stays within a bound of tokens, newest facts first; the same lines always give the same summary.

What the visitor said stands between quotation marks or as single plain words: it is told as data. Lines that give the
avatar orders about itself are left out altogether.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

import yaml

from emavatar_ros.history import Line
from emavatar_ros.planning import texts
from emavatar_ros.planning.manner import MANNERS
from emavatar_ros.planning.quoting import quoted
from emavatar_ros.planning.steering import steers
from emavatar_ros.settings import setting

PER_WORD: Final = 1.3  # tokens, about, in English and Spanish
KINDS: Final = {'name': 1, 'loss': 3, 'appointment': 3, 'question': 3, 'wish': 3, 'people': 6, 'place': 5, 'time': 4}
"""Kinds of facts, most important first, and how many of each are kept."""
PLAIN: Final = frozenset(('name', 'people', 'place', 'time'))  # told without quotation marks: single words
LONGEST_LINE: Final = 1200  # characters of a line that are looked at
LONGEST_FACT: Final = 100  # characters
LONGEST_TURN: Final = 160
FACTS_SHARE: Final = 0.6  # of the tokens, at most, while there are lines to tell
MOODS: Final = 3
ENDS: Final = re.compile(r'(?<=[.!?…])' + ''.join(rf'(?<!\b{title}\.)' for title in (
    'Dr', 'Mr', 'Ms', 'Sr', 'St', 'Mrs', 'Sra', 'Dra')) + r'\s+')


@dataclass(frozen=True)
class Config:
    """Settings of the summary."""

    tokens: int = setting(160, 'longest summary of the conversation', unit='tokens', low=20, high=2000)
    turns: int = setting(0, 'last lines that it holds word for word; the planner keeps the last two exchanges anyway',
                         low=0, high=20)


def tokens(text: str) -> int:
    """About how many tokens a language model reads."""
    return math.ceil(len(text.split()) * PER_WORD)


class Summariser:
    """Summary of one conversation; `update` with each line, oldest first, when it was heard."""

    def __init__(self, config: Config | None = None) -> None:
        self._config = config or Config()
        self.forget()

    def forget(self) -> None:
        """The next visitor inherits nothing."""
        self._facts: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        self._turns: list[tuple[str, str]] = []
        self._moods: list[str] = []

    @property
    def names(self) -> tuple[str, ...]:
        """Names that were mentioned: the visitor's and those of people."""
        spoken = [*self._facts['name'].values(), *self._facts['people'].values()]
        return tuple(word for text in spoken for word in text.split() if word[0].isupper() and word[-1] != '.')

    def update(self, line: Line) -> None:
        """This was said. Costs under a millisecond; long lines are looked at in part."""
        text = ' '.join(line.text[:LONGEST_LINE].split()).replace('’', "'")
        if not text or steers(text):
            return
        if line.role == 'visitor':
            self._hear(text)
            if line.emotion is not None and self._moods[-1:] != [line.emotion]:
                self._moods = [*self._moods, line.emotion][-MOODS:]
        else:
            self._answer(text)
        self._turns = [*self._turns, (line.role, quoted(text, LONGEST_TURN))][-max(self._config.turns, 1):]

    def text(self, language: str = 'en') -> str:
        """The summary, one fact or line a row, at most `tokens` of them; '' before anything was said.

        language: of the labels, BCP 47.
        """
        spoken = texts.base(language)
        words = _patterns()[spoken]['labels']
        turns = self._turns[-self._config.turns:] if self._config.turns else []
        left = self._config.tokens
        rows: list[str] = []
        allowed = left * FACTS_SHARE if turns else float(left)
        for kind, items in self._told(spoken):
            row = ''
            for item in items:  # the newest that fit
                longer = f'{row}; {item}' if row else f'{words[kind]}: {item}'
                if tokens(longer) <= min(left, allowed):
                    row = longer
            if row:
                rows.append(row)
                left -= tokens(row)
                allowed -= tokens(row)
        said: list[str] = []
        for role, line in reversed(turns):
            row = f'{words[role]}: "{line}"'
            if tokens(row) > left:
                break
            said.insert(0, row)
            left -= tokens(row)
        return '\n'.join([*rows, *said])

    def _told(self, language: str) -> Iterable[tuple[str, list[str]]]:
        """Each kind of fact with what is known, newest first, as it is told in a language of texts.LANGUAGES."""
        for kind, facts in self._facts.items():
            items = list(reversed(facts.values()))
            yield kind, items if kind in PLAIN else [f'"{item}"' for item in items]
            if kind == 'name' and self._moods:
                yield 'mood', [' > '.join(MANNERS[mood].feeling[language] for mood in self._moods)]

    def _hear(self, text: str) -> None:
        if _found('closes', text):
            self._facts['question'].clear()
        for sentence in _sentences(text):
            name = _name(sentence)
            if name:
                self._keep('name', name)
            for kind in ('loss', 'appointment', 'wish'):
                if not sentence.endswith('?') and _found(kind, sentence):
                    self._keep(kind, sentence)
                    break  # one row for one sentence
            if sentence.endswith('?') or _found('question', sentence):
                self._keep('question', sentence)
            for kind in ('people', 'place', 'time'):
                for found in _all(kind, sentence):
                    if kind != 'place' or not set(found.split()) & set(self.names):
                        self._keep(kind, found)

    def _answer(self, text: str) -> None:
        """Strikes out what the avatar's words answer: a plain statement that isn't a mere "the desk knows"."""
        stated = [sentence for sentence in _sentences(text) if not sentence.endswith('?')]
        if not stated or _found('defers', text):
            return
        answer = ' '.join(stated)
        for key, question in list(self._facts['question'].items()):
            if _stems(question) & _stems(answer) or _found('answers', answer):
                del self._facts['question'][key]

    def _keep(self, kind: str, text: str) -> None:
        fact = quoted(text.strip(' ,;:-'), LONGEST_FACT)
        if not fact:
            return
        facts, key = self._facts[kind], fact.lower()
        if any(key != other and key in other for other in facts) and kind == 'people':
            return  # "my sister" after "my sister Rosa" is no news
        for other in [other for other in facts if other in key and kind == 'people']:
            del facts[other]
        facts.pop(key, None)
        facts[key] = fact
        while len(facts) > KINDS[kind]:
            del facts[next(iter(facts))]


@cache
def _patterns() -> dict[str, dict[str, dict[str, str]]]:
    content: dict[str, dict[str, dict[str, str]]] = yaml.safe_load(texts.read('summary.yaml'))
    return content


@cache
def _compiled(kind: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of a kind in every language: a recogniser may name the wrong one."""
    return tuple(re.compile('|'.join(_patterns()[language]['patterns'][kind].splitlines()))
                 for language in texts.LANGUAGES)


def _found(kind: str, text: str) -> bool:
    return any(pattern.search(text) for pattern in _compiled(kind))


def _all(kind: str, text: str) -> list[str]:
    """What the patterns' group `fact`, or the whole of a match, holds; in the order said."""
    found = []
    for pattern in _compiled(kind):
        for match in pattern.finditer(text):
            found.append((match.start(), next((group for group in match.groups() if group), match.group())))
    return [text for _, text in sorted(found)]


def _name(sentence: str) -> str:
    """The name that the visitor introduces themselves by, or ''."""
    told = _all('name', sentence)
    plain = {word for base in texts.guard()['function words'].values() for word in base.split()}
    for words in told:
        if not {word.lower() for word in words.split()} & plain:
            return ' '.join(word[0].upper() + word[1:] for word in words.split())
    return ''


def _sentences(text: str) -> list[str]:
    """Sentences with their final sign; titles such as "Dr." end none."""
    return [part for part in ENDS.split(text) if part]


def _stems(text: str) -> set[str]:
    """Beginnings of the longer words, by which a question and its answer know each other."""
    return {word[:5] for word in re.findall(r'\w{4,}', text.lower())
            if word not in texts.guard()['function words']['en'] and not _found('question words', word)}
