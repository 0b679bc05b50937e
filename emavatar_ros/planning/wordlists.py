"""The word lists by which a visitor's sentence is turned round (prompts/reflect.yaml)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

import yaml

from emavatar_ros.planning import texts

LONGEST: Final = 12
"""Words of a clause that is said back; more would be parroting."""


@dataclass(frozen=True)
class Words:
    """The word lists of one language; `table` is where a verb's first person becomes the second."""

    verbs: frozenset[str]
    thirds: frozenset[str]
    past: frozenset[str]
    auxiliaries: frozenset[str]
    adverbs: frozenset[str]
    starts: frozenset[str]
    dangling: frozenset[str]
    nouns: frozenset[str]
    feelings: frozenset[str]
    pleasant: frozenset[str]
    unpleasant: frozenset[str]
    stop: re.Pattern[str]
    harsh: re.Pattern[str]
    table: dict[str, str]


@cache
def lists(language: str) -> Words:
    """The word lists of a language of texts.LANGUAGES."""
    content: dict[str, str] = yaml.safe_load(texts.read('reflect.yaml'))[language]

    def some(name: str) -> frozenset[str]:
        return frozenset(content.get(name, '').split())

    def pattern(name: str) -> re.Pattern[str]:
        lines = '|'.join(content[name].splitlines())
        return re.compile(rf"(?<![\w'])(?:{lines})(?![\w'])", re.IGNORECASE)

    verbs, table = some('verbs'), {}
    if ';' in content['verbs']:
        pairs = [pair.split() for pair in content['verbs'].split(';')]
        table = dict(pairs)
        verbs = frozenset(table)
    thirds = some('others') or frozenset(_third(verb) for verb in verbs)
    return Words(verbs, thirds, some('past'), some('auxiliaries'), some('adverbs'), some('starts'), some('dangling'),
                 some('nouns'), some('feelings'), some('pleasant'), some('unpleasant'), pattern('stop'),
                 pattern('harsh'), table)


def _third(verb: str) -> str:
    """The English form after he, she and it."""
    if re.search(r'(?:s|x|z|ch|sh|[^aeiou]o)$', verb):
        return verb + 'es'
    return verb[:-1] + 'ies' if re.search(r'[^aeiou]y$', verb) else verb + 's'
