"""What the language model is asked, and its answer taken apart into spoken parts.

The model writes only the words. The beginning of every conversation (persona, rules, examples) is the same, so a
backend keeps it computed; what a turn adds is the visitor's line with the feeling in brackets, 15 to 40 tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.labels import UNSURE
from emavatar_ros.errors import Unavailable
from emavatar_ros.history import Line
from emavatar_ros.models.llm import Limits, Llm, Message, Request
from emavatar_ros.planning import clean, texts
from emavatar_ros.planning.manner import MANNERS, hint

LONGEST: Final = 300  # characters of a visitor's line that the model sees
MOST: Final = 12
"""Exchanges of the history that the model sees at most. They cost nothing as long as they stay: they are still in its
memory. After a drop the rest has to be read again, a second or so for each exchange on two cores."""
ROOM: Final = 1800  # characters of them at most
FEWEST: Final = 2  # exchanges that stay when the older ones are dropped
STOP: Final = ('\n\n', '[', '<|')
NAMES: Final = {'fr': 'French', 'de': 'German', 'it': 'Italian', 'pt': 'Portuguese', 'nl': 'Dutch', 'pl': 'Polish',
                'zh': 'Chinese', 'ja': 'Japanese', 'ko': 'Korean', 'ru': 'Russian', 'hi': 'Hindi', 'ar': 'Arabic'}
"""Languages the model can be asked for, beyond those with texts of their own."""


@dataclass(frozen=True)
class Known:
    """What the model is told beyond persona and history. examples: past situations like this one, with replies that
    helped; summary: what was said before the exchanges that it still sees, '' for nothing."""

    examples: tuple[texts.Example, ...] = ()
    summary: str = ''


NOTHING: Final = Known()


def speaks(language: str) -> bool:
    """Whether the model is asked to answer in this language (BCP 47)."""
    short = language.split('-')[0].lower()
    return short in texts.LANGUAGES or short in NAMES


def prefix(persona: str, language: str) -> tuple[Message, ...]:
    """How every conversation in this language begins."""
    prompt = texts.prompt(texts.base(language))
    messages = [Message('system', f'{" ".join(persona.split())}\n\n{prompt.system}')]
    for example in prompt.examples:
        messages += [Message('user', f'{example.visitor} [{example.feeling}]'), Message('assistant', example.avatar)]
    return tuple(messages)


def line(text: str, feeling: str) -> str:
    """A visitor's line as the model sees it: one line, without anything that looks like markup or a role."""
    text = re.sub(r'<\|[^|]*\|?>?', ' ', text)
    text = re.sub(r'[\[\]{}<>|`]|^\s*\w{4,10}\s*:(?=\s)', ' ', text)
    return f'{" ".join(text.split())[-LONGEST:]} [{feeling}]'


def conversation(persona: str, text: str, language: str, estimate: Estimate, history: Sequence[Line],
                 known: Known = NOTHING) -> tuple[Message, ...]:
    """All messages for one turn: the kept beginning, what is known beyond the history, the last exchanges, the
    visitor's line."""
    messages = beginning(persona, language, history, known)
    return (*messages, Message('user', line(text, feeling(estimate, language))))


def revised(messages: tuple[Message, ...], plan: str) -> tuple[Message, ...]:
    """The same question with what to do otherwise this time; only the end of its last line is new to the model."""
    last = messages[-1]
    told = re.sub(r'[\[\]]', ' ', plan)
    return (*messages[:-1], Message(last.role, f'{last.content.removesuffix("]")}; {told}]'))


def beginning(persona: str, language: str, history: Sequence[Line], known: Known = NOTHING) -> tuple[Message, ...]:
    """A turn's messages but for the visitor's line; all but `known.examples` is there before the turn begins.

    Those come before the conversation, after the examples that every conversation begins with: next to the visitor's
    line the model would take another person's violin for this one's.
    """
    messages = list(prefix(persona, language))
    for example in known.examples:
        messages += [Message('user', line(example.visitor, example.feeling)), Message('assistant', example.avatar)]
    if known.summary:
        told = texts.earlier(texts.base(language))
        messages += [Message('user', f'{told["said"]}\n{known.summary}'), Message('assistant', told['noted'])]
    return (*messages, *_exchanges(_kept(history), language))


def dropped(history: Sequence[Line]) -> int:
    """How many exchanges of the history the model does not see any more."""
    return len(_pairs(history)) - len(_kept(history))


def feeling(estimate: Estimate, language: str) -> str:
    """What the model is told in brackets: the feeling, and the language when it has no texts of its own."""
    short = language.split('-')[0].lower()
    asked = f'; answer in {NAMES[short]}' if short in NAMES else ''
    return hint(estimate, language) + asked


def _pairs(history: Sequence[Line]) -> list[tuple[Line, Line]]:
    """The exchanges, each a visitor's line and the avatar's; lines without an answer are left out."""
    return [(before, after) for before, after in pairwise(history) if before.role == 'visitor'
            and after.role == 'avatar' and before.text.strip() and after.text.strip()]


def _kept(history: Sequence[Line]) -> list[tuple[Line, Line]]:
    """The last exchanges, those that the model sees."""
    kept: list[tuple[Line, Line]] = []
    for pair in _pairs(history):
        kept.append(pair)
        size = sum(min(len(line.text), LONGEST) for both in kept for line in both)
        if len(kept) > MOST or size > ROOM:
            kept = kept[-FEWEST:]
    return kept


def _exchanges(kept: Sequence[tuple[Line, Line]], language: str) -> list[Message]:
    """Exchanges as the model sees them."""
    messages = []
    for asked, answered in kept:
        known = MANNERS[asked.emotion if asked.emotion in MANNERS else UNSURE].feeling[texts.base(language)]
        messages += [Message('user', line(asked.text, asked.feeling or known)),
                     Message('assistant', answered.text[:LONGEST])]
    return messages


class Late(Unavailable):
    """The model gave words, but no part that can be spoken in time."""


def parts(llm: Llm, messages: tuple[Message, ...], limits: Limits, late: Callable[[], bool], *, max_tokens: int,
          temperature: float, seed: int) -> Generator[str, None, None]:
    """The answer's spoken parts, each as soon as it is whole. Closing stops the model; raises as `Llm.stream` does, and
    Late as soon as a piece comes when it is `late` for the first part.

    A model that resumes rests after the first part until the next one is asked for: the voice, which then has its first
    sound to make, is twice as fast alone. The limits hold for each of its two runs.
    """
    first = ''
    with closing(llm.stream(Request(messages, max_tokens, temperature, seed, STOP), limits)) as stream:
        for part in clean.beats(_hurried(stream, late)):
            if llm.resumes:
                first = part
                break
            yield part
    if first:
        yield first
        told = (*messages, Message('assistant', first))
        with closing(llm.stream(Request(told, max_tokens, temperature, seed, STOP), limits)) as stream:
            yield from clean.beats(stream, most=clean.MOST - 1, clause_words=0)


def _hurried(stream: Iterable[str], late: Callable[[], bool]) -> Iterator[str]:
    for piece in stream:
        if late():
            raise Late('the language model gave no part that can be spoken in time')
        yield piece
