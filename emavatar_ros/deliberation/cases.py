"""Cases for `emavatar deliberate` and the arbiter's bench: one JSON object a line, checked."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from emavatar_ros.deliberation.cues import SOURCES, Measured
from emavatar_ros.deliberation.roles import Case
from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, VIEWS
from emavatar_ros.errors import BadInput
from emavatar_ros.history import lines_of

MODEL = 'given'
"""The model of a candidate that came in a file."""


@dataclass(frozen=True)
class Given:
    """A case with its id, and what is only there to measure with: the truth (one of LABELS or None), its category."""

    id: str | int
    case: Case
    truth: str | None = None
    category: str = ''


def parse(line: str, where: str) -> Given:
    """One case; raises BadInput that says what is wrong in `where`."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        raise BadInput(f'{where} is no JSON object') from None
    if not isinstance(entry, dict) or not isinstance(entry.get('id'), (str, int)):
        raise BadInput(f'{where}: a case is an object with an "id"')
    where = f'{where} ({entry["id"]})'
    text, truth = entry.get('text') or '', entry.get('truth')
    if not isinstance(text, str):
        raise BadInput(f'{where}: "text" must be a text')
    candidates = tuple(_candidate(item, where) for item in _list(entry, 'candidates', where))
    if len({item.view for item in candidates}) < len(candidates):
        raise BadInput(f'{where}: each view may have one candidate')
    measured = tuple(_measured(item, where) for item in _list(entry, 'evidence', where))
    case = Case(candidates, text, lines_of(entry.get('history') or [], where), measured)
    return Given(entry['id'], case, truth if truth in LABELS else None, str(entry.get('category') or ''))


def _list(entry: dict[str, Any], name: str, where: str) -> list[Any]:
    value = entry.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise BadInput(f'{where}: "{name}" must be a list of objects')
    return value


def _candidate(item: dict[str, Any], where: str) -> Candidate:
    view, label, shares = item.get('view'), item.get('label'), item.get('distribution')
    if view not in VIEWS:
        raise BadInput(f'{where}: a candidate\'s "view" must be one of {", ".join(VIEWS)}, not {view!r}')
    if label is None:
        return Candidate.abstain(str(view), MODEL, str(item.get('reason') or 'nothing was given'))
    if label not in LABELS:
        raise BadInput(f'{where}: the label of {view} must be one of {", ".join(LABELS)} or null, not {label!r}')
    sure = item.get('confidence', 0.5)
    if not _number(sure) or not 0 <= sure <= 1:
        raise BadInput(f'{where}: the confidence of {view} must be between 0 and 1, not {sure!r}')
    if shares is None:
        rest = (1 - sure) / (len(LABELS) - 1)
        shares = {name: sure if name == label else rest for name in LABELS}
    if not isinstance(shares, dict) or not all(_number(value) and value >= 0 for value in shares.values()):
        raise BadInput(f'{where}: the distribution of {view} must give each emotion a number of at least 0')
    try:
        distribution = Distribution.from_mapping(shares)
    except BadInput as error:
        raise BadInput(f'{where}: the distribution of {view}: {error}') from None
    if abs(sum(shares.values()) - 1) > 0.01:
        raise BadInput(f'{where}: the distribution of {view} must sum to 1, not to {sum(shares.values()):.3f}')
    made = Candidate.of(str(view), MODEL, distribution, '', confidence=float(sure))
    # A label that isn't the likeliest of its distribution: the label is what the view said.
    return made if made.label == label else Candidate(made.view, made.model, str(label), made.confidence, distribution,
                                                      made.valence, made.arousal)


def _measured(item: dict[str, Any], where: str) -> Measured:
    source, measure, value = item.get('source'), item.get('measure'), item.get('value')
    if source not in SOURCES or not isinstance(measure, str):
        raise BadInput(f'{where}: evidence needs a "source" ({", ".join(SOURCES)}) and a "measure"')
    if not isinstance(value, bool) and not _number(value):
        raise BadInput(f'{where}: the value of {measure} must be a number, not {value!r}')
    return Measured(str(source), measure, float(value or 0), str(item.get('sentence') or ''))


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
