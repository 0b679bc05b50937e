"""Signs that a visitor is in danger: a fixed, reviewed answer, no improvisation.

Patterns over the words in every language at once (a recogniser may name the wrong one). They find what is said plainly;
what is only hinted at is beyond them.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from emavatar_ros.planning import texts


@dataclass(frozen=True)
class Concern:
    """kind: self_harm, abuse or medical; text: what is said, in `language`."""

    kind: str
    text: str
    language: str


def concern(text: str, language: str, help_line: str = '') -> Concern | None:
    """What to worry about in the visitor's words, most pressing first, or None.

    help_line: the operator's sentence with a number to call; without one the emergency number and staff are named.
    """
    folded = _fold(text)
    for kind in ('medical', 'self_harm', 'abuse'):
        for found in texts.LANGUAGES:
            if _pattern(found, kind).search(folded):
                spoken = texts.base(language)
                answer = texts.care()[spoken]
                helping = help_line.strip() or answer['nohelp']
                return Concern(kind, answer[kind]['text'].format(help=helping), spoken)
    return None


@cache
def _pattern(language: str, kind: str) -> re.Pattern[str]:
    patterns = texts.care()[language][kind]['patterns'].splitlines()
    return re.compile('|'.join(f'(?:{pattern})' for pattern in patterns), re.IGNORECASE)


def _fold(text: str) -> str:
    """Lower case, no accents, plain apostrophes, single spaces."""
    bare = ''.join(c for c in unicodedata.normalize('NFD', text.replace('’', "'")) if not unicodedata.combining(c))
    return ' '.join(bare.lower().split())
