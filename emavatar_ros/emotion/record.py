"""Candidates and estimates as JSON objects, the same wherever one is written; numbers rounded, never NaN."""

from __future__ import annotations

import math
from typing import Any

from emavatar_ros.emotion.candidate import Candidate, Estimate


def candidate_json(candidate: Candidate) -> dict[str, Any]:
    """One of the `candidates` of turn.json; the distribution of a view that abstains is None."""
    known = candidate.distribution
    return {'view': candidate.view, 'label': candidate.label, 'confidence': share(candidate.confidence),
            'distribution': None if known is None else known.as_dict(), 'valence': signed(candidate.valence),
            'arousal': signed(candidate.arousal), 'evidence': candidate.evidence, 'model': candidate.model}


def emotion_json(estimate: Estimate) -> dict[str, Any]:
    """The `emotion` of turn.json."""
    return {'label': estimate.label, 'confidence': share(estimate.confidence),
            'distribution': estimate.distribution.as_dict(), 'valence': signed(estimate.valence),
            'arousal': signed(estimate.arousal), 'conflict': estimate.conflict, 'rounds': estimate.rounds,
            'method': estimate.method, 'reasons': [reason for reason in estimate.reasons if reason],
            'questions': [{'round': item.round, 'question': item.question, 'answer': item.answer,
                           'source': item.source} for item in estimate.questions]}


def share(value: float) -> float:
    """In [0, 1], rounded; 0 for what is no number."""
    return round(min(max(float(value), 0.0), 1.0), 4) if math.isfinite(value) else 0.0


def signed(value: float) -> float:
    """In [-1, 1], rounded; 0 for what is no number."""
    return round(min(max(float(value), -1.0), 1.0), 4) if math.isfinite(value) else 0.0
