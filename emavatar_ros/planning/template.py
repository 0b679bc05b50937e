"""The composer that needs no model: reflective listening from patterns, in under a millisecond.

Names the feeling, uses the visitor's own words where they can be turned round correctly, asks one fitting next step.
What is picked follows from the turn's number, so that the same input gives the same reply and two turns in a row never
begin alike.
"""

from __future__ import annotations

import re

from emavatar_ros.emotion.labels import UNPLEASANT
from emavatar_ros.planning import texts
from emavatar_ros.planning.echo import echo


def compose(text: str, language: str, emotion: str, turn: int, last: str = '') -> tuple[str, ...]:
    """The reply's sentences: an opening and a next step.

    language: of texts.LANGUAGES; emotion: a label or unsure; turn: counts the turns of the conversation; last: the
    avatar's last reply, which is not begun again.
    """
    if text.strip() and emotion not in UNPLEASANT:
        for kind in ('greeting', 'information'):
            if re.search(texts.templates(language)[kind]['when'][0], text, re.IGNORECASE):
                answer = _pick(texts.templates(language)[kind]['open'], turn, last)
                return tuple(re.split(r'(?<=[.!?])\s+', answer))
    pattern = texts.templates(language)[emotion]
    if not text.strip():
        return tuple(re.split(r'(?<=[.!?])\s+', _pick(pattern['silent'], turn, last)))
    clause = echo(text, language)
    # Words of their own two times in three: an echo each time sounds like a parrot.
    if clause and (turn + len(text)) % 3 != 2:
        opening = _pick([item.format(echo=clause) for item in pattern['echo']], turn, last)
    else:
        opening = _pick(pattern['open'], turn, last)
    return opening[0].upper() + opening[1:], _pick(pattern['next'], turn + len(text), last)


def next_step(text: str, language: str, emotion: str, turn: int, last: str = '') -> str:
    """Only the second sentence: one question that fits the emotion."""
    return _pick(texts.templates(language)[emotion]['next'], turn + len(text), last)


def _pick(items: list[str], index: int, last: str) -> str:
    fresh = [item for item in items if item not in last] or items
    return fresh[index % len(fresh)]
