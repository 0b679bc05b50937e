"""Evidence and belief: what one view says, and what the arbiter makes of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from emavatar_ros.emotion.affect import valence_arousal
from emavatar_ros.emotion.distribution import Distribution


@dataclass(frozen=True)
class Candidate:
    """One view's evidence about one utterance.

    view: words, voice, face or whole. confidence in [0, 1], calibrated. valence, arousal in [-1, 1]. evidence is
    one plain sentence of what was seen or heard. A view that saw nothing abstains: label and distribution None,
    confidence 0, and `reason` says why. measures: cues that it could measure, by the names of config/cues.yaml, whether
    it abstains or not; nobody reads them unless a question asks for them.
    """

    view: str
    model: str
    label: str | None = None
    confidence: float = 0.0
    distribution: Distribution | None = None
    valence: float = 0.0
    arousal: float = 0.0
    evidence: str = ''
    reason: str = ''
    measures: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, view: str, model: str, distribution: Distribution, evidence: str, *,
           confidence: float | None = None, affect: tuple[float, float] | None = None,
           measures: Mapping[str, float] | None = None) -> Candidate:
        """A candidate from its distribution; `confidence` and `affect` (valence, arousal) default to what it says."""
        valence, arousal = valence_arousal(distribution) if affect is None else affect
        return cls(view, model, distribution.label, distribution.confidence if confidence is None else confidence,
                   distribution, valence, arousal, evidence, measures=measures or {})

    @classmethod
    def abstain(cls, view: str, model: str, reason: str, measures: Mapping[str, float] | None = None) -> Candidate:
        """Nothing was seen, because of `reason`."""
        return cls(view, model, reason=reason, measures=measures or {})

    @property
    def abstains(self) -> bool:
        """True when this view has nothing to say."""
        return self.label is None


@dataclass(frozen=True)
class Exchange:
    """One question of the inspector and the collector's answer. round counts from 1; source: voice, face or words."""

    round: int
    question: str
    answer: str
    source: str


@dataclass(frozen=True)
class Estimate:
    """The arbiter's belief about the visitor: one of the eight labels, or unsure.

    confidence in [0, 1]; valence, arousal in [-1, 1]; conflict: the views disagreed; method names how it was
    decided (agreement, fusion, questions, none, ...); reasons are sentences a person can read.
    """

    label: str
    confidence: float
    distribution: Distribution
    valence: float
    arousal: float
    conflict: bool = False
    method: str = 'none'
    reasons: tuple[str, ...] = ()
    questions: tuple[Exchange, ...] = ()

    @property
    def rounds(self) -> int:
        """How many questions were asked."""
        return len(self.questions)
