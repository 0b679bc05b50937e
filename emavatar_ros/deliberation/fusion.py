"""The arbiter by calibrated fusion: a weighted log-opinion pool of the views.

What a view says is evidence, not truth: through its confusion matrix (`reliability`) it becomes the likelihood of each
emotion, and the logarithms are added with a weight for each view. So plain or pleasant words over a miserable face
count as what they often are, and a face that reads as neutral is weak evidence of calm. Views conflict when their hard
labels differ. Without evidence, or with too little of it, the estimate is unsure: never a silent neutral. The order of
candidates changes nothing; nothing is remembered (see `belief`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from emavatar_ros.deliberation.conflict import conflicts
from emavatar_ros.deliberation.reasons import reasons
from emavatar_ros.deliberation.reliability import EVEN, Table, load
from emavatar_ros.emotion.affect import valence_arousal
from emavatar_ros.emotion.candidate import Candidate, Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, UNSURE, VIEWS
from emavatar_ros.history import Line
from emavatar_ros.settings import setting

GROUPS: Final = (('happy',), ('neutral',), ('surprised',), ('angry', 'contempt', 'disgusted', 'fear', 'sad'))


MISSING: Final = {1: 0.75, 2: 0.9}
"""Confidence kept where so few views said something: a missing view leaves doubt that the others don't show."""


@dataclass(frozen=True)
class Config:
    """Settings of the fusion."""

    least_probability: float = setting(0.27, 'below this probability of the likeliest label the estimate is unsure',
                                       low=0.125, high=1)
    least_margin: float = setting(0.03, 'below this lead of one group (happy, neutral, surprised, unpleasant) over the'
                                  ' next the estimate is unsure', low=0, high=1)
    unpleasant: float = setting(0.7, 'how much the five unpleasant emotions together count against one other', low=0.2,
                                high=1)
    sharpness: float = setting(1.6, 'how much the pooled evidence counts; 1.6 made confidence match accuracy (.58,'
                               ' .57) on 100 scenes of conflicting views', low=0.1, high=10)


class Arbiter:
    """Decides by fusion. `decide` is a function of its arguments."""

    def __init__(self, config: Config | None = None, table: Table | None = None) -> None:
        self._config = config or Config()
        self._table = load() if table is None else table

    def decide(self, candidates: Sequence[Candidate], history: Sequence[Line] = ()) -> Estimate:
        """The estimate for one utterance.

        candidates: at most one a view, abstaining ones included; of several from one view the surest counts. history is
        not used by this arbiter.
        """
        views = _one_each(candidates)
        if not views:
            missing = sorted(candidates, key=lambda item: item.view)
            said = tuple(f'no {item.view}: {item.reason}' for item in missing if item.reason)
            return Estimate(UNSURE, 0.0, Distribution.uniform(), 0.0, 0.0,
                            reasons=said or ('nothing was seen or heard',))
        conflict = conflicts(views)
        fused = self.prior(views)
        label, sure = self.choose(fused)
        confidence = fused[label] * MISSING.get(len(views), 1.0)
        label = label if sure else UNSURE
        valence, arousal = valence_arousal(fused)
        return Estimate(label, confidence, fused, valence, arousal, conflict,
                        'fusion' if conflict else 'agreement', reasons(label, views, candidates))

    def prior(self, candidates: Sequence[Candidate], as_one: bool = False) -> Distribution:
        """What the candidates alone make likely; uniform when all abstain. as_one: they count as one view together, as
        they do when somebody may be putting on an act, which words, voice and face then share."""
        views = _one_each(candidates)
        if not views:
            return Distribution.uniform()
        if as_one:
            return self._pool(views, 1 / len(views))
        return self._pool(views) if conflicts(views) else _agreed(views)

    def choose(self, fused: Distribution) -> tuple[str, bool]:
        """The label, and whether it is sure enough to be published.

        First whether the visitor is well, plain, startled or unwell, then what exactly: five unpleasant emotions that
        share most of the probability aren't outvoted by neutral because they are five.
        """
        groups = [(sum(fused[label] for label in group) * (self._config.unpleasant if len(group) > 1 else 1.0), group)
                  for group in GROUPS]
        mass, group = max(groups, key=lambda item: item[0])
        lead = mass - max(other for other, labels in groups if labels is not group)
        label = max(group, key=lambda label: fused[label])
        return label, fused[label] >= self._config.least_probability and lead >= self._config.least_margin

    def _pool(self, views: Sequence[Candidate], weigh: float | None = None) -> Distribution:
        total = np.zeros(len(LABELS))
        for view in views:
            assert view.distribution is not None
            known = self._table.views.get(view.view, EVEN)
            # A view that is unsure of itself counts less, down to half.
            weight = known.weight * (0.5 + 0.5 * min(1.0, view.confidence / view.distribution.confidence))
            total += weight * np.log(known.likelihood(view.distribution))
        sharpness = self._config.sharpness if weigh is None else weigh
        return Distribution.from_logits(np.log(self._table.base) + total * sharpness)


def _agreed(views: Sequence[Candidate]) -> Distribution:
    """Views of one opinion: their distributions pooled as they are, so that each makes the others' label surer."""
    total = np.zeros(len(LABELS))
    for view in views:
        assert view.distribution is not None
        total += np.log(0.97 * view.distribution.array + 0.03 / len(LABELS)) * (0.5 + 0.5 / len(views))
    return Distribution.from_logits(total)


def _one_each(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that say something, the surest of each view, in the order of VIEWS."""
    order = {view: index for index, view in enumerate(VIEWS)}
    said = [item for item in candidates if not item.abstains and item.distribution is not None]
    said.sort(key=lambda item: (order.get(item.view, len(order)), item.view, -item.confidence, item.label or '',
                                item.model))
    return [item for index, item in enumerate(said) if index == 0 or said[index - 1].view != item.view]
