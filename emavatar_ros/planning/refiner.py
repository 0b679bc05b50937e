"""Whether a reply may be spoken: four scores, and in words what to change when one is too low (EmAvatar, section 5).

Rules judge each beat before it is spoken, in a millisecond or two. A language model judges as well where `judge` gives
it time: its answer counts when it comes in time and can be read, and then the lower score counts. What becomes of a
reply that fails is the planner's business: it has the clock and the words.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.errors import EmavatarError
from emavatar_ros.models.llm import Limits, Llm, Message, Request
from emavatar_ros.perception.verdict import objects
from emavatar_ros.planning import rules, texts
from emavatar_ros.planning.rules import SCORES, Draft
from emavatar_ros.planning.script import Beat
from emavatar_ros.settings import setting

log = logging.getLogger(__name__)
BEST: Final = 5
SCHEMA: Final[Mapping[str, Any]] = {
    'type': 'object', 'additionalProperties': False, 'required': [*SCORES, 'plan'],
    'properties': {**{name: {'type': 'integer', 'minimum': 1, 'maximum': BEST} for name in SCORES},
                   'plan': {'type': 'string', 'maxLength': 80}}}
LONGEST: Final = 2000
"""Characters of a judge's answer that are read."""
LINES: Final = 6
"""Lines of the history that a judge is told."""
SHORTEST: Final = 0.1
"""Seconds below which no judge is asked."""


@dataclass(frozen=True)
class Config:
    """Settings of the refiner."""

    threshold: int = setting(4, 'lowest score (1 to 5) with which a reply is spoken; 1: whatever it is', low=1, high=5)
    rewrites: int = setting(2, 'how often the language model may try the beginning of a reply again', low=0, high=2)
    deadline: float = setting(3.5, 'another try is begun only if it is likely to be ready this long after planning '
                              'began', unit='s', low=0.0, high=60.0)
    judge: float = setting(0.0, 'longest time for the language model of a server to judge a beat; 0: only rules judge, '
                           'as always where the model runs in this process', unit='s', low=0.0, high=30.0)


@dataclass(frozen=True)
class Review:
    """What a reply is worth. scores: by name of SCORES, 1 to 5, None when nobody judged; plan: what to change, in words
    for a language model, empty when nothing is; flaws: names of the rules that found something."""

    scores: Mapping[str, int | None]
    plan: tuple[str, ...] = ()
    flaws: tuple[str, ...] = ()

    def failed(self, threshold: int) -> str:
        """The first score below the threshold, '' when there is none."""
        return next((name for name, score in self.scores.items() if score is not None and score < threshold), '')

    def lower(self, other: Review) -> Review:
        """Of each score the lower one; the plans one after the other."""
        scores = {name: min((score for score in (self.scores[name], other.scores[name]) if score is not None),
                            default=None) for name in SCORES}
        return Review(scores, tuple(dict.fromkeys((*self.plan, *other.plan))),
                      tuple(dict.fromkeys((*self.flaws, *other.flaws))))


class Refiner:
    """Judges drafts. llm: None has only rules judge; counts learns what became of the judge's answers (judge: read,
    judge: unreadable, judge: late)."""

    def __init__(self, config: Config, llm: Llm | None, counts: Counter[str]) -> None:
        self.config = config
        # One that computes here, beside the voice, has no second to spare for judging.
        self._llm = None if llm is None or llm.resumes else llm
        self._counts = counts

    def review(self, draft: Draft, seconds: float = 0.0) -> Review:
        """What the draft is worth by the rules and, when they let it pass and `seconds` are left, by the model."""
        found = by_rules(draft, self.config.threshold)
        allowed = min(seconds, self.config.judge)
        if self._llm is None or allowed < SHORTEST or found.failed(self.config.threshold):
            return found
        judged = self.judged(draft, allowed)
        return found if judged is None else found.lower(judged)

    def judged(self, draft: Draft, seconds: float) -> Review | None:
        """What the language model thinks of it, None when it says nothing usable within `seconds`."""
        assert self._llm is not None
        messages = (Message('system', texts.read('refiner.txt')), Message('user', question(draft)))
        answer = ''
        try:
            request = Request(messages, 80, schema=SCHEMA)
            with closing(self._llm.stream(request, Limits(seconds, seconds, seconds))) as stream:
                for piece in stream:
                    answer += piece
                    if len(answer) > LONGEST:
                        break
        except EmavatarError as error:
            # It may have been stopped behind its scores.
            log.debug('the judge did not finish: %s', error)
            if not answer:
                self._counts['judge: late'] += 1
                return None
        found = parse(answer)
        self._counts['judge: unreadable' if found is None else 'judge: read'] += 1
        return found


