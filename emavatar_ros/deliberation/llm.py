"""Deliberation with a text model: it asks and judges, the evidence stays measured.

Model: any of models/llm (Qwen3 behind an OpenAI-compatible server by default, Apache-2.0; on a CPU a GGUF file takes
longer than anybody waits). The inspector chooses among the questions that can be measured, and falls back to the one
that is expected to tell most; the judge's shares are weighed against Bayes' rule over the same figures, since models
state them too surely. What the model can't answer in time, the measured deliberation does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from emavatar_ros.deliberation import cues, measured
from emavatar_ros.deliberation.cues import Question
from emavatar_ros.deliberation.roles import Case, Left, Roles, Seen
from emavatar_ros.deliberation.talking import ask, prompt, told
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.models.llm import Llm
from emavatar_ros.perception.verdict import SCHEMA, Verdict, parse
from emavatar_ros.settings import backend, chosen, setting

ASKING: Final[Mapping[str, Any]] = {
    'type': 'object', 'additionalProperties': False, 'required': ['ask', 'question'],
    'properties': {'ask': {'type': 'string', 'maxLength': 40}, 'question': {'type': 'string', 'maxLength': 160}}}


@dataclass(frozen=True)
class Config:
    """Settings of the deliberation with a text model."""

    backend: str = backend('openai', 'models.llm', 'the language model that asks and judges')
    weight: float = setting(0.5, "how much the model's judgement counts against the measured one", low=0.0, high=1.0)
    measured: measured.Config = field(default_factory=measured.Config)


class Talking:
    """Inspector and judge; `counts` says what became of the model's answers."""

    def __init__(self, config: Config, llm: Llm) -> None:
        self._weight = config.weight
        self._llm = llm
        self._measuring = measured.Measuring(config.measured, cues.load())
        self._names = {question.name: question for question in cues.load().questions}
        self._asks, self._judges = prompt('inspector'), prompt('judge')
        self.counts: Counter[str] = Counter()

    def ask(self, seen: Seen, offered: frozenset[str], left: Left) -> Question | None:
        """The model's choice, or the question that is expected to tell most."""
        asked = {round.question.name for round in seen.rounds}
        can = {name: question.text for name, question in self._names.items()
               if name not in asked and offered.intersection(question.measures)}
        best = self._measuring.ask(seen, offered, left)
        if len(can) < 2 or best is None:
            return best
        chosen = ask(self._llm, self._asks, told(seen, asked=answers(seen), can_measure=can), ASKING,
                     lambda answer: self._chosen(answer, can, offered), left, self.counts)
        return chosen or best

    def weigh(self, seen: Seen, case: Case, left: Left) -> Distribution:
        """The model's shares and Bayes' rule, each to its weight; Bayes alone when the model has none."""
        bayes = self._measuring.weigh(seen, case, left)
        shares = ask(self._llm, self._judges, told(seen, answers=answers(seen)), SCHEMA, read_shares, left, self.counts)
        return bayes if shares is None else mixed(bayes, shares, self._weight)

    def _chosen(self, answer: str, can: Mapping[str, str], offered: frozenset[str]) -> Question | None:
        value = json_object(answer)
        name = str(value.get('ask', '')).strip().lower()
        if name not in can:
            return None
        question = self._names[name]
        said = ' '.join(str(value.get('question') or question.text).split())[:200]
        return Question(said, tuple(item for item in question.measures if item in offered), name)


def answers(seen: Seen) -> list[dict[str, str]]:
    """Questions and answers so far, as a model is told them."""
    return [{'question': round.question.text, 'answer': round.answer, 'source': round.source} for round in seen.rounds]


def read_shares(answer: str) -> Distribution | None:
    """The shares in a judge's answer, None when there are none that can be read."""
    found = parse(answer)
    return found.distribution if isinstance(found, Verdict) and found.nothing < 0.5 else None


def mixed(bayes: Distribution, model: Distribution, weight: float) -> Distribution:
    """A log-opinion pool of two distributions; a model's zero is not taken as proof."""
    softened = 0.9 * model.array + 0.1 / len(model.p)
    return Distribution.from_logits((1 - weight) * np.log(bayes.array + 1e-4) + weight * np.log(softened))


def json_object(answer: str) -> dict[str, Any]:
    """The first JSON object in an answer; {} without one."""
    at = answer.find('{')
    try:
        value, _ = json.JSONDecoder().raw_decode(answer, at) if at >= 0 else ({}, 0)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def create(config: Config | None = None) -> Roles:
    """The roles with the configured model."""
    config = config or Config()
    module, settings = chosen(config, 'backend')
    talking = Talking(config, module.create(settings))
    measuring = measured.create(config.measured)
    return Roles('llm', talking, measuring.collector, talking)
