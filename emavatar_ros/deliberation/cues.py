"""Cues that can be measured, what they usually look like for each emotion, and the questions that ask for them.

The table is config/cues.yaml. A cue's likelihood under an emotion is a bell around its usual value with a floor (a
figure far from every mean says nothing, instead of ruling everything out), or, for what is there or not, how often it
is there. Sources and limits are in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import yaml
from numpy.typing import NDArray

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.places import share

FLOOR: Final = 0.05
"""Share of the likelihood that no value takes away."""
SOURCES: Final = ('voice', 'face', 'words')

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """One measured cue: its source (voice, face, words), its name in cues.yaml, its value, and a plain sentence."""

    source: str
    measure: str
    value: float
    sentence: str


@dataclass(frozen=True)
class Cue:
    """source; unit; usual: [8] means of a level, or rates of a sign; spread: a level's deviation, 0 for a sign. edges:
    where low ends and high begins; says: how low, usual and high (of a sign: absent, present) are told."""

    source: str
    unit: str
    usual: Array
    spread: float
    edges: tuple[float, float]
    says: tuple[str, ...]

    def tell(self, value: float) -> str:
        """The value in a few plain words."""
        if not self.spread:
            return self.says[value > 0]
        return self.says[(value >= self.edges[0]) + (value > self.edges[1])]

    def log_likelihood(self, values: Array) -> Array:
        """[..., 8] for values [...]: how well each emotion explains each value, relative."""
        value = np.clip(np.asarray(values, float)[..., None], -1e3, 1e3)
        if not self.spread:
            return np.asarray(np.log(np.where(value > 0, self.usual, 1 - self.usual)))
        bell = np.exp(-0.5 * ((value - self.usual) / self.spread) ** 2)
        return np.asarray(np.log((1 - FLOOR) * bell + FLOOR))

    def draw(self, label: int, uniform: Array, normal: Array) -> Array:
        """Values one would measure under an emotion, from uniform [0, 1) and standard normal draws of one shape."""
        if not self.spread:
            return np.asarray(uniform < self.usual[label], float)
        return np.asarray(self.usual[label] + self.spread * normal)


@dataclass(frozen=True)
class Question:
    """A question of the inspector. name: in cues.yaml, '' for a free one; measures: the cues it asks for."""

    text: str
    measures: tuple[str, ...]
    name: str = ''


@dataclass(frozen=True)
class Cues:
    """The whole table. trust: the power to which likelihoods are raised, in (0, 1]."""

    trust: float
    known: Mapping[str, Cue]
    questions: tuple[Question, ...]

    def log_likelihood(self, measured: Iterable[Measured]) -> Array:
        """[8] of everything measured; what the table doesn't know says nothing. Independent of the order."""
        rows = [self.known[item.measure].log_likelihood(np.array(item.value))
                for item in sorted(measured, key=lambda item: (item.measure, item.value)) if item.measure in self.known]
        return self.trust * np.sum(rows, axis=0) if rows else np.zeros(len(LABELS))

    def source(self, measures: Sequence[str]) -> str:
        """Where the cues are measured: voice, face or words."""
        return next((self.known[name].source for name in measures if name in self.known), SOURCES[-1])


@cache
def load(file: Path | None = None) -> Cues:
    """The table; the project's own when no file is given. BadInput says what is wrong with a file."""
    path = share('config/cues.yaml') if file is None else file
    try:
        content = yaml.safe_load(path.read_text(encoding='utf-8'))
        if tuple(content['labels']) != LABELS:
            raise BadInput(f'{path}: labels must be {", ".join(LABELS)}, in this order')
        known = {name: _level(entry) for name, entry in content['levels'].items()}
        known |= {name: _sign(entry) for name, entry in content['signs'].items()}
        questions = tuple(Question(entry['text'], tuple(entry['measures']), name)
                          for name, entry in content['questions'].items())
        unknown = {name for question in questions for name in question.measures} - set(known)
        if unknown:
            raise ValueError(f'a question asks for {sorted(unknown)[0]!r}, which is no cue')
        trust = float(content['trust'])
        if not 0 < trust <= 1:
            raise ValueError('trust must be above 0 and at most 1')
        return Cues(trust, known, questions)
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadInput(f'{path} is no table of cues: {error}') from None


def _level(entry: dict[str, object]) -> Cue:
    usual, spread = np.array(entry['means'], float), float(str(entry['spread']))
    if usual.shape != (len(LABELS),) or not spread > 0 or entry['source'] not in SOURCES:
        raise ValueError('a level needs eight means, a spread above 0 and a source')
    edges = np.array(entry['edges'], float)
    if edges.shape != (2,):
        raise ValueError('a level needs two edges')
    return Cue(str(entry['source']), str(entry['unit']), usual, spread, (float(edges[0]), float(edges[1])),
               _says(entry, 3))


def _sign(entry: dict[str, object]) -> Cue:
    usual = np.array(entry['rates'], float)
    if usual.shape != (len(LABELS),) or np.any(usual <= 0) or np.any(usual >= 1) or entry['source'] not in SOURCES:
        raise ValueError('a sign needs eight rates between 0 and 1 and a source')
    return Cue(str(entry['source']), 'count', usual, 0.0, (0.0, 0.0), _says(entry, 2))


def _says(entry: dict[str, object], count: int) -> tuple[str, ...]:
    said = entry['says']
    if not isinstance(said, list) or len(said) != count or not all(isinstance(text, str) for text in said):
        raise ValueError(f'says needs {count} short sentences')
    return tuple(said)
