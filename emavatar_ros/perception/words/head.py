"""From MiniLM's layers to eight probabilities: the small trained part of the words view.

Weights: perception/data/words_head.npz, made by tools/train_words.py from GoEmotions (CC BY 4.0, Google Research) and
the project's own seed sentences; the file says nothing of the sentences it learned from. One hidden layer beside a
linear one, a weight per token, a second decision for contempt, which GoEmotions doesn't have, and a third for whether
a line brings good news or bad.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput

FILE: Final = Path(__file__).parents[1] / 'data' / 'words_head.npz'
_CONTEMPT: Final = LABELS.index('contempt')
_NAMES: Final = ('mean', 'scale', 'w1', 'b1', 'w2', 'b2', 'skip', 'token_ids', 'tokens', 'contempt', 'contempt_bias',
                 'news', 'news_bias', 'lexicon', 'temperature')


class WordsHead:
    """The trained head; no state between calls."""

    def __init__(self, path: Path = FILE) -> None:
        """Load the weights; raises BadInput when the file is not a words head."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                loaded = {name: stored[name] for name in _NAMES}
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(f'{path} is no words head ({error}); make one with tools/train_words.py') from error
        self._column = {int(token): i for i, token in enumerate(loaded.pop('token_ids'))}
        self._w: dict[str, NDArray[np.float32]] = {name: value.astype(np.float32) for name, value in loaded.items()}

    def read(self, layers: NDArray[np.float32], tokens: Sequence[int], scorn: float = 0.0) -> Distribution:
        """How likely each emotion is, from one text's layer means float32 [7, 384] and its token ids. `scorn`: what
        else speaks for contempt, in log-odds."""
        w = self._w
        x = (layers.ravel() - w['mean']) * w['scale']
        hidden = np.maximum(x @ w['w1'] + w['b1'], 0)
        logits = hidden @ w['w2'] + w['b2'] + x @ w['skip']
        rows = sorted({self._column[token] for token in tokens if token in self._column})
        if rows:
            logits = logits + w['tokens'][rows].sum(axis=0) / len(rows) ** 0.5
        logits[_CONTEMPT] = -np.inf
        p = Distribution.from_logits(logits, float(w['temperature'][0])).array
        scorn += float(x[-len(w['contempt']):] @ w['contempt'] + w['contempt_bias'][0])
        p[_CONTEMPT] = 1 / (1 + np.exp(-scorn))
        p *= np.where(np.arange(len(p)) == _CONTEMPT, 1, 1 - p[_CONTEMPT])
        return Distribution.of(p)

    def event(self, layers: NDArray[np.float32]) -> tuple[float, float]:
        """How likely a line is good news, and how likely bad, for the one who hears it; the rest is neither."""
        w = self._w
        z = ((layers.ravel() - w['mean']) * w['scale'])[-len(w['news']):] @ w['news'] + w['news_bias']
        p = np.exp(z - z.max())
        return float(p[0] / p.sum()), float(p[1] / p.sum())

    def weight(self, token: int, label: str) -> float:
        """How much more likely `label` is where this token is than elsewhere, in log-odds; 0 for one unknown.

        Counted in what the head learned from; the reading itself knows more than its words."""
        row = self._column.get(token)
        return 0.0 if row is None else float(self._w['lexicon'][row, LABELS.index(label)])