def by_rules(draft: Draft, threshold: int = 4) -> Review:
    """The review that rules give: each score starts at its best and is lowered by every flaw. What no voice can tell
    (a draft without `realise`) stays unjudged. The plan names the flaws below the threshold."""
    scores: dict[str, int | None] = dict.fromkeys(SCORES, BEST)
    if draft.realise is None:
        scores |= {'feasibility': None, 'alignment': None}
    plan, names = [], []
    for flaw in rules.flaws(draft):
        known = scores[flaw.score]
        scores[flaw.score] = flaw.most if known is None else min(known, flaw.most)
        names.append(flaw.name)
        if flaw.most < threshold:
            plan.append(advice(flaw.name, draft.language))
    return Review(scores, tuple(dict.fromkeys(filter(None, plan))), tuple(names))


def warm_up() -> None:
    """Compile what the rules look for."""
    for emotion in (*LABELS, UNSURE):
        by_rules(Draft((Beat('I waited.', '', 'neutral'),), 'I waited?', emotion, realise=lambda *_: Delivery()))


def advice(flaw: str, language: str) -> str:
    """What the model is told for another try after this flaw (a rule's name or the guard's reason), '' for nothing."""
    told: str = rules.words()['advice_for'][texts.base(language)].get(flaw, '')
    return told


def question(draft: Draft) -> str:
    """What the judge is asked about: one JSON object of quoted data, which can't pose as instructions."""
    before = [{line.role: line.text} for line in draft.history[-LINES:]]
    newest = draft.beats[-1]
    return json.dumps({'before': before, 'visitor_now': draft.visitor[:600], 'feeling': draft.emotion,
                       'reply': draft.text, 'instruction': newest.instruction, 'face': newest.expression},
                      ensure_ascii=False)


def parse(answer: str) -> Review | None:
    """The scores in a judge's answer: prose around the object, other capitals, "4/5", 4.0 and a cut-off end are
    understood. A score that is missing or no number from 1 to 5 is not judged; None when not one can be read."""
    text = re.sub(r'<think>.*?(?:</think>|$)', '', answer, flags=re.DOTALL)
    for value in (*reversed(list(objects(text))), _loose(text)):
        inner = value.get('scores')
        told = {str(name).lower(): said for name, said in (inner if isinstance(inner, dict) else value).items()}
        scores = {name: _score(told.get(name)) for name in SCORES}
        if any(score is not None for score in scores.values()):
            return Review(scores, _plan(value.get('plan')))
    return None


def _loose(text: str) -> dict[str, Any]:
    """Scores named in a text that is no whole JSON: cut off, or "Empathy: 3"."""
    return {name.lower(): number for name, number in
            re.findall(rf'\b({"|".join(SCORES)})\b["*\s]*[:=]\s*"?(\d(?:\.0)?(?:/5)?)(?!\w|\.\d)', text, re.IGNORECASE)}


def _score(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value.split('/')[0]) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        return None
    return int(number) if number in range(1, BEST + 1) else None


def _plan(value: object) -> tuple[str, ...]:
    """The judge's plan as it may be told on: a visitor's words can be in it, so only letters and plain signs stay."""
    if isinstance(value, (list, tuple)):
        value = ', '.join(map(str, value))
    plain = re.sub(r"[^\w ,.'-]", ' ', str(value or ''))
    tidy = ' '.join(plain.split())[:80].strip(' .,')
    return (tidy,) if tidy else ()
