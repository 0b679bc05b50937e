"""What every view's candidate is held to; for the tests of all backends."""

from __future__ import annotations

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.labels import LABELS, VIEWS


def honest(candidate: Candidate) -> None:
    """Fail unless the candidate keeps the contract."""
    assert candidate.view in VIEWS and candidate.model
    if candidate.abstains:
        assert candidate.label is None and candidate.distribution is None and candidate.confidence == 0
        assert candidate.reason and not candidate.evidence
        return
    assert candidate.label in LABELS and candidate.distribution is not None
    assert abs(sum(candidate.distribution.p) - 1) < 1e-3 and candidate.distribution.label == candidate.label
    assert 0 < candidate.confidence <= 1 and -1 <= candidate.valence <= 1 and -1 <= candidate.arousal <= 1
    assert '\n' not in candidate.evidence and not candidate.reason
