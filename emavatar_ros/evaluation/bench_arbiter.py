"""`emavatar bench arbiter`: how often each way to decide is right, with 95 % intervals, like the paper's ablation.

Two sets. *sampled*: SAMPLED cases drawn from views and cues that err otherwise than the arbiter believes: every share
of its confusions and every usual value of its cues is moved at random (DIFFERENT), so that it doesn't mark its own
homework. *scenes*: cases written by somebody else, given with --scenes; null without.

words, voice, face, whole: that view alone; majority: the label most views say, of equals the surer; fusion: the
candidates without questions; qa_only: the questions without the candidates (EmAvatar's "QA without the
specialists"); full: both, at most two questions; all_evidence: everything measured read at once, the ceiling.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from emavatar_ros.deliberation import cases, cues, deliberator, measured, reliability
from emavatar_ros.deliberation.cases import Given
from emavatar_ros.deliberation.conflict import conflicts
from emavatar_ros.deliberation.cues import Cues, Measured
from emavatar_ros.deliberation.roles import Case, Roles
from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, VIEWS
from emavatar_ros.errors import BadInput
from emavatar_ros.textfile import read_lines

SAMPLED: Final = 2000
DIFFERENT: Final = 0.3
"""By how much views and cues of the sampled set differ from what the arbiter believes: at least this share of every
confusion moves elsewhere, and usual values move by up to this many spreads."""
DRAWS: Final = 1000
"""Bootstrap samples."""
AWAY: Final = 0.15
"""How often a view is missing in the sampled set."""
UNMEASURED: Final = 0.25
"""How often a cue is not measured there."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of contracts' `arbiter`."""
    figures: dict[str, Any] = {'sampled': None, 'scenes': None}
    sets = {'sampled': sampled(args.seed)}
    if args.scenes is not None:
        sets['scenes'] = read(args.scenes)
    agreed: list[float] = []
    disputed: list[float] = []
    for name, given in sets.items():
        figures[name] = proof(given, args.seed)
        decide = deliberator.create().decide
        for item in given[:300]:
            began = time.perf_counter()
            decide(item.case)
            took = time.perf_counter() - began
            (disputed if conflicts(item.case.candidates) else agreed).append(took)
    figures['agree_s'] = statistics.median(agreed) if agreed else None
    figures['conflict_s'] = statistics.median(disputed) if disputed else None
    return figures


def read(path: Path) -> list[Given]:
    """The cases of a file that have a truth; raises BadInput when one is none."""
    made = [cases.parse(line, f'{path}, line {number}') for number, line in enumerate(read_lines(path), 1)
            if line.strip()]
    known = [item for item in made if item.truth is not None]
    if not known:
        raise BadInput(f'{path} has no case with a "truth"')
    return known


def proof(given: Sequence[Given], seed: int = 0) -> dict[str, Any]:
    """Each way to decide with its accuracy and 95 % interval, and how much full is better than the majority."""
    chance = np.random.default_rng(seed)
    picks = chance.integers(0, len(given), (DRAWS, len(given)))
    right = {name: np.array([way(item.case) == item.truth for item in given]) for name, way in _ways().items()}
    known = {name for item in given for name in (c.view for c in item.case.candidates if not c.abstains)}
    shown: dict[str, Any] = {name: _interval(hits, picks) for name, hits in right.items()}
    shown |= {view: None for view in VIEWS if view not in known}
    gain = right['full'].astype(float) - right['majority']
    low, high = np.percentile(gain[picks].mean(axis=1), (2.5, 97.5))
    return shown | {'full_minus_majority': {'difference': float(gain.mean()), 'low': float(low), 'high': float(high)},
                    'cases': len(given)}


def _interval(hits: np.ndarray, picks: np.ndarray) -> dict[str, float]:
    low, high = np.percentile(hits[picks].mean(axis=1), (2.5, 97.5))
    return {'accuracy': float(hits.mean()), 'low': float(low), 'high': float(high)}


