"""Tells from a visitor's words whether somebody is in danger: patterns, and a small classifier beside them.

The patterns are data (prompts/danger.<language>.yaml), every language's at once: a recogniser may name the wrong one.
They find what is said in usual ways. What is said in others, English only, a classifier over MiniLM's layers may find
(danger_head); without its weights the patterns work alone.

Four kinds: `medical` (an emergency of the body), `self_harm`, `abuse` (violence by somebody near, also against a
child) and `threat` (somebody here may be hurt: a weapon, an attack, a fire, or violence that the visitor announces).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import yaml

from emavatar_ros.planning import texts

KINDS: Final = ('medical', 'self_harm', 'abuse', 'threat')
"""Most pressing first: where several are found, the first is answered."""
ABOUT: Final = ('you', 'other')
UNLESS_TOLD: Final = ' unless told'


@dataclass(frozen=True)
class Danger:
    """kind: one of KINDS; about: you (the visitor) or other (somebody else); urgency: now, or soon (nothing says that
    it happens at this moment); confidence: 0 to 1."""

    kind: str
    about: str
    urgency: str = 'now'
    confidence: float = 1.0


def find(text: str) -> Danger | None:
    """The most pressing danger that patterns find in the words, or None."""
    for signs in (_signs(language) for language in texts.LANGUAGES):
        found = signs.find(text)
        if found is not None:
            return found
    return None


def harmless(text: str) -> bool:
    """Whether the words have a figure of speech ("dying of boredom") or are about a film, a book, the past."""
    return any(signs.harmless(text) for signs in (_signs(language) for language in texts.LANGUAGES))


class Signs:
    """The patterns of one language, from the content of its file."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._words: dict[str, str] = {}
        for name, pattern in content['words'].items():
            self._words[name] = self._filled(pattern.strip())
        self._spelling = [(re.compile(rf'\b(?:{wrong})\b'), right) for wrong, right in content['spelling'].items()]
        self._idioms = self._any(content['idioms'])
        self._told = self._any(content['told'])
        self._now = self._any(content['now'])
        self._first = self._any(content['first person'])
        self._third = self._any(content['third person'])
        self._patterns = {(kind, about, told): self._any(content[kind][about + told])
                          for kind in KINDS for about in ABOUT for told in ('', UNLESS_TOLD)
                          if about + told in content[kind]}

    def find(self, text: str) -> Danger | None:
        """The most pressing danger that the patterns find, or None."""
        words = self._idioms.sub(' _ ', self._plain(text))
        sentences = words.split(' . ')
        happening = ' . '.join(sentence for sentence in sentences if not self._told.search(sentence))
        # A recogniser puts full stops where a breath was.
        forms = (words, words.replace(' . ', ' '))
        for (kind, about, told), pattern in self._patterns.items():
            if any(pattern.search(form) for form in ((happening,) if told else forms)):
                if (kind in ('medical', 'self_harm') and about == 'you' and self._third.search(words)
                        and not self._first.search(words)):
                    about = 'other'
                pressing = kind in ('medical', 'threat') or self._now.search(words)
                return Danger(kind, about, 'now' if pressing else 'soon')
        return None

    def harmless(self, text: str) -> bool:
        """Whether an idiom or a word for something that is only told about is there."""
        words = self._plain(text)
        return bool(self._idioms.search(words) or self._told.search(words))

    def _plain(self, text: str) -> str:
        words = plain(text)
        for wrong, right in self._spelling:
            words = wrong.sub(right, words)
        return words

    def _filled(self, pattern: str) -> str:
        return re.sub(r'<(\w+)>', lambda match: self._words[match.group(1)], pattern)

    def _any(self, lines: str) -> re.Pattern[str]:
        return re.compile('|'.join(rf'\b(?:{self._filled(line.strip())})(?!\w)' for line in lines.splitlines()))


def plain(text: str) -> str:
    """Lower case, no accents (but ñ), no apostrophes nor other marks, " . " between sentences, no letter thrice."""
    folded = unicodedata.normalize('NFD', text.lower().replace('ñ', '\0'))
    bare = ''.join(c for c in folded if not unicodedata.combining(c)).replace('\0', 'ñ')
    bare = re.sub(r"['’`´]", '', bare)
    bare = re.sub(r'([a-zñ])\1{2,}', r'\1', bare)
    sentences = (' '.join(re.sub(r'[\W_]', ' ', part).split()) for part in re.split(r'[.!?;:…¡¿\n]+', bare))
    return ' . '.join(filter(None, sentences))


@cache
def _signs(language: str) -> Signs:
    return Signs(yaml.safe_load(texts.read(f'danger.{language}.yaml')))


def warm_up() -> None:
    """Read the patterns, so that the first visitor doesn't wait."""
    find('hello')


