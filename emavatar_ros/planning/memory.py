"""Empathy memory: past situations with replies that helped, found by meaning, as examples for the composer.

Three sources: the situations the project brings along (prompts/situations.en.json, written for it), those of this visit
in which the visitor's mood rose after the reply (in memory only, gone with `forget`), and, only where the operator
named a file, those of earlier visits without anything personal (`lasting`).

A situation is found by the sentence embedding of what was said together with its cause. The embedding knows English;
for other languages the memory has no examples and keeps nothing.

After: E3RG's empathy memory retrieval (Lin et al., 2025), which shows a model similar past situations; its code has no
memory and repeats the query as its own example, here neither the query nor anything nearly the same is returned.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.affect import CIRCUMPLEX
from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.labels import UNSURE
from emavatar_ros.errors import BadInput
from emavatar_ros.planning import texts
from emavatar_ros.planning.lasting import Lasting
from emavatar_ros.planning.manner import MANNERS
from emavatar_ros.planning.quoting import impersonal, personal, quoted
from emavatar_ros.planning.situation import SETTINGS, Situation
from emavatar_ros.planning.steering import steers
from emavatar_ros.settings import setting

LANGUAGES: Final = ('en',)
"""Languages the embedding knows."""
FEWEST_WORDS: Final = 3  # what is shorter ("no", "thank you") resembles everything a little
ALIKE: Final = 0.36
"""Cosine from which a situation is similar. The one that a paraphrase is of has 0.37 to 0.8; for sentences about other
things the nearest has 0.2 to 0.5: a loose likeness of the same feeling does no harm."""
SAME: Final = 0.8  # share of two sentences' words in common from which they are the same one: no example, a repetition
SAME_EMOTION: Final = 0.1  # added to the cosine where the emotion is the same
SAME_SETTING: Final = 0.03  # and where the kiosk stands in such a place
BETTER: Final = 0.1  # rise of the valence, of 2, that counts as a better mood; less is noise
VISIT: Final = 40  # situations of one visit that are kept

Array = NDArray[np.float32]
Embed = Callable[[str], Array]


@dataclass(frozen=True)
class Config:
    """Settings of the memory."""

    examples: int = setting(2, 'similar past situations that the language model is shown', low=0, high=6)
    place: str = setting('', 'where the kiosk stands: situations from such a place come first',
                         choices=('', *SETTINGS))
    file: str = setting('', 'SQLite file (*.sqlite) that keeps what helped beyond the visit, without names '
                        'and numbers; empty: nothing is kept')
    days: float = setting(30.0, 'after this long what was kept is deleted', unit='days', low=0.01, high=3650)


@dataclass(frozen=True)
class _Exchange:
    """A reply that was heard; the visitor's next mood tells whether it helped."""

    situation: Situation
    valence: float
    names: tuple[str, ...]


class Memory:
    """Used by one thread at a time, except `wipe`. The texts it returns are data: one line each, without markup."""

    def __init__(self, config: Config, embed: Embed, seeds: Sequence[Situation], vectors: Array,
                 lasting: Lasting | None = None) -> None:
        """embed: a text to a vector [width] of length 1; vectors: of the seeds' `content`, [n, width]; lasting: None
        keeps nothing beyond the visit."""
        self._config = config
        self._embed = embed
        self._seeds = (tuple(seeds), vectors)
        self._lasting = lasting
        self._visit: list[tuple[Situation, Array]] = []
        self._pending: _Exchange | None = None

    def similar(self, text: str, emotion: str, language: str = 'en', most: int | None = None) -> tuple[Situation, ...]:
        """The most similar past situations, best first; none when nothing is similar enough or the emotion is unsure.

        text: the visitor's words; emotion: a label or unsure: the same one is preferred, one of another valence never
        comes; language: BCP 47; most: how many at most, the setting's number unless told.
        """
        most = self._config.examples if most is None else most
        if most < 1 or emotion == UNSURE or not _known(language) or len(text.split()) < FEWEST_WORDS:
            return ()
        query = self._embed(text)
        items, vectors = self._everything()
        likeness = vectors @ query
        rank = likeness + np.array([self._preferred(item, emotion) for item in items], dtype=np.float32)
        found: list[Situation] = []
        for i in np.argsort(-rank):
            item = items[i]
            if rank[i] <= 0:
                break  # from here on another valence
            if likeness[i] >= ALIKE and not _same(item.said, text) and not _orders(item) and not any(
                    item.reply == other.reply or _same(item.said, other.said) for other in found):
                found.append(item)
                if len(found) == most:
                    break
        return tuple(found)

    def examples(self, text: str, emotion: str, language: str = 'en') -> tuple[texts.Example, ...]:
        """`similar` as exchanges to show a language model, the best last, next to the visitor's line."""
        return tuple(texts.Example(MANNERS[item.emotion].feeling[texts.base(language)], quoted(item.said),
                                   quoted(item.reply))
                     for item in reversed(self.similar(text, emotion, language)))

    def felt(self, estimate: Estimate) -> bool:
        """The visitor's mood at the next turn: whether the last reply helped, which is then remembered.

        It did when the valence is higher than before it; an unsure estimate tells nothing.
        """
        exchange, self._pending = self._pending, None
        if exchange is None or estimate.label == UNSURE or estimate.valence < exchange.valence + BETTER:
            return False
        helped = exchange.situation
        self._visit.append((helped, self._embed(content(helped))))
        del self._visit[:-VISIT]
        if self._lasting is not None:
            kept = _impersonal(helped, exchange.names)
            if kept is not None:
                self._lasting.add(kept, self._embed(content(kept)))
        return True

    def answered(self, text: str, estimate: Estimate, cause: str, reply: str, instruction: str, language: str = 'en',
                 names: Sequence[str] = ()) -> None:
        """The visitor heard this reply to these words. Not for care answers, which are fixed.

        cause: the chain of empathy's; names: those the visitor gave, which are kept out of what lasts.
        """
        self._pending = None
        if (_known(language) and estimate.label != UNSURE and len(text.split()) >= FEWEST_WORDS and reply.strip()
                and not steers(text)):
            situation = Situation(self._config.place, estimate.label, quoted(text), quoted(cause), quoted(reply),
                                  quoted(instruction))
            self._pending = _Exchange(situation, estimate.valence, tuple(names))

    def forget(self) -> None:
        """The visitor left; the next one inherits nothing."""
        self._visit.clear()
        self._pending = None

    def wipe(self) -> None:
        """Delete everything that was remembered of visitors, on disk too. Raises Unavailable when the file can't be
        written."""
        self.forget()
        if self._lasting is not None:
            self._lasting.wipe()

    def _everything(self) -> tuple[tuple[Situation, ...], Array]:
        """All situations with their vectors, [n, width]; what expired is not among them."""
        items, vectors = self._seeds
        learned = [*self._visit, *(self._lasting.read() if self._lasting is not None else ())]
        right = [(item, vector) for item, vector in learned if vector.shape == vectors.shape[1:]]
        if not right:
            return items, vectors
        return (*items, *(item for item, _ in right)), np.concatenate((vectors, np.stack([v for _, v in right])))

    def _preferred(self, item: Situation, emotion: str) -> float:
        """What is added to a situation's cosine; far below 0 for another valence."""
        if _side(item.emotion) != _side(emotion):
            return -10.0
        here = bool(item.setting) and item.setting == self._config.place
        return SAME_EMOTION * (item.emotion == emotion) + SAME_SETTING * here


