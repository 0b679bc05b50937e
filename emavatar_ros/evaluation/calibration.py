"""Is a view as sure as it is right? Reliability and expected calibration error of its confidences.

Guo et al., On Calibration of Modern Neural Networks (2017): confidences are sorted into bins of equal width; the error
is the mean gap between a bin's confidence and its accuracy, weighted by how many fall into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

BINS: Final = 10


@dataclass(frozen=True)
class Bin:
    """Readings of about one confidence. low, high: the bin's edges; confidence, accuracy: means in it, in [0, 1]."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


def reliability(confidence: ArrayLike, right: ArrayLike, bins: int = BINS) -> list[Bin]:
    """The bins that have readings. confidence: in [0, 1]; right: true where the reading was right."""
    sure, hits = np.asarray(confidence, float), np.asarray(right, bool)
    at = np.clip((sure * bins).astype(int), 0, bins - 1)
    return [Bin(i / bins, (i + 1) / bins, int((at == i).sum()), float(sure[at == i].mean()),
                float(hits[at == i].mean())) for i in range(bins) if (at == i).any()]


def calibration_error(confidence: ArrayLike, right: ArrayLike, bins: int = BINS) -> float | None:
    """Expected calibration error in [0, 1]; None without readings."""
    found = reliability(confidence, right, bins)
    total = sum(bin.count for bin in found)
    return sum(bin.count * abs(bin.confidence - bin.accuracy) for bin in found) / total if total else None


def macro_f1(truth: Sequence[str], said: Sequence[str], labels: Sequence[str]) -> float:
    """Mean F1 over `labels`; what was said beside them is wrong. 0 for a label that occurs nowhere."""
    scores = []
    for label in labels:
        hits = sum(t == s == label for t, s in zip(truth, said, strict=True))
        told = sum(t == label for t in truth) + sum(s == label for s in said)
        scores.append(2 * hits / told if told else 0.0)
    return sum(scores) / len(scores) if scores else 0.0


def table(name: str, found: Sequence[Bin]) -> Iterator[str]:
    """The reliability as lines to read: how sure, how often right, how many."""
    yield f'{name}: as sure as right?'
    for bin in found:
        bar = '#' * round(30 * bin.accuracy)
        yield (f'  {bin.low:.1f}-{bin.high:.1f}  sure {bin.confidence:4.0%}  right {bin.accuracy:4.0%}  '
               f'{bar:30}  {bin.count}')
