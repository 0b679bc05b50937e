"""The arbiter by fusion: what it makes of views that agree, differ or say nothing."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from emavatar_ros.deliberation import reliability
from emavatar_ros.deliberation.fusion import Arbiter
from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.errors import BadInput


def says(view: str, evidence: str = '', **weights: float) -> Candidate:
    rest = (1 - sum(weights.values())) / len(LABELS)
    return Candidate.of(view, 'test', Distribution.of([weights.get(label, 0.0) + rest for label in LABELS]), evidence)


MEETING = (says('words', 'praise', happy=.62, neutral=.28),
           says('face', 'mouth corners down', sad=.45, angry=.25, neutral=.2),
           says('voice', 'little pitch movement', neutral=.6, sad=.25))


def test_pleasant_words_over_a_miserable_face_are_not_happy() -> None:
    estimate = Arbiter().decide(MEETING)
    assert estimate.conflict and estimate.method == 'fusion'
    assert estimate.label in ('sad', 'angry', 'contempt')
    assert estimate.valence < -0.1
    assert 'the words sound happy, but' in estimate.reasons[0] and 'the face looks sad' in estimate.reasons[0]
    assert 'irony' in estimate.reasons[0]


def test_the_order_of_candidates_changes_nothing() -> None:
    candidates = (*MEETING, Candidate.abstain('whole', 'x', 'no server'))
    decided = {Arbiter().decide(order) for order in permutations(candidates)}
    assert len(decided) == 1


@pytest.mark.parametrize('label', LABELS)
def test_agreement_keeps_the_label_and_is_surer_than_one_view(label: str) -> None:
    one = Arbiter().decide([says('words', **{label: .6})])
    both = Arbiter().decide([says('words', **{label: .6}), says('face', **{label: .6})])
    assert one.label == both.label == label
    assert not both.conflict and both.method == 'agreement'
    assert both.confidence > one.confidence
    assert both.distribution[label] > one.distribution[label]


def test_nothing_seen_is_unsure_and_says_why() -> None:
    estimate = Arbiter().decide([Candidate.abstain('face', 'm', 'the room is dark'),
                                 Candidate.abstain('words', 'm', 'nothing was said')])
    assert (estimate.label, estimate.confidence, estimate.conflict) == (UNSURE, 0.0, False)
    assert estimate.reasons == ('no face: the room is dark', 'no words: nothing was said')
    assert Arbiter().decide([]).label == UNSURE


def test_weak_evidence_is_unsure_not_neutral() -> None:
    estimate = Arbiter().decide([says('face', sad=.02)])
    assert estimate.label == UNSURE
    assert 'not clearly enough' in estimate.reasons[0]


def test_a_missing_view_is_named_and_lowers_confidence() -> None:
    whole = Arbiter().decide([says('words', happy=.8), says('face', happy=.8), says('voice', happy=.8)])
    missing = Arbiter().decide([says('words', happy=.8), says('face', happy=.8),
                                Candidate.abstain('voice', 'm', 'silent')])
    assert missing.label == whole.label == 'happy'
    assert missing.confidence < whole.confidence
    assert 'no voice: silent' in missing.reasons


def test_of_two_candidates_from_one_view_the_surest_counts() -> None:
    face = says('face', angry=.8)
    assert Arbiter().decide([says('face', happy=.3), face]) == Arbiter().decide([face])


def test_a_view_nobody_knows_still_counts() -> None:
    assert Arbiter().decide([says('heart_rate', fear=.8), says('face', neutral=.4)]).label == 'fear'


def test_the_table_has_rows_that_are_shares() -> None:
    table = reliability.load()
    assert table.base.sum() == pytest.approx(1) and set(table.views) == {'words', 'voice', 'face', 'whole'}
    for entry in table.views.values():
        assert entry.confusion.sum(axis=1) == pytest.approx([1] * 8)
        assert entry.likelihood(Distribution.uniform()) == pytest.approx([1] * 8, abs=.5)


@pytest.mark.parametrize('text', ['labels: [happy]\nviews: {}', 'views: {}', ':', 'labels: 3', ''])
def test_a_broken_table_is_bad_input(tmp_path: Path, text: str) -> None:
    file = tmp_path / 'reliability.yaml'
    file.write_text(text)
    with pytest.raises(BadInput):
        reliability.load(file)
