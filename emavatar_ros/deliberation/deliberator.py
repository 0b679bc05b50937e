"""The deliberation: candidates in, one estimate out, with the questions that were asked and why.

        candidates ─► fusion ─► conflict? ──no──► agreement ─► estimate
                                   │yes
                                   ▼
            ┌─► inspector asks ─► collector answers ─► judge weighs ─┐
            └──────────── up to `rounds`, until settled ◄────────────┘─► estimate

Fusion gives the prior and stands whatever happens after it: a role that is slow, silent or broken costs its round,
never the estimate. `steps` yields the belief after each stage: whoever has no more time takes the last one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from emavatar_ros.deliberation import cues, fusion, measured
from emavatar_ros.deliberation.conflict import RULES, conflicts
from emavatar_ros.deliberation.fusion import MISSING, Arbiter
from emavatar_ros.deliberation.reasons import because
from emavatar_ros.deliberation.roles import Case, Left, Roles, Seen
from emavatar_ros.emotion.affect import valence_arousal
from emavatar_ros.emotion.candidate import Estimate, Exchange
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import UNSURE
from emavatar_ros.errors import EmavatarError
from emavatar_ros.settings import setting


@dataclass(frozen=True)
class Config:
    """Settings of the deliberation."""

    rule: str = setting('labels', 'when views conflict: labels (they name different emotions) or divergence',
                        choices=RULES)
    divergence: float = setting(0.1, 'with the rule divergence: distributions further apart than this conflict',
                                unit='nat', low=0.0, high=2.0)
    rounds: int = setting(2, 'questions asked at most', low=0, high=8)
    settled: float = setting(0.97, 'an emotion this likely after an answer needs no further question', low=0.5,
                             high=1.0)
    doubt: float = setting(3.0, 'views that agree are questioned all the same when all that was measured is this much '
                           'more likely under another emotion', unit='nat', low=0.0, high=50.0)
    budget: float = setting(0.8, 'after this time the best belief so far is published, marked provisional', unit='s',
                            low=0.01, high=60.0)
    patience: float = setting(3.0, 'questions and answers that take longer together are given up', unit='s', low=0.01,
                              high=120.0)


class Deliberator:
    """Decides about one utterance at a time; remembers nothing (see belief.py)."""

    def __init__(self, config: Config | None = None, fused: fusion.Config | None = None, roles: Roles | None = None,
                 clock: Callable[[], float] = time.monotonic) -> None:
        """roles: who asks, answers and weighs; measured.py's unless given. clock: seconds."""
        self._config = config or Config()
        self._fusion = Arbiter(fused)
        self._roles = roles or measured.create()
        self._cues = cues.load()
        self._clock = clock

    @property
    def pictures(self) -> int:
        """How many pictures of an utterance it looks at, besides listening; 0 where measuring is enough."""
        return self._roles.pictures

    def decide(self, case: Case) -> Estimate:
        """The estimate at the end of the deliberation, or when its time is over."""
        *_, last = self.steps(case)
        return last

    def steps(self, case: Case) -> Iterator[Estimate]:
        """The estimate after fusion, then after each answer: each better than the one before, the last one final."""
        first = self._fusion.decide(case.candidates, case.history)
        yield first
        if first.method == 'none' or self._config.rounds == 0:
            return
        conflict = conflicts(case.candidates, self._config.rule, self._config.divergence)
        if not conflict and not self._doubted(case, first):
            return
        end = self._clock() + self._config.patience

        def left() -> float:
            return end - self._clock()

        seen = Seen(case.candidates, self._fusion.prior(case.candidates, as_one=not conflict), case.text, case.history)
        for _ in range(self._config.rounds):
            answered = self._round(seen, case, left)
            if answered is None:
                return
            seen, believed = answered
            yield self._estimate(seen, believed, conflict)
            if believed.confidence >= self._config.settled:
                return

    def _round(self, seen: Seen, case: Case, left: Left) -> tuple[Seen, Distribution] | None:
        """One question, its answer, and what is believed then; None when there is none of them in time."""
        try:
            if left() <= 0:
                return None
            question = self._roles.inspector.ask(seen, self._roles.collector.offers(case), left)
            if question is None or left() <= 0:
                return None
            answer = self._roles.collector.answer(question, case, left)
            if answer is None or left() <= 0:
                return None
            seen = seen.after(answer)
            return seen, self._roles.judge.weigh(seen, case, left)
        except EmavatarError:
            return None  # a server that is away: what is believed so far stands

    def _doubted(self, case: Case, agreed: Estimate) -> bool:
        """True when what was measured speaks clearly against an agreement."""
        told = self._cues.log_likelihood(case.measured)
        return float(told.max() - told[int(np.argmax(agreed.distribution.array))]) > self._config.doubt

    def _estimate(self, seen: Seen, believed: Distribution, conflict: bool) -> Estimate:
        likeliest, sure = self._fusion.choose(believed)
        label = likeliest if sure else UNSURE
        confidence = believed[likeliest] * MISSING.get(sum(not item.abstains for item in seen.candidates), 1.0)
        valence, arousal = valence_arousal(believed)
        questions = tuple(Exchange(number, item.question.text, item.answer, item.source)
                          for number, item in enumerate(seen.rounds, 1))
        return Estimate(label, confidence, believed, valence, arousal, conflict, self._roles.name,
                        because(label, seen, self._cues), questions)


def create(config: Config | None = None, fused: fusion.Config | None = None, roles: Roles | None = None) -> Deliberator:
    """A deliberator; `roles` of a backend."""
    return Deliberator(config, fused, roles)


