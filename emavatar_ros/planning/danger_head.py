"""Hears danger in words that no pattern knows: a linear classifier over MiniLM's last layers.

MiniLM knows English; of Spanish it sees little more than how words are written, so each language has its own threshold.

Weights: planning/data/danger_head.npz, made by tools/train_care.py from this project's own sentences and, as what is no
danger, GoEmotions (CC BY 4.0, Google Research). About 13 ms of one core for a sentence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from emavatar_ros.errors import BadInput
from emavatar_ros.language import guess
from emavatar_ros.perception.words.embedding import Embedding
from emavatar_ros.planning import texts
from emavatar_ros.planning.danger import ABOUT, KINDS, Danger, harmless

FILE: Final = Path(__file__).parent / 'data' / 'danger_head.npz'
CLASSES: Final = ('none', *(f'{kind} {about}' for kind in KINDS for about in ABOUT))
LAYERS: Final = slice(3, 7)
"""Of MiniLM's input and six layers, those that are looked at."""
LONGEST: Final = 60
"""Words read: in a longer text a hint drowns, its end is read."""
SHORTEST: Final = 3  # words; fewer say too little


class DangerHead:
    """The trained classifier; no state between calls."""

    def __init__(self, embedding: Embedding, path: Path = FILE) -> None:
        """Load the weights; raises BadInput when the file is none of ours."""
        self._embedding = embedding
        try:
            with np.load(path, allow_pickle=False) as stored:
                self._weights = stored['weights'].astype(np.float32)
                self._bias = stored['bias'].astype(np.float32)
                self._thresholds = dict(zip(texts.LANGUAGES, map(float, stored['thresholds']), strict=True))
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(f'{path} is no danger head ({error}); make one with tools/train_care.py') from error

    def find(self, text: str) -> Danger | None:
        """What the words are likely to be about, or None. Languages other than texts.LANGUAGES are not judged, nor are
        words with a figure of speech, or about a film, a book, the past: there it is the patterns' word that counts."""
        words = text.split()
        threshold = self._thresholds.get(guess(text, 'en'))
        if threshold is None or len(words) < SHORTEST or harmless(text):
            return None
        z = self._embedding.layers([' '.join(words[-LONGEST:])])[0, LAYERS].ravel() @ self._weights + self._bias
        p = np.exp(z - z.max())
        p /= p.sum()
        if 1 - p[0] <= threshold:
            return None
        kind, about = CLASSES[int(p[1:].argmax()) + 1].split(' ')
        return Danger(kind, about, 'now' if kind in ('medical', 'threat') else 'soon', float(1 - p[0]))

