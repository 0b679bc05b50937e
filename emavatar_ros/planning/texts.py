"""Reads the text files in `prompts/`: the model's instructions with their examples, templates, care answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

import yaml

from emavatar_ros.errors import BadInput

LANGUAGES: Final = ('en', 'es')
"""Languages with texts of their own; the first serves for every other."""


@dataclass(frozen=True)
class Example:
    """One exchange shown to the model: what was felt (as `manner.hint` says it), what was said, what is answered."""

    feeling: str
    visitor: str
    avatar: str


@dataclass(frozen=True)
class Prompt:
    """How the model is told to answer: after the avatar's persona `system`, then the examples."""

    system: str
    examples: tuple[Example, ...]


def read(name: str) -> str:
    """A file of the prompts folder as text."""
    return (resources.files('emavatar_ros') / 'prompts' / name).read_text(encoding='utf-8')


def base(language: str) -> str:
    """The language of LANGUAGES whose texts serve for a BCP 47 tag."""
    short = language.split('-')[0].lower()
    return short if short in LANGUAGES else LANGUAGES[0]


@cache
def prompt(language: str) -> Prompt:
    """The composer's prompt in a language of LANGUAGES; BadInput names the file and section that is wrong."""
    name = f'composer.{language}.txt'
    sections: list[tuple[str, str]] = []
    for line in read(name).splitlines():
        if line.startswith('#'):
            continue
        if line.startswith('[') and line.endswith(']'):
            sections.append((line[1:-1], ''))
        elif sections:
            head, text = sections[-1]
            sections[-1] = (head, f'{text} {line}'.strip())
    if not sections or sections[0][0] != 'system':
        raise BadInput(f'{name} must begin with [system]')
    examples = []
    rest = sections[1:]
    for (asked, visitor), (answered, avatar) in zip(rest[::2], rest[1::2], strict=True):
        if not asked.startswith('visitor ') or answered != 'avatar' or not visitor or not avatar:
            raise BadInput(f'{name}: [{asked}] must be a [visitor FEELING] with words, then an [avatar] with words')
        examples.append(Example(asked.removeprefix('visitor '), visitor, avatar))
    return Prompt(sections[0][1], tuple(examples))


@cache
def templates(language: str) -> dict[str, dict[str, list[str]]]:
    """Template patterns of a language of LANGUAGES: by emotion (and unsure) lists named open, echo, next, event,
    silent; what serves every emotion (heard, about, brief, question) and what has an answer of its own."""
    content: dict[str, dict[str, list[str]]] = yaml.safe_load(read(f'templates.{language}.yaml'))
    return content


@cache
def earlier(language: str) -> dict[str, str]:
    """How a language model is told, in a language of LANGUAGES, what was said earlier: `said` goes before the summary,
    `noted` is its answer."""
    content: dict[str, dict[str, dict[str, str]]] = yaml.safe_load(read('summary.yaml'))
    return content[language]['earlier']


@cache
def acknowledgements(language: str) -> dict[str, list[str]]:
    """What is said at once in a language of LANGUAGES: by emotion (and unsure)."""
    content: dict[str, dict[str, list[str]]] = yaml.safe_load(read('acknowledgements.yaml'))
    return content[language]


@cache
def care() -> dict[str, dict[str, Any]]:
    """Care answers: by language, by concern, `patterns` and `text`."""
    content: dict[str, dict[str, Any]] = yaml.safe_load(read('care.yaml'))
    return content


@cache
def guard() -> dict[str, dict[str, str]]:
    """What is never said: by reason, by language, patterns one a line; and the function words of each language."""
    content: dict[str, dict[str, str]] = yaml.safe_load(read('guard.yaml'))
    return content