def _known(language: str) -> bool:
    return language.split('-')[0].lower() in LANGUAGES


def _side(emotion: str) -> int:
    """-1 unpleasant, 1 pleasant, 0 neither: neutral, and surprise, which may be good or bad."""
    valence = CIRCUMPLEX[emotion][0]
    return 0 if abs(valence) < 0.3 else 1 if valence > 0 else -1


def _orders(item: Situation) -> bool:
    """Whether a kept row, which somebody else may have written, gives the avatar orders."""
    return steers(item.said) or steers(item.reply)


def _same(one: str, other: str) -> bool:
    """Whether two texts are nearly the same words."""
    a, b = (set(re.findall(r'\w+', text.lower())) for text in (one, other))
    return len(a & b) >= SAME * len(a | b)


def content(situation: Situation) -> str:
    """What a situation is found by: the words and their cause."""
    said, cause = situation.said, situation.cause
    return said if not cause or cause in said else f'{said} {cause[0].upper()}{cause[1:]}.'


def _impersonal(situation: Situation, names: Sequence[str]) -> Situation | None:
    """What may outlast the visit: setting, emotion, a cause without names and numbers, the reply; None when too little
    is left or the reply itself is personal."""
    cause = impersonal(situation.cause, names)
    told = [word for word in cause.split() if word != '…']
    if len(told) < FEWEST_WORDS or personal(situation.reply, situation.said, names):
        return None
    return Situation(situation.setting, situation.emotion, cause, cause, situation.reply, situation.instruction)


@cache
def seeds(language: str = 'en') -> tuple[Situation, ...]:
    """The situations that come with the project, in a language of LANGUAGES. BadInput says which entry is wrong."""
    name = f'situations.{language}.json'
    entries: list[dict[str, Any]] = json.loads(texts.read(name))
    made = []
    for number, entry in enumerate(entries, 1):
        try:
            made.append(Situation(**entry))
        except (TypeError, BadInput) as error:
            raise BadInput(f'{name}, entry {number}: {error}') from None
    return tuple(made)


def embedded(situations: Sequence[Situation], embed: Embed, folder: Path) -> Array:
    """Vectors of the situations, [n, width]: computed once and kept in `folder`, named by what they are of."""
    contents = [content(item) for item in situations]
    digest = hashlib.sha256(json.dumps(['minilm', contents]).encode()).hexdigest()[:16]
    path = folder / f'{digest}.npy'
    try:
        kept = np.load(path, allow_pickle=False)
        if kept.ndim == 2 and len(kept) == len(contents) and np.isfinite(kept).all():
            return np.asarray(kept, dtype=np.float32)
    except (OSError, ValueError, EOFError):
        pass  # not there yet, or damaged: made again
    vectors = np.stack([embed(text) for text in contents]).astype(np.float16)
    part = folder / f'{digest}.{os.getpid()}.part'
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open('wb') as out:
            np.save(out, vectors)
        part.replace(path)
    except OSError:  # a cache that can't be written: computed again at the next start
        with suppress(OSError):
            part.unlink()
    return vectors.astype(np.float32)


def create(config: Config, embed: Embed, folder: Path, clock: Callable[[], float] = time.time) -> Memory:
    """The memory with its situations. folder: keeps their vectors; clock: seconds since 1970."""
    known = seeds()
    lasting = Lasting(Path(config.file).expanduser(), config.days, clock) if config.file else None
    return Memory(config, embed, known, embedded(known, embed, folder), lasting)
