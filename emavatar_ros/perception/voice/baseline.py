"""How a person usually sounds: what is known of people in general, and what was heard of this one so far.

Each measure has its own mean over people, its deviation within a person and its deviation between people. What differs
much between people (pitch, how far the microphone is) is learned from an utterance or two; what differs little keeps
the population's mean for long. That is the normal distribution's own rule: the population is worth
(within / between)² utterances.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

MOST: Final = 12
"""Utterances after which older ones fade: a person may change, the microphone may move."""
FARTHEST: Final = 4.0
"""Deviations beyond which a measure is taken for a mistake of the measuring."""

Vector = NDArray[np.float32]


class Baseline:
    """One person's; starts as the population's."""

    def __init__(self, mean: Vector, within: Vector, between: Vector) -> None:
        """Of the population, float32 [features] each; within, between: standard deviations above 0."""
        self.count = 0
        self._mean = np.asarray(mean, np.float64)
        self._within = np.asarray(within, np.float64)
        self._worth = (self._within / np.asarray(between, np.float64)) ** 2

    def standardise(self, values: Vector) -> Vector:
        """Deviations from what is expected of this person, in units of how far off that may be; held within 4.

        Before anything was heard that is how far people differ; it narrows to how far one person does."""
        unsure = self._within * np.sqrt(1 + 1 / (self._worth + min(self.count, MOST)))
        return np.clip((values - self._mean) / unsure, -FARTHEST, FARTHEST).astype(np.float32)

    def add(self, values: Vector) -> None:
        """Another utterance of the same person."""
        self.count += 1
        self._mean += (values - self._mean) / (self._worth + min(self.count, MOST))
