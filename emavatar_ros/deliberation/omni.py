"""Deliberation as in the paper: one omni model asks, looks and listens, and judges (EmAvatar, section 3).

Model: Qwen3-Omni or its like behind an OpenAI-compatible server (vLLM), which needs a GPU; checked against a local
server that speaks the protocol, never against a real omni model. The inspector asks freely; the collector answers from
sound and pictures; the judge sees candidates, answers and the input again. Where the model says nothing that can be
read, the measured deliberation steps in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from emavatar_ros.deliberation import cues, measured
from emavatar_ros.deliberation.cues import SOURCES, Question
from emavatar_ros.deliberation.llm import answers, json_object, mixed, read_shares
from emavatar_ros.deliberation.roles import Case, Left, Roles, Round, Seen
from emavatar_ros.deliberation.talking import ask, prompt, told
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.media.parts import jpegs, wav
from emavatar_ros.models.llm import openai
from emavatar_ros.perception.verdict import SCHEMA
from emavatar_ros.settings import setting

ASKING: Final[Mapping[str, Any]] = {
    'type': 'object', 'additionalProperties': False, 'required': ['question'],
    'properties': {'question': {'type': 'string', 'maxLength': 200}}}
ANSWERING: Final[Mapping[str, Any]] = {
    'type': 'object', 'additionalProperties': False, 'required': ['answer', 'source'],
    'properties': {'answer': {'type': 'string', 'maxLength': 300}, 'source': {'enum': list(SOURCES)}}}


@dataclass(frozen=True)
class Config:
    """Settings of the deliberation with an omni model."""

    url: str = setting('http://127.0.0.1:8000/v1', "the server's address up to and including /v1")
    model: str = setting('Qwen/Qwen3-Omni-30B-A3B-Instruct', 'the name the server knows the model by')
    key_variable: str = setting('EMAVATAR_OMNI_KEY', 'environment variable that holds the key, where one is needed')
    weight: float = setting(0.7, "how much the model's judgement counts against the measured one", low=0.0, high=1.0)
    pictures: int = setting(4, 'pictures of the utterance that are sent', low=0, high=16)
    longest: int = setting(480, 'longer side of a picture that is sent', unit='px', low=64, high=2048)
    measured: measured.Config = field(default_factory=measured.Config)


class Omni:
    """All three roles by one model; `counts` says what became of its answers."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._llm = openai.create(openai.Config(url=config.url, model=config.model, key_variable=config.key_variable))
        self._measuring = measured.Measuring(config.measured, cues.load())
        self._asks, self._answers, self._judges = (prompt(name) for name in ('inspector', 'collector', 'judge'))
        self.counts: Counter[str] = Counter()

    def ask(self, seen: Seen, offered: frozenset[str], left: Left) -> Question | None:
        """A question in the model's own words, or the measurable one that is expected to tell most."""
        asked = ask(self._llm, self._asks, told(seen, asked=answers(seen), can_measure={}), ASKING, _question, left,
                    self.counts)
        return asked or self._measuring.ask(seen, offered, left)

    def offers(self, case: Case) -> frozenset[str]:
        """What was measured; the rest it looks and listens for."""
        return self._measuring.offers(case)

    def answer(self, question: Question, case: Case, left: Left) -> Round | None:
        """What the model sees and hears, or the figures where the question asks for some."""
        if question.measures or (case.audio is None and not case.pictures):
            return self._measuring.answer(question, case, left)
        content = {'question': question.text, 'visitor_now': case.text}
        found = ask(self._llm, self._answers, content, ANSWERING, _answer, left, self.counts, *self._parts(case))
        return None if found is None else Round(question, *found)

    def weigh(self, seen: Seen, case: Case, left: Left) -> Distribution:
        """The model's shares, having seen and heard everything, and Bayes' rule over what was measured."""
        bayes = self._measuring.weigh(seen, case, left)
        shares = ask(self._llm, self._judges, told(seen, answers=answers(seen)), SCHEMA, read_shares, left, self.counts,
                     *self._parts(case))
        return bayes if shares is None else mixed(bayes, shares, self._config.weight)

    def _parts(self, case: Case) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
        sounds = (wav(case.audio),) if case.audio is not None and len(case.audio.samples) else ()
        return jpegs(case.pictures, self._config.pictures, self._config.longest), sounds


def _question(answer: str) -> Question | None:
    said = ' '.join(str(json_object(answer).get('question') or '').split())
    return Question(said[:200], ()) if said else None


def _answer(answer: str) -> tuple[str, str] | None:
    value = json_object(answer)
    said, source = ' '.join(str(value.get('answer') or '').split()), value.get('source')
    return (said[:300], str(source) if source in SOURCES else SOURCES[1]) if said else None


def create(config: Config | None = None) -> Roles:
    """The roles with the configured server; it is first asked when views conflict."""
    config = config or Config()
    omni = Omni(config)
    return Roles('omni', omni, omni, omni, config.pictures)
