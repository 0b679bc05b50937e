"""How likely each emotion is: eight probabilities in the order of LABELS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput


@dataclass(frozen=True)
class Distribution:
    """Eight probabilities, sum 1. Build it with a class method; the constructor takes them as they are."""

    p: tuple[float, ...]

    def __post_init__(self) -> None:
        values = np.asarray(self.p, dtype=float)
        if values.shape != (len(LABELS),) or not np.all(np.isfinite(values)) or np.any(values < 0):
            raise BadInput(f'a distribution needs {len(LABELS)} probabilities of at least 0, not {self.p!r}')
        if abs(values.sum() - 1) > 1e-3:
            raise BadInput(f'a distribution must sum to 1, not to {values.sum():.4f}')

    @classmethod
    def of(cls, weights: ArrayLike) -> Distribution:
        """Normalise eight weights of at least 0; all zero gives the uniform distribution."""
        values = np.asarray(weights, dtype=float).ravel()
        total = values.sum()
        values = values / total if total > 0 else np.full(len(LABELS), 1 / len(LABELS))
        return cls(tuple(float(v) for v in values))

    @classmethod
    def from_mapping(cls, weights: Mapping[str, float]) -> Distribution:
        """Weights by label; labels not named get 0, an unknown label is BadInput."""
        unknown = set(weights) - set(LABELS)
        if unknown:
            raise BadInput(f'unknown emotion {sorted(unknown)[0]!r}; known: {", ".join(LABELS)}')
        return cls.of([weights.get(label, 0.0) for label in LABELS])

    @classmethod
    def from_logits(cls, logits: ArrayLike, temperature: float = 1.0) -> Distribution:
        """Softmax of eight scores divided by `temperature` (> 0); minus infinity means impossible."""
        scores = np.asarray(logits, dtype=float) / temperature
        weights = np.exp(scores - scores.max())
        return cls.of(weights)

    @classmethod
    def uniform(cls) -> Distribution:
        """Nothing is known."""
        return cls.of(np.ones(len(LABELS)))

    @classmethod
    def mix(cls, parts: Iterable[tuple[float, Distribution]]) -> Distribution:
        """Weighted mean of distributions, weights of at least 0; no part gives the uniform distribution."""
        total = np.zeros(len(LABELS))
        for weight, part in parts:
            total += weight * part.array
        return cls.of(total)

    @property
    def array(self) -> NDArray[np.float64]:
        """The probabilities as float64 [8]."""
        return np.asarray(self.p, dtype=float)

    @property
    def label(self) -> str:
        """The most likely emotion; of equals the first in LABELS."""
        return LABELS[int(np.argmax(self.array))]

    @property
    def confidence(self) -> float:
        """Probability of the most likely emotion, in [1/8, 1]."""
        return float(max(self.p))

    def __getitem__(self, label: str) -> float:
        return self.p[LABELS.index(label)]

    def as_dict(self) -> dict[str, float]:
        """The eight probabilities by label, in order, rounded to 1e-4, as turn.json has them."""
        return {label: round(value, 4) for label, value in zip(LABELS, self.p, strict=True)}
