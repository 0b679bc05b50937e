"""Whether a visitor's words try to give the avatar orders about itself: "ignore your rules", "you are now ...".

Such words never reach the language model. The patterns are data (prompts/steering.yaml), every language's at once.
Rules of a museum, instructions of a coffee machine and a noise to be ignored are no orders.
"""

from __future__ import annotations

import re
from functools import cache

import yaml

from emavatar_ros.planning import texts
from emavatar_ros.planning.danger import plain


def steers(text: str, before: str = '') -> bool:
    """Whether `text` gives the avatar orders about itself, alone or as the second half of what began in `before`, the
    visitor's turn before it."""
    marks, words = _patterns()
    if marks.search(text) or words.search(_plain(text)):
        return True
    first = _plain(before)
    joined = f'{first} {_plain(text)}'
    return bool(first) and any(match.start() < len(first) < match.end() for match in words.finditer(joined))


def _plain(text: str) -> str:
    return plain(text).replace(' . ', ' ')


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Marks in the text as it stands, and words in the text made plain (danger.plain)."""
    content = yaml.safe_load(texts.read('steering.yaml'))
    words = [line.strip() for language in texts.LANGUAGES for line in content[language].splitlines()]
    return (re.compile('|'.join(content['marks'].splitlines()), re.IGNORECASE),
            re.compile('|'.join(rf'\b(?:{line})\b' for line in words)))
