"""What is believed of one person over time: it holds, it doesn't flicker, it fades to unsure.

Each estimate is mixed into the belief; a new label takes over only when it leads clearly or has led for `hold`
seconds. Without news the belief keeps its label for `keep` seconds and then fades towards knowing nothing. Time is an
argument, in seconds of any one clock; one Belief is one person's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from emavatar_ros.emotion.affect import valence_arousal
from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import UNSURE
from emavatar_ros.settings import setting


@dataclass(frozen=True)
class Config:
    """Settings of the belief."""

    hold: float = setting(1.0, 'a label that leads a little must lead this long before it is published', unit='s',
                          low=0, high=30)
    lead: float = setting(0.15, 'a label that leads by this much takes over at once', low=0, high=1)
    memory: float = setting(4.0, 'after this time an older estimate counts half', unit='s', low=0.05, high=600)
    keep: float = setting(8.0, 'without news the belief stands this long', unit='s', low=0, high=3600)
    fade: float = setting(4.0, 'then it halves in this time', unit='s', low=0.05, high=3600)
    least: float = setting(0.28, 'a label needs this probability to be published', low=0.125, high=1)
    drop: float = setting(0.2, 'a published label is kept down to this probability', low=0.125, high=1)


class Belief:
    """The belief about one person; `forget` when they leave."""

    def __init__(self, config: Config | None = None) -> None:
        self._config = config or Config()
        self.forget()

    def forget(self) -> None:
        """Know nothing."""
        self._last = Estimate(UNSURE, 0.0, Distribution.uniform(), 0.0, 0.0)
        self._distribution = Distribution.uniform()
        self._weight = 0.0
        self._time: float | None = None
        self._label = UNSURE
        self._rival: tuple[str, float] | None = None

    def update(self, estimate: Estimate, t: float) -> Estimate:
        """Take in an estimate made at `t` (one older than the last counts as made with it); the belief then."""
        now = t if self._time is None else max(t, self._time)
        # An estimate that knew nothing is no news: it neither refreshes nor weakens what is believed.
        if estimate.method == 'none' and estimate.label == UNSURE:
            return self.at(now)
        age = 0.0 if self._time is None else now - self._time
        old = self._weight * 0.5 ** (age / self._config.memory)
        new = max(estimate.confidence, 0.05)
        self._distribution = Distribution.mix(((old, self._distribution), (new, estimate.distribution)))
        self._weight = min(old + new, 2.0)
        self._last, self._time = estimate, now
        self._settle(now, estimate)
        return self.at(now)

    def at(self, t: float) -> Estimate:
        """The belief at `t` (not before the last update); changes nothing."""
        if self._time is None:
            return self._last
        silent = max(0.0, t - self._time - self._config.keep)
        left = 0.5 ** (silent / self._config.fade)
        faded = Distribution.mix(((left, self._distribution), (1 - left, Distribution.uniform())))
        label = self._label if self._label == UNSURE or faded[self._label] >= self._config.drop else UNSURE
        confidence = self._last.confidence * left if label == self._last.label else (
            faded[label] if label != UNSURE else min(self._last.confidence, faded.confidence) * left)
        valence, arousal = valence_arousal(faded)
        stale = (f'nothing new for {t - self._time:.0f} s',) if silent > 0 else ()
        return replace(self._last, label=label, confidence=float(np.clip(confidence, 0, 1)), distribution=faded,
                       valence=valence, arousal=arousal, reasons=(*self._last.reasons, *stale))

    def _settle(self, now: float, estimate: Estimate) -> None:
        """Which label is published after an update."""
        best = self._distribution.label
        if self._distribution.confidence < self._config.least:
            best = self._label if self._distribution[best] >= self._config.drop else UNSURE
        if best == self._label:
            self._rival = None
            return
        ahead = self._distribution.confidence - (0.0 if self._label == UNSURE else self._distribution[self._label])
        since = self._rival[1] if self._rival is not None and self._rival[0] == best else now
        self._rival = (best, since)
        first = self._label == UNSURE and estimate.label == best
        if first or (best != UNSURE and ahead >= self._config.lead) or now - since >= self._config.hold:
            self._label, self._rival = best, None


class Beliefs:
    """The beliefs about everybody who was here lately, by person id.

    A voice nobody is seen to is `nobody`'s; it is taken to be the one person known, and the first person who is seen
    inherits what was believed of the voice.
    """

    MOST: Final = 8
    """People remembered; of more, those not asked about for longest are forgotten."""

    def __init__(self, config: Config | None = None, nobody: str = '') -> None:
        self._config = config or Config()
        self._nobody = nobody
        self._known: dict[str, Belief] = {}

    def of(self, person: str) -> Belief:
        """The belief about a person."""
        if person == self._nobody and len(self._known) == 1:
            (person,) = self._known
        belief = self._known.pop(person, None)
        if belief is None and set(self._known) == {self._nobody}:
            belief = self._known.pop(self._nobody)
        self._known[person] = belief or Belief(self._config)
        if len(self._known) > self.MOST:
            del self._known[next(iter(self._known))]
        return self._known[person]

    def forget(self) -> None:
        """Everybody has left."""
        self._known.clear()
