"""A language model as a judge of feelings: how it is asked, and what its answer is worth.

The answer is a JSON object with a share for each emotion and one sentence of evidence; servers that can are held to
SCHEMA. What comes back is read with suspicion: prose around the object, other words for the same emotions, percentages,
missing emotions and one single name are understood; two names, negations, an answer that is cut off, ties and silence
are not guessed at. Models state shares that are far too sure, so only `trust` of what they say is believed and the rest
spread evenly.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.emotion.mappings import canonical, distribution
from emavatar_ros.errors import EmavatarError
from emavatar_ros.history import Line
from emavatar_ros.models.llm import Limits, Llm, Message, Request

SCHEMA: Final[Mapping[str, Any]] = {
    'type': 'object', 'additionalProperties': False, 'required': ['shares', 'evidence'],
    'properties': {
        'shares': {'type': 'object', 'additionalProperties': False, 'required': list(LABELS),
                   'properties': {label: {'type': 'number', 'minimum': 0, 'maximum': 1} for label in LABELS}},
        'evidence': {'type': 'string', 'maxLength': 100}}}
LONGEST: Final = 4096
"""Characters of an answer that are read."""
_TOKENS: Final = 160
_LINES: Final = 6


@dataclass(frozen=True)
class Verdict:
    """A readable answer. distribution: its shares as stated; nothing: the share in [0, 1] it gave to none of the eight;
    evidence: its sentence, '' if there is none."""

    distribution: Distribution
    nothing: float
    evidence: str


def question(text: str, history: Sequence[Line]) -> str:
    """What the model is asked about: the last lines and the visitor's words as one JSON object. They are data and can't
    pose as instructions of their own."""
    before = [{line.role: line.text} for line in history[-_LINES:]]
    return json.dumps({'before': before, 'visitor_now': text}, ensure_ascii=False)


def judge(view: str, llm: Llm, messages: tuple[Message, ...], timeout: float, trust: float,
          counts: Counter[str]) -> Candidate:
    """Ask and read the answer, in `timeout` seconds at most. `counts` learns what became of it: read, unreadable,
    unavailable. An answer that was stopped after its shares were told is as good as a whole one."""
    answer, problem = '', ''
    try:
        request = Request(messages, _TOKENS, schema=SCHEMA)
        with closing(llm.stream(request, Limits(timeout, timeout, timeout))) as stream:
            for piece in stream:
                answer += piece
                if len(answer) > LONGEST:
                    break
    except EmavatarError as error:
        problem = str(error)
    name = llm.name or 'language model'
    found = parse(answer[:LONGEST])
    if isinstance(found, Verdict):
        counts['read'] += 1
        shares = Distribution.mix(((trust, found.distribution), (1 - trust, Distribution.uniform())))
        evidence = found.evidence or f'to the model it sounds {shares.label}'
        return Candidate.of(view, name, shares, evidence, confidence=shares.confidence * (1 - found.nothing))
    counts['unavailable' if problem else 'unreadable'] += 1
    return Candidate.abstain(view, name, problem or found)


def parse(answer: str) -> Verdict | str:
    """What an answer says, or why it says nothing."""
    if not answer.strip():
        return 'the model said nothing'
    reason = 'the model gave no answer that can be read'
    for value in reversed(list(objects(answer))):
        found = _verdict(value)
        if isinstance(found, Verdict):
            return found
        reason = found
    alone = canonical(answer)
    return Verdict(Distribution.from_mapping({alone: 1.0}), 0.0, '') if alone else reason


def objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text; of one that is cut off, those inside it that are whole."""
    decoder = json.JSONDecoder()
    at = text.find('{')
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
            yield value
        except (ValueError, RecursionError):
            end = at + 1
        at = text.find('{', end)


def _verdict(value: dict[str, Any]) -> Verdict | str:
    one = value.get('emotion', value.get('label'))
    shares = value.get('shares', {one: 1.0} if isinstance(one, str) else value)
    if not isinstance(shares, dict):
        return 'the model gave no shares'
    # An object that is nothing but shares may carry other numbers, such as a confidence: they are no emotion's.
    known = {name: _number(share) for name, share in shares.items()
             if 'shares' in value or canonical(name) or name == one}
    found, nothing = distribution([canonical(name) for name in known], list(known.values()), unknown=0.0)
    if found is None or nothing > 0.5:
        return 'the model named no emotion of the eight'
    first, second = sorted(found.p)[:-3:-1]
    if first - second < 1e-6:
        return 'the model could not decide between two emotions'
    return Verdict(found, nothing, ' '.join(str(value.get('evidence', '')).split())[:160])


def _number(share: object) -> float:
    """A share as a number, from 0.7, "0.7" or "70 %"; 0 when it is none."""
    if isinstance(share, bool) or not isinstance(share, (int, float, str)):
        return 0.0
    try:
        value = float(share.strip('% ')) / (100 if '%' in share else 1) if isinstance(share, str) else float(share)
    except (ValueError, OverflowError):
        return 0.0
    return value if 0 <= value < float('inf') else 0.0
