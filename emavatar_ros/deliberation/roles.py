"""The three roles of EmAvatar's deliberation (section 3 of the paper), and what passes between them.

The inspector sees the candidates and the questions answered so far and asks one question that tells the disputed
emotions apart; the collector answers it from the input; the judge (the paper's arbiter) weighs candidates, answers and
input. A backend is a file in this room with `Config` and `create(config) -> Roles`. Roles keep nothing between calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.deliberation.cues import Measured, Question
from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.history import Line
from emavatar_ros.media.audio import Audio


@dataclass(frozen=True)
class Round:
    """A question and its answer. answer: one sentence or some; source: voice, face or words; measured: the figures
    behind it, none where a model only looked and listened."""

    question: Question
    answer: str
    source: str
    measured: tuple[Measured, ...] = ()


@dataclass(frozen=True)
class Seen:
    """What inspector and judge see. prior: what the candidates alone make likely."""

    candidates: tuple[Candidate, ...]
    prior: Distribution
    text: str = ''
    history: tuple[Line, ...] = ()
    rounds: tuple[Round, ...] = ()

    def after(self, round: Round) -> Seen:
        """The same with one more answer."""
        return replace(self, rounds=(*self.rounds, round))


@dataclass(frozen=True)
class Case:
    """One utterance as it came in: candidates of the views (abstaining ones included), the words, what was said before,
    everything that could be measured, and sound and pictures (uint8 [h, w, 3] RGB) where a model can take them."""

    candidates: tuple[Candidate, ...]
    text: str = ''
    history: tuple[Line, ...] = ()
    measured: tuple[Measured, ...] = ()
    audio: Audio | None = None
    pictures: tuple[NDArray[np.uint8], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, candidates: Iterable[Candidate], text: str = '', history: Sequence[Line] = (),
           audio: Audio | None = None, pictures: Sequence[NDArray[np.uint8]] = ()) -> Case:
        """A case whose measurements are those that the candidates carry."""
        given = tuple(candidates)
        measured = tuple(Measured(item.view, name, float(value), '') for item in given
                         for name, value in item.measures.items() if np.isfinite(value))
        return cls(given, text, tuple(history), measured, audio, tuple(pictures))


Left = Callable[[], float]
"""Seconds that are left for an answer; asked when one begins to wait."""


class Inspector(Protocol):
    """Asks one discriminative question at a time."""

    def ask(self, seen: Seen, offered: frozenset[str], left: Left) -> Question | None:
        """The next question, or None when none would tell. offered: the cues that the collector can measure."""
        ...


class Collector(Protocol):
    """Answers from the input."""

    def offers(self, case: Case) -> frozenset[str]:
        """The cues it can measure in this case."""
        ...

    def answer(self, question: Question, case: Case, left: Left) -> Round | None:
        """The answer, or None when there is none."""
        ...


class Judge(Protocol):
    """Weighs everything seen."""

    def weigh(self, seen: Seen, case: Case, left: Left) -> Distribution:
        """How likely each emotion is now. It may look at the case's words, sound and pictures, not at what was measured
        and not asked for."""
        ...


@dataclass(frozen=True)
class Roles:
    """The three of one backend. name: how the estimate's method is called; pictures: how many of an utterance it looks
    at, 0 where it neither looks nor listens itself."""

    name: str
    inspector: Inspector
    collector: Collector
    judge: Judge
    pictures: int = 0


def disputed(seen: Seen) -> Sequence[str]:
    """The labels that the views said, each once, in the order of the candidates."""
    return list(dict.fromkeys(item.label for item in seen.candidates if item.label))
