"""Do the views contradict each other? The paper's rule, and one that knows how sure each view is.

`labels`: any two views that say something name different emotions (EmAvatar). `divergence`: the views' distributions
are further apart than a threshold, each weighed by its view's confidence: two views that both waver between anger and
disgust don't conflict, whatever their first label. A view that abstains contradicts nobody.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from emavatar_ros.emotion.candidate import Candidate

RULES = ('labels', 'divergence')


def divergence(candidates: Sequence[Candidate]) -> float:
    """Jensen-Shannon divergence of the views' distributions weighted by confidence, in nats: 0 alike, at most
    log of the number of views."""
    said = [item for item in candidates if not item.abstains and item.distribution is not None and item.confidence > 0]
    if len(said) < 2:
        return 0.0
    weights = np.array([item.confidence for item in said])
    weights = weights / weights.sum()
    rows = np.stack([item.distribution.array for item in said if item.distribution is not None])
    mean = weights @ rows
    return max(0.0, float(_entropy(mean) - weights @ np.array([_entropy(row) for row in rows])))


def conflicts(candidates: Sequence[Candidate], rule: str = 'labels', threshold: float = 0.1) -> bool:
    """Whether the views contradict each other by one of RULES; threshold in nats, for `divergence`."""
    if rule == 'divergence':
        return divergence(candidates) > threshold
    return len({item.label for item in candidates if not item.abstains}) > 1


def _entropy(p: np.ndarray) -> float:
    return float(-(p * np.log(p + 1e-12)).sum())
