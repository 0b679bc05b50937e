"""Deliberation without a model: measured cues, the question that tells most, and Bayes' rule. The default.

The inspector asks the question with the largest expected information gain about the emotion: how much less uncertain
the judge will be on average, over the answers that the cues' table makes likely. The collector reads the figures. The
judge multiplies what the candidates make likely with the likelihood of what was measured. Milliseconds, no weights,
deterministic; the order of candidates and of evidence changes nothing. See cues.py for the table and its sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.deliberation import cues
from emavatar_ros.deliberation.cues import Cues, Question
from emavatar_ros.deliberation.roles import Case, Left, Roles, Round, Seen
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.settings import setting

DRAWS: Final = 48
"""Answers imagined for each emotion and question."""
UNLIKELY: Final = 0.02
"""An emotion less likely than this is not imagined."""
LEAST: Final = 1e-4

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Config:
    """Settings of the measured deliberation."""

    gain: float = setting(0.02, 'a question that is expected to tell less than this is not asked', unit='nat', low=0.0,
                          high=2.0)


class Measuring:
    """All three roles; stateless."""

    def __init__(self, config: Config, table: Cues) -> None:
        self._config = config
        self._table = table

    def ask(self, seen: Seen, offered: frozenset[str], left: Left) -> Question | None:
        """The question with the largest expected gain; of equals the first of the table."""
        asked = {round.question.name for round in seen.rounds}
        belief = np.log(self._weigh(seen).array + LEAST)
        best: tuple[float, Question | None] = (self._config.gain, None)
        for question in self._table.questions:
            measures = tuple(name for name in question.measures if name in offered)
            if measures and question.name not in asked:
                gain = expected_gain(belief, self._table, measures)
                if gain > best[0]:
                    best = (gain, Question(question.text, measures, question.name))
        return best[1]

    def offers(self, case: Case) -> frozenset[str]:
        """What was measured and the table knows."""
        return frozenset(item.measure for item in case.measured if item.measure in self._table.known)

    def answer(self, question: Question, case: Case, left: Left) -> Round | None:
        """The figures asked for, in sentences."""
        wanted = sorted((item for item in case.measured if item.measure in question.measures),
                        key=lambda item: (question.measures.index(item.measure), item.value))
        if not wanted:
            return None
        said = ' '.join(item.sentence or f'{self._table.known[item.measure].tell(item.value).capitalize()}.'
                        for item in wanted)
        return Round(question, said, self._table.source(question.measures), tuple(wanted))

    def weigh(self, seen: Seen, case: Case, left: Left) -> Distribution:
        """Candidates and answers by Bayes' rule."""
        return self._weigh(seen)

    def _weigh(self, seen: Seen) -> Distribution:
        told = [item for round in seen.rounds for item in round.measured]
        return Distribution.from_logits(np.log(seen.prior.array + LEAST) + self._table.log_likelihood(told))


def expected_gain(belief: Array, table: Cues, measures: tuple[str, ...]) -> float:
    """Expected information gain in nats about the emotion from measuring cues, given log-probabilities [8]."""
    p = np.exp(belief - belief.max())
    p /= p.sum()
    uniform, normal = _imagined(len(measures))
    after = 0.0
    for label in np.flatnonzero(p >= UNLIKELY):
        told = sum(table.known[name].log_likelihood(table.known[name].draw(int(label), uniform[:, at], normal[:, at]))
                   for at, name in enumerate(measures))
        after += p[label] * float(np.mean(_entropy(belief + table.trust * np.asarray(told))))
    return float(_entropy(belief)) - after / float(p[p >= UNLIKELY].sum())


@cache
def _imagined(count: int) -> tuple[Array, Array]:
    """Uniform and normal draws [DRAWS, count], always the same."""
    chance = np.random.default_rng(count)
    # Stratified: each column has one draw in each of DRAWS equal parts, so that few draws are even.
    strata = np.stack([chance.permutation(DRAWS) for _ in range(count)], axis=1)
    uniform = (strata + chance.random((DRAWS, count))) / DRAWS
    return uniform, _normal(uniform)


def _normal(uniform: Array) -> Array:
    """Standard normal quantiles (Acklam's rational approximation needs more lines than a table: this interpolates the
    distribution function on a fine grid; the error is below 1e-4 within three deviations)."""
    grid = np.linspace(-5, 5, 4001)
    density = np.exp(-0.5 * grid ** 2)
    cumulative = np.cumsum(density)
    return np.asarray(np.interp(uniform, cumulative / cumulative[-1], grid))


def _entropy(logits: Array) -> Array:
    """Entropy in nats of the softmax over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    p = np.exp(shifted)
    p /= p.sum(axis=-1, keepdims=True)
    return np.asarray(-(p * np.log(p + 1e-12)).sum(axis=-1))


def create(config: Config | None = None) -> Roles:
    """The roles with the project's table of cues."""
    measuring = Measuring(config or Config(), cues.load())
    return Roles('measured', measuring, measuring, measuring)
