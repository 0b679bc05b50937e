"""How far each view can be trusted for each emotion: its confusion matrix, from config/reliability.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.places import share


@dataclass(frozen=True)
class Reliability:
    """How a view errs. confusion: [8 true, 8 said], rows sum to 1. weight: how independent its errors are, 0 to 1."""

    confusion: NDArray[np.float64]
    weight: float

    def likelihood(self, said: Distribution) -> NDArray[np.float64]:
        """[8] how well each true emotion explains what the view said, relative: its distribution is soft evidence."""
        expected = self.confusion / self.confusion.mean(axis=0)
        found: NDArray[np.float64] = expected @ said.array
        return found


@dataclass(frozen=True)
class Table:
    """Every view's reliability by name, and base: [8] how likely each emotion is before anything is known."""

    views: Mapping[str, Reliability]
    base: NDArray[np.float64]


EVEN = Reliability(np.full((len(LABELS), len(LABELS)), 0.5 / (len(LABELS) - 1))
                   + np.eye(len(LABELS)) * (0.5 - 0.5 / (len(LABELS) - 1)), 0.5)
"""For a view the file doesn't name: right half of the time, errors spread evenly."""


@cache
def load(file: Path | None = None) -> Table:
    """The table; the project's own when no file is given. BadInput says what is wrong with a file."""
    path = share('config/reliability.yaml') if file is None else file
    try:
        content = yaml.safe_load(path.read_text(encoding='utf-8'))
        if tuple(content['labels']) != LABELS:
            raise BadInput(f'{path}: labels must be {", ".join(LABELS)}, in this order')
        table = {view: _reliability(entry) for view, entry in content['views'].items()}
        base = np.array(content['base'], dtype=float)
        if base.shape != (len(LABELS),) or not np.all(base > 0):
            raise BadInput(f'{path}: base needs eight positive numbers')
        return Table(table, base / base.sum())
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f'{path} is no table of reliabilities: {error}') from None


def _reliability(entry: dict[str, dict[str, list[float]]]) -> Reliability:
    rows = np.array([entry['rows'][label] for label in LABELS], dtype=float)
    weight = float(entry['weight'])  # type: ignore[arg-type]
    if rows.shape != (len(LABELS), len(LABELS)) or not np.all(rows > 0) or not 0 <= weight <= 1:
        raise ValueError('each view needs eight rows of eight positive numbers and a weight from 0 to 1')
    return Reliability(rows / rows.sum(axis=1, keepdims=True), weight)
