"""What is said when somebody seems to be in danger: a fixed, reviewed answer, no improvisation.

`danger` tells what the words are about; the answers are data (prompts/care.yaml), by kind, for the visitor and for
somebody else. A visitor stays in care for the turns after it: a "yes" or "I can't" is answered with help again, until
they say that it is over, change the subject, or TURNS have passed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Protocol

from emavatar_ros.planning import danger, texts
from emavatar_ros.planning.danger import Danger

TURNS: Final = 4
"""Turns after a care answer in which a short reply belongs to it."""
BODILY: Final = ('medical', 'threat')
"""Kinds that the emergency number is for; a help line for talking is named after it."""
AGAIN: Final = {'you': 'again', 'other': 'again other'}


class Reader(Protocol):
    """What finds danger in words beyond the patterns; see danger_head."""

    def find(self, text: str) -> Danger | None:
        """The most pressing danger, or None."""


@dataclass(frozen=True)
class Concern:
    """kind: one of danger.KINDS; text: what is said, in `language`; about: you or other; urgency: now or soon;
    confidence: 0 to 1; over: the visitor said that it is over, nobody need be called any more."""

    kind: str
    text: str
    language: str
    about: str = 'you'
    urgency: str = 'now'
    confidence: float = 1.0
    over: bool = False


@dataclass(frozen=True)
class Lines:
    """The operator's sentences. help: the local help line; emergency: whom to call when a life is in danger at this
    moment. Either may be given per language: "Call 988. | es: Llama al 024."; '': what prompts/care.yaml says."""

    help: str = ''
    emergency: str = ''

    def sentence(self, kind: str, language: str) -> str:
        """Whom to call, for a concern of this kind, in a language of texts.LANGUAGES."""
        told = _in(self.help, language)
        if kind not in BODILY:
            return told or str(texts.care()[language]['nohelp'])
        emergency = _in(self.emergency, language)
        if emergency:
            return emergency
        return ' '.join(filter(None, (str(texts.care()[language]['nohelp']), told)))


class Care:
    """Looks after one visitor; `forget` before the next one. Keeps the kind of danger, never words.

    reader: what finds danger beyond the patterns, or None.
    """

    def __init__(self, lines: Lines | None = None, reader: Reader | None = None) -> None:
        self._lines = lines or Lines()
        self._reader = reader
        self.forget()

    def forget(self) -> None:
        """The next visitor inherits nothing."""
        self._last: Danger | None = None
        self._left = 0

    @property
    def on(self) -> bool:
        """Whether a short reply would still belong to a care answer."""
        return self._left > 0

    def notice(self, text: str, language: str) -> Concern | None:
        """What `answer` would give, without remembering it."""
        return self._judge(text, language)[0]

    def answer(self, text: str, language: str) -> Concern | None:
        """What to say to the visitor's words when they are about danger, now or in the turns before; else None."""
        concern, self._last, self._left = self._judge(text, language)
        return concern

    def _judge(self, text: str, language: str) -> tuple[Concern | None, Danger | None, int]:
        spoken = texts.base(language)
        found = danger.find(text)
        last = self._last if self._left else None
        if found is None and last is not None:
            if _matches(text, 'done'):
                return replace(self._concern(last, 'resolved', spoken), over=True), None, 0
            if _matches(text, 'follow'):
                return self._concern(last, AGAIN[last.about], spoken), last, self._left - 1
        if found is None and self._reader is not None:
            found = self._reader.find(text)
        if found is None:
            return None, None, 0
        # The same words again would sound like a machine that does not listen.
        same = last is not None and (last.kind, last.about) == (found.kind, found.about) and self._left < TURNS
        return self._concern(found, AGAIN[found.about] if same else found.about, spoken), found, TURNS

    def _concern(self, found: Danger, form: str, spoken: str) -> Concern:
        answers = texts.care()[spoken]
        pattern = answers['resolved'] if form == 'resolved' else answers[found.kind][form]
        said = str(pattern).format(help=self._lines.sentence(found.kind, spoken))
        return Concern(found.kind, said, spoken, found.about, found.urgency, found.confidence)


def concern(text: str, language: str, help_line: str = '') -> Concern | None:
    """What to worry about in these words alone, by the patterns, or None."""
    return Care(Lines(help_line)).answer(text, language)


def _in(setting: str, language: str) -> str:
    """The part of an operator's setting for a language: "Call 988. | es: Llama al 024."; its first part serves for
    every other language."""
    plain, named = '', {}
    for part in filter(None, map(str.strip, setting.split('|'))):
        match = re.match(r'([a-z]{2}):\s+(.*)', part)
        if match:
            named[match.group(1)] = match.group(2)
        else:
            plain = plain or part
    return named.get(language) or plain or next(iter(named.values()), '')


def _matches(text: str, name: str) -> bool:
    """Whether patterns of one language are all that was said, clause by clause; nothing said is a reply too."""
    clauses = [clause for part in text.split(',') for clause in danger.plain(part).split(' . ') if clause]
    return any(all(_pattern(language, name).fullmatch(clause) for clause in clauses) and (clauses or name == 'follow')
               for language in texts.LANGUAGES)


@cache
def _pattern(language: str, name: str) -> re.Pattern[str]:
    return re.compile('|'.join(f'(?:{line.strip()})' for line in texts.care()[language][name].splitlines()))
