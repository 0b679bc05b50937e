"""Hair for the heads: curves grown over the skull in layers, combed, pulled down by their weight, kept off the face."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from emavatar_ros.face import hairline, paint

Floats = NDArray[np.float64]


class Scalp:
    """Points all over a head with normals: distance to it, and roots on it."""

    def __init__(self, canon: Floats, shaped: Floats, quads: NDArray[np.int64], normals: Floats) -> None:
        quads = quads[(canon[quads][:, :, 1] > 5.3).all(1) & (np.abs(canon[quads][:, :, 0]) < 1.9).all(1)]
        grid = (np.arange(4) + 0.5) / 4
        u, v = (item.ravel()[:, None, None] for item in np.meshgrid(grid, grid))
        corner = [(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v]

        def spread(values: Floats) -> Floats:
            return sum(w * values[quads[:, i]][None] for i, w in enumerate(corner)).reshape(-1, 3)

        self.points, self.canon, self.normals = spread(shaped), spread(canon), spread(normals)
        self.normals /= np.linalg.norm(self.normals, axis=1, keepdims=True) + 1e-9
        a, b, c = (shaped[quads[:, i]] for i in (0, 1, 3))
        self.area = np.tile(np.linalg.norm(np.cross(b - a, c - a), axis=1), 16)
        self._tree = cKDTree(self.points)

    def roots(self, style: str, number: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
        """Indices of points inside the hairline, spread evenly, and how far inside they are."""
        angle = np.arctan2(self.canon[:, 0], self.canon[:, 2] - paint.AXIS)
        inside = hairline.above(style, angle, self.canon[:, 1])
        ear = (np.abs(self.canon[:, 0]) > 0.86) & (self.canon[:, 1] < 7.55) & (np.abs(self.canon[:, 2] - 0.05) < 0.5)
        allowed = np.flatnonzero((inside > 0) & ~ear)
        weight = self.area[allowed] * (1 + 1.2 * np.exp(-inside[allowed] / 0.10))
        order = rng.random(len(allowed)) ** (1 / (weight / weight.max() + 1e-6))
        chosen = allowed[np.argsort(-order)[:number]]
        return chosen, inside[chosen]

    def push(self, places: Floats, gap: Floats) -> Floats:
        """Move places out so that they lie at least `gap` [n] dm off the surface."""
        distance, index = self._tree.query(places, k=3)
        weight = 1 / (distance + 0.02)
        weight /= weight.sum(1, keepdims=True)
        surface = (self.points[index] * weight[..., None]).sum(1)
        normal = (self.normals[index] * weight[..., None]).sum(1)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-9
        height = ((places - surface) * normal).sum(1)
        return places + normal * np.maximum(0, gap - height)[:, None]


def grow(style: str, canon: Floats, shaped: Floats, quads: NDArray[np.int64], normals: Floats) -> dict[str, Floats]:
    """Strands float16 [s, p, 3], inner layers first, and their look float16 [s, 4]: width, tone, layer, seed."""
    scalp = Scalp(canon.astype(float), shaped.astype(float), quads, normals.astype(float))
    strands, width, layer = STYLES[style](scalp)
    rng = np.random.default_rng(11)
    order = np.argsort(layer + rng.uniform(0, 0.05, len(layer)))
    # Neighbouring locks share their tone: hair has streaks, not noise.
    root = strands[:, 0]
    tone = np.sin(root[:, 0] * 7 + root[:, 2] * 3) * 0.35 + rng.normal(0, 0.35, len(root))
    look = np.stack([width, np.clip(tone, -1, 1), layer, rng.random(len(root))], 1)
    return {'strands': strands[order].astype(np.float16), 'strand_look': look[order].astype(np.float16)}


def _resample(paths: Floats, points: int) -> Floats:
    """The same curves with evenly spaced points, smoothed a little."""
    for _ in range(2):
        paths[:, 1:-1] = paths[:, 1:-1] * 0.5 + (paths[:, :-2] + paths[:, 2:]) * 0.25
    step = np.linalg.norm(np.diff(paths, axis=1), axis=2)
    run = np.concatenate([np.zeros((len(paths), 1)), np.cumsum(step, axis=1)], 1)
    where = run[:, -1:] * np.linspace(0, 1, points) ** 0.9
    result = np.empty((len(paths), points, 3))
    for i in range(len(paths)):
        for k in range(3):
            result[i, :, k] = np.interp(where[i], run[i], paths[i, :, k])
    return result


def _bob(scalp: Scalp) -> tuple[Floats, Floats, Floats]:
    """Parted on her left, falling to below the jaw, turned in a little at the tips."""
    rng = np.random.default_rng(4)
    number, steps = 720, 30
    root, inside = scalp.roots('bob', number, rng)
    place, out, where = scalp.points[root].copy(), scalp.normals[root], scalp.canon[root]
    side = np.where(where[:, 0] > 0.27, 1.0, -1.0)
    layer = rng.random(number)
    front = np.clip((where[:, 2] - 0.3) / 0.9, 0, 1)
    top = np.clip((where[:, 1] - 7.7) / 0.6, 0, 1)
    goal = np.stack([side * (0.55 + 0.6 * top), -0.25 - 0.7 * (1 - top), 0.05 - 0.75 * front - 0.1 * top], 1)
    goal += rng.normal(0, 0.05, goal.shape)
    way = goal + out * (0.55 * top + 0.10)[:, None]
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    floor = 6.00 + 0.06 * rng.random(number) + 0.10 * (1 - layer) + 0.10 * (where[:, 2] < -0.1)
    length = np.clip((place[:, 1] - floor) + 0.75 * top + 0.15, 0.4, 3.2)
    thick = 0.03 + 0.10 * layer
    path = [place.copy()]
    for i in range(steps):
        t = (i + 1) / steps
        fall = np.stack([np.zeros(number), -np.ones(number), np.zeros(number)], 1)
        comb = goal * max(0.0, 1 - t * 2.2)
        way = way * 0.80 + fall * (0.20 + 0.10 * t) + comb * 0.16
        # Locks in front sweep back round the face.
        ahead = (place[:, 2] > 0.15) & (place[:, 1] < 7.95)
        way[:, 2] -= np.where(ahead, 0.07, 0.0)
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        place = place + way * (length / steps)[:, None]
        place = scalp.push(place, thick * np.clip(t * 5, 0.1, 1))
        # The face stays free, and the whole keeps its shape: between an inner wall and the outline of the cut.
        low = (place[:, 1] < 7.70) & (place[:, 2] > 0.0)
        wall = np.interp(place[:, 1], [6.0, 6.6, 7.2, 7.8], [0.66, 0.72, 0.80, 0.78]) + 0.05 * layer
        short = np.where(low, np.maximum(0, wall - np.abs(place[:, 0])), 0)
        place[:, 0] += np.sign(place[:, 0] + 1e-6) * short * 0.6
        edge = np.interp(place[:, 1], [5.9, 6.15, 6.6, 7.2, 7.7, 8.2], [0.72, 0.86, 0.95, 0.99, 0.97, 0.9]) + 0.12 * layer
        over = np.maximum(0, np.abs(place[:, 0]) - edge)
        place[:, 0] -= np.sign(place[:, 0]) * over * 0.7
        limit = np.interp(place[:, 1], [6.0, 6.6, 7.2, 7.8], [0.62, 0.66, 0.72, 0.95])
        place[:, 2] -= np.where(low, np.maximum(0, place[:, 2] - limit) * 0.6, 0)
        way = place - path[-1]
        way /= np.linalg.norm(way, axis=1, keepdims=True) + 1e-9
        path.append(place.copy())
    width = rng.uniform(0.10, 0.17, number) * np.where(inside < 0.10, 0.6, 1.0)
    return _resample(np.stack(path, 1), 9), width, layer


def _short(scalp: Scalp) -> tuple[Floats, Floats, Floats]:
    """Short at the sides, a little longer and brushed up and to the side on top."""
    rng = np.random.default_rng(9)
    number, steps = 1500, 10
    root, inside = scalp.roots('short', number, rng)
    place, out, where = scalp.points[root].copy(), scalp.normals[root], scalp.canon[root]
    top = np.clip((where[:, 1] - 7.75) / 0.45, 0, 1)
    edge = np.clip(inside / 0.18, 0.25, 1)
    layer = rng.random(number)
    length = (0.14 + 0.16 * top) * edge * rng.uniform(0.7, 1.15, number)
    goal = np.stack([-0.5 * top + 0.0 * where[:, 0], -0.75 * (1 - top), 0.15 * top - 0.55 * (1 - top)], 1)
    goal += rng.normal(0, 0.10, goal.shape)
    way = out * (0.25 + 0.35 * top)[:, None] + goal * 0.9
    thick = 0.012 + (0.025 + 0.075 * top) * layer
    path = [place.copy()]
    for i in range(steps):
        t = (i + 1) / steps
        way = way * 0.75 + goal * 0.25 + np.array([0, -0.03, 0])
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        place = scalp.push(place + way * (length / steps)[:, None], thick * min(1.0, t * 3))
        path.append(place.copy())
    width = rng.uniform(0.05, 0.08, number)
    return _resample(np.stack(path, 1), 4), width, layer


STYLES = {'bob': _bob, 'short': _short}