def _ways() -> dict[str, Callable[[Case], str]]:
    """Every way to decide: the label that each makes of a case."""
    roles = measured.create()
    full, fused, all_at_once = (deliberator.create(deliberator.Config(rounds=rounds), roles=made) for rounds, made in
                                ((2, roles), (0, roles), (1, _everything(roles))))

    def view(name: str) -> Callable[[Case], str]:
        return lambda case: next((item.label or '' for item in case.candidates if item.view == name), '')

    def questions_only(case: Case) -> str:
        # The views that say nothing leave a prior in which every emotion is equally likely.
        even = tuple(replace(item, label=label, distribution=Distribution.uniform(), confidence=1 / len(LABELS))
                     for item, label in zip(case.candidates, LABELS))
        return full.decide(replace(case, candidates=even)).label

    ways: dict[str, Callable[[Case], str]] = {name: view(name) for name in VIEWS}
    return ways | {'majority': majority, 'fusion': lambda case: fused.decide(case).label, 'qa_only': questions_only,
                   'full': lambda case: full.decide(case).label,
                   'all_evidence': lambda case: all_at_once.decide(case).label}


def majority(case: Case) -> str:
    """The label that most views say; of equals the one said with the larger confidence."""
    said = [item for item in case.candidates if item.label]
    votes = Counter(item.label for item in said)
    sure = {label: sum(item.confidence for item in said if item.label == label) for label in votes}
    return max(votes, key=lambda label: (votes[label], sure[label]), default='') or ''


def _everything(roles: Roles) -> Roles:
    """An inspector that asks for all there is in one question."""
    class All:
        def ask(self, seen: Any, offered: frozenset[str], left: Any) -> cues.Question | None:
            return cues.Question('What was measured?', tuple(sorted(offered))) if offered and not seen.rounds else None

    return replace(roles, inspector=All())


def sampled(seed: int = 0, count: int = SAMPLED) -> list[Given]:
    """Cases drawn from views and cues that differ from those the arbiter believes in."""
    chance = np.random.default_rng(seed)
    table, trusted = cues.load(), reliability.load()
    confusions = {view: _moved(trusted.views[view].confusion, chance) for view in ('words', 'voice', 'face')}
    shift = {name: chance.uniform(-DIFFERENT, DIFFERENT, len(LABELS)) for name in sorted(table.known)}
    return [_draw(f's{number:04}', table, confusions, shift, chance) for number in range(count)]


def _moved(confusion: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """A confusion of which at least DIFFERENT of every row's errors and hits lies elsewhere."""
    other = chance.dirichlet(np.ones(len(LABELS)), len(LABELS))
    return np.asarray((1 - DIFFERENT) * confusion + DIFFERENT * other)


def _draw(id: str, table: Cues, confusions: dict[str, np.ndarray], shift: dict[str, np.ndarray],
          chance: np.random.Generator) -> Given:
    truth = int(chance.integers(len(LABELS)))
    candidates = []
    for view, confusion in confusions.items():
        if chance.random() < AWAY:
            candidates.append(Candidate.abstain(view, 'drawn', 'it was not there'))
            continue
        said = int(chance.choice(len(LABELS), p=confusion[truth]))
        peak = np.eye(len(LABELS))[said]
        # As sure as views are: around half on the label, the rest by what it is usually taken for, and some noise.
        sure = float(chance.uniform(0.35, 0.85))
        rest = 0.7 * confusion[:, said] / confusion[:, said].sum() + 0.3 * chance.dirichlet(np.ones(len(LABELS)))
        rest[said] = 0
        weights = sure * peak + (1 - sure) * rest / rest.sum()
        weights = np.minimum(weights, weights[said] * (1 - 1e-6) + peak)
        candidates.append(Candidate.of(view, 'drawn', Distribution.of(weights), ''))
    told = []
    for name in sorted(table.known):
        cue = table.known[name]
        if chance.random() < UNMEASURED or (cue.source in confusions and next(
                item for item in candidates if item.view == cue.source).abstains):
            continue
        uniform, normal = chance.random(1), chance.standard_normal(1)
        value = float(cue.draw(truth, uniform, normal)[0])
        if cue.spread:
            value += cue.spread * float(shift[name][truth])
        told.append(Measured(cue.source, name, value, ''))
    return Given(id, Case(tuple(candidates), measured=tuple(told)), LABELS[truth])


