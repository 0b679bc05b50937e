"""The composer that needs no model: reflective listening from patterns, in under a millisecond.

Names the feeling lightly, says back the visitor's own words where they can be turned round correctly (a reason before
all), asks or offers one fitting next step. What is picked follows from the words and the turn's number,
so that the same
input gives the same reply; what the avatar said last is neither begun again nor asked again.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Final

from emavatar_ros.emotion.labels import UNPLEASANT
from emavatar_ros.planning import guard, reflect, texts

ALWAYS: Final = ('identity', 'ability', 'goodbye')
CALM: Final = ('greeting', 'thanks', 'wellbeing', 'information')
"""What has an answer of its own, whatever is felt, and what has one only while nothing weighs on the visitor."""
CAUSES: Final = {'en': ('the ', 'they ', 'somebody ', 'someone ', 'nobody '),
                 'es': ('el ', 'la ', 'los ', 'las ', 'nadie ')}
"""How a clause begins that tells what others did."""


def warm_up(languages: Sequence[str] = texts.LANGUAGES) -> None:
    """Read the patterns and word lists of these languages of texts.LANGUAGES: the first reply is as fast as any."""
    for language in languages:
        compose('I lost my keys. Perdí mis llaves.', language, 'sad', 0)


def compose(text: str, language: str, emotion: str, turn: int, last: str = '', cause: str = '') -> tuple[str, ...]:
    """The reply's sentences: an opening, perhaps the visitor's words before it, and a next step.

    language: of texts.LANGUAGES; emotion: a label or unsure; turn: counts the turns of the conversation; last: the
    avatar's last reply, which is not begun again; cause: the visitor's words for why they feel so, where known.
    """
    patterns = texts.templates(language)
    seed = zlib.crc32(f'{turn}|{" ".join(text.lower().split())}'.encode())
    if not text.strip():
        return _sentences(_pick(patterns[emotion]['silent'], turn, last))
    for kind in ALWAYS if emotion in UNPLEASANT else (*ALWAYS, *CALM):
        if _when(language, kind).search(text):
            return _sentences(_pick(patterns[kind]['open'], turn, last))
    steps = patterns[emotion]['next']
    if _when(language, 'brief').search(text):
        return _pick(patterns['brief']['open'], turn, last), _pick(steps, seed >> 16, last)
    clause = next(filter(None, (reflect.reflect(words, language) for words in (cause, text) if words)), None)
    if clause and not reflect.fits(clause, language, emotion):
        clause = None
    if clause and reflect.addresses(clause, language) and not reflect.names_feeling(clause, language):
        steps = [*steps, *patterns[emotion].get('event', ())]
    return *_opening(text, language, emotion, seed, last, clause), _pick(steps, seed >> 16, last)


def next_step(text: str, language: str, emotion: str, turn: int, last: str = '') -> str:
    """Only the last sentence: one step that fits the emotion."""
    return _pick(texts.templates(language)[emotion]['next'], turn + len(text), last)


def _opening(text: str, language: str, emotion: str, seed: int, last: str, clause: str | None) -> tuple[str, ...]:
    """What comes before the next step; clause: the visitor's words turned round, where they can be used."""
    patterns = texts.templates(language)
    plain = _pick(patterns[emotion]['open'], seed, last)
    how = seed % 7  # words of their own six times in seven: an echo each time sounds like a parrot
    if clause and how:
        told = reflect.names_feeling(clause, language)
        # A feeling is tied only to what may cause it: what happened to the visitor, or what others did.
        whole = how > 2 and not told and (reflect.addresses(clause, language) or clause.startswith(CAUSES[language]))
        frames = patterns[emotion if whole else 'heard']['echo']
        if (echoed := _fill(frames, 'echo', clause, seed >> 8, last)) and _fit(echoed, text, language, emotion, last):
            return (echoed,) if whole or told else (echoed, plain)
    thing = reflect.topic(text, language)
    if thing and how:
        return _fill(patterns['about']['echo'], 'topic', thing, seed >> 8, last), plain
    if text.rstrip().endswith('?') and emotion not in UNPLEASANT | {'happy'}:
        return (_pick(patterns['question']['open'], seed >> 8, last),)
    return (plain,)


def _fit(sentence: str, text: str, language: str, emotion: str, last: str) -> bool:
    """Whether the guard lets the visitor's words pass in the avatar's mouth."""
    return guard.fault(sentence, language=language, emotion=emotion, visitor=text, said=last) is None


@cache
def _when(language: str, kind: str) -> re.Pattern[str]:
    return re.compile(texts.templates(language)[kind]['when'][0], re.IGNORECASE)


def _sentences(answer: str) -> tuple[str, ...]:
    return tuple(re.split(r'(?<=[.!?])\s+', answer))


def _fill(frames: list[str], name: str, words: str, index: int, last: str) -> str:
    """A frame with the visitor's words in it."""
    capital = words[0].upper() + words[1:]
    filled = [frame.format(**{name: words, name.capitalize(): capital}) for frame in frames]
    return _pick([item for item in filled if not re.search(r'\b(\w+) \1\b', item)] or filled, index, last)


def _pick(items: list[str], index: int, last: str) -> str:
    """One of the items that neither begins nor ends as the last reply did, nor was in it."""
    begun, ended = _edge(last)
    fresh = [item for item in items if item not in last and _edge(item)[0] != begun
             and (not ended or not item.endswith(ended))]
    fresh = fresh or [item for item in items if item not in last] or items
    return fresh[index % len(fresh)]


def _edge(text: str) -> tuple[str, str]:
    """The first two words, and the last clause of the first sentence, by which a pattern is known."""
    first = re.match(r'[^.!?]*[.!?]?', text.strip('¡¿ '))
    tail = re.search(r'[,;:] [^,;:]{6,}$', first.group() if first else '')
    return ' '.join(re.findall(r"[\w']+", text.lower())[:2]), tail.group() if tail else ''
