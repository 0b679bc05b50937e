"""Hair for the heads: curves grown over the skull in layers, combed, pulled down by their weight, kept off the face."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from emavatar_ros.face import hairline, paint

Floats = NDArray[np.float64]
PART = 0.27


class Scalp:
    """Points all over a head with normals: distance to it, and roots on it."""

    def __init__(self, canon: Floats, shaped: Floats, quads: NDArray[np.int64], normals: Floats,
                 ears: Floats) -> None:
        quads = quads[(canon[quads][:, :, 1] > 5.3).all(1) & (np.abs(canon[quads][:, :, 0]) < 1.9).all(1)]
        grid = (np.arange(4) + 0.5) / 4
        u, v = (item.ravel()[:, None, None] for item in np.meshgrid(grid, grid))
        corner = [(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v]

        def spread(values: Floats) -> Floats:
            return sum(w * values[quads[:, i]][None] for i, w in enumerate(corner)).reshape(-1, 3)

        self.points, self.canon, self.normals = spread(shaped), spread(canon), spread(normals)
        self.ears = spread(ears[:, None].repeat(3, 1))[:, 0]
        self.normals /= np.linalg.norm(self.normals, axis=1, keepdims=True) + 1e-9
        a, b, c = (shaped[quads[:, i]] for i in (0, 1, 3))
        self.area = np.tile(np.linalg.norm(np.cross(b - a, c - a), axis=1), 16)
        self._tree = cKDTree(self.points)

    def roots(self, style: str, number: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
        """Indices of points inside the hairline, spread evenly, and how far inside they are."""
        angle = np.arctan2(self.canon[:, 0], self.canon[:, 2] - paint.AXIS)
        inside = hairline.above(style, angle, self.canon[:, 1])
        allowed = np.flatnonzero((inside > 0) & (self.ears < 0.1) & (self.canon[:, 2] > -0.2))
        weight = self.area[allowed] * (1 + 3.0 * np.exp(-inside[allowed] / 0.10))
        order = rng.random(len(allowed)) ** (1 / (weight / weight.max() + 1e-6))
        chosen = allowed[np.argsort(-order)[:number]]
        return chosen, inside[chosen]

    def near(self, across: Floats, ahead: Floats) -> tuple[Floats, Floats]:
        """Places and normals on top of the head at x = across, z = ahead of the base mesh, [n, 3] each."""
        top = np.flatnonzero(self.canon[:, 1] > 7.88)
        tree = cKDTree(self.canon[top][:, [0, 2]])
        distance, index = tree.query(np.stack([across, ahead], 1), k=6)
        weight = 1 / (distance + 0.01)
        weight /= weight.sum(1, keepdims=True)
        normal = (self.normals[top][index] * weight[..., None]).sum(1)
        return (self.points[top][index] * weight[..., None]).sum(1), normal

    def toward(self, way: Floats, middle: Floats, style: str) -> tuple[Floats, Floats, Floats]:
        """Where directions [n, 3] from `middle` meet the head: places, normals, and how far inside the hairline."""
        seen = self.canon - middle
        seen /= np.linalg.norm(seen, axis=1, keepdims=True)
        use = np.flatnonzero((self.ears < 0.02) & (self.canon[:, 1] > 6.4))
        distance, index = cKDTree(seen[use]).query(way, k=8)
        weight = np.exp(-(distance / 0.03) ** 2) + 1e-6
        weight /= weight.sum(1, keepdims=True)
        place, normal, canon = ((array[use][index] * weight[..., None]).sum(1)
                                for array in (self.points, self.normals, self.canon))
        inside = hairline.above(style, np.arctan2(canon[:, 0], canon[:, 2] - paint.AXIS), canon[:, 1])
        return place, normal / np.linalg.norm(normal, axis=1, keepdims=True), inside

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


@dataclass
class Hair:
    """Ribbons: curves [s, p, 3], width, layer 0 (inner) to 1; sheets below them: [k, g, p, 3], curves side by side.

    Or shells over the scalp, [l, rows, columns, 3], from the skin outward.
    """

    strands: Floats
    width: Floats
    layer: Floats
    sheets: Floats
    shells: Floats


def grow(style: str, canon: Floats, shaped: Floats, quads: NDArray[np.int64], normals: Floats,
         ears: Floats) -> dict[str, Floats]:
    """Arrays for the head file: strands float16 [s, p, 3], inner layers first, their look float16 [s, 4] (width in
    dm, tone, layer, seed), sheets float16 [k, g, p, 3], shells float16 [l, rows, columns, 3]."""
    scalp = Scalp(canon.astype(float), shaped.astype(float), quads, normals.astype(float), ears)
    hair = STYLES[style](scalp)
    rng = np.random.default_rng(11)
    order = np.argsort(hair.layer + rng.uniform(0, 0.05, len(hair.layer)))
    # Neighbouring locks share their tone: hair has streaks, not noise.
    root = hair.strands[:, 0]
    tone = np.sin(root[:, 0] * 7 + root[:, 2] * 3) * 0.30 + rng.normal(0, 0.28, len(root))
    look = np.stack([hair.width, np.clip(tone, -1, 1), hair.layer, rng.random(len(root))], 1)
    return {'strands': hair.strands[order].astype(np.float16), 'strand_look': look[order].astype(np.float16),
            'sheets': hair.sheets.astype(np.float16), 'shells': hair.shells.astype(np.float16)}


def _resample(paths: Floats, points: int) -> Floats:
    """The same curves with evenly spaced points, smoothed a little."""
    for _ in range(4):
        paths[:, 1:-1] = paths[:, 1:-1] * 0.5 + (paths[:, :-2] + paths[:, 2:]) * 0.25
    step = np.linalg.norm(np.diff(paths, axis=1), axis=2)
    run = np.concatenate([np.zeros((len(paths), 1)), np.cumsum(step, axis=1)], 1)
    where = run[:, -1:] * np.linspace(0, 1, points) ** 0.9
    result = np.empty((len(paths), points, 3))
    for i in range(len(paths)):
        for k in range(3):
            result[i, :, k] = np.interp(where[i], run[i], paths[i, :, k])
    return result


def _fall(scalp: Scalp, place: Floats, out: Floats, goal: Floats, layer: Floats, length: Floats,
          least: float = 0.3) -> Floats:
    """Curves [n, 31, 3] that leave the scalp towards `goal`, then hang; kept in the outline of the cut.

    least: share of the hair's thickness that it has at the root.
    """
    steps = 30
    top = np.clip((place[:, 1] - 7.7) / 0.6, 0, 1)
    way = goal + out * (0.22 * top + 0.10)[:, None]
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    thick = 0.045 + 0.07 * layer
    path = [place.copy()]
    for i in range(steps):
        t = (i + 1) / steps
        comb = goal * max(0.0, 1 - t * 2.2)
        way = way * 0.80 + np.array([0, -1.0, 0]) * (0.20 + 0.10 * t) + comb * 0.16
        # Locks in front sweep back round the face.
        way[:, 2] -= np.where((place[:, 2] > 0.15) & (place[:, 1] < 7.95), 0.07, 0.0)
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        place = place + way * (length / steps)[:, None]
        # The face stays free, and the whole keeps its shape: between an inner wall and the outline of the cut.
        low = (place[:, 1] < 7.70) & (place[:, 2] > 0.0)
        wall = np.interp(place[:, 1], [6.0, 6.6, 7.2, 7.8], [0.64, 0.70, 0.80, 0.78]) + 0.05 * layer
        short = np.where(low, np.maximum(0, wall - np.abs(place[:, 0])), 0)
        place[:, 0] += np.sign(place[:, 0] + 1e-6) * short * 0.6
        edge = 0.07 * layer + np.interp(place[:, 1], [5.9, 6.1, 6.6, 7.2, 7.7, 8.2],
                                        [0.66, 0.80, 0.94, 0.99, 0.97, 0.92])
        place[:, 0] -= np.sign(place[:, 0]) * np.maximum(0, np.abs(place[:, 0]) - edge) * 0.7
        limit = np.interp(place[:, 1], [6.0, 6.6, 7.2, 7.8], [0.62, 0.66, 0.72, 0.95])
        beside = low & (np.abs(place[:, 0]) > 0.62)
        place[:, 2] -= np.where(beside, np.maximum(0, place[:, 2] - limit) * 0.6, 0)
        place = scalp.push(place, thick * np.clip(t * 6, least, 1))
        way = place - path[-1]
        way /= np.linalg.norm(way, axis=1, keepdims=True) + 1e-9
        path.append(place.copy())
    return np.stack(path, 1)


def _bob(scalp: Scalp) -> Hair:
    """Parted on her left, falling to below the jaw, turned in a little at the tips."""
    rng = np.random.default_rng(4)
    number = 460
    root, inside = scalp.roots('bob', number, rng)
    place, out, where = scalp.points[root].copy(), scalp.normals[root], scalp.canon[root]
    side = np.where(where[:, 0] > PART, 1.0, -1.0)
    layer = 0.35 + 0.65 * rng.random(number)
    front = np.clip((where[:, 2] - 0.3) / 0.9, 0, 1)
    top = np.clip((where[:, 1] - 7.7) / 0.6, 0, 1)
    goal = np.stack([side * (0.55 + 0.6 * top), -0.25 - 0.7 * (1 - top), 0.05 - 0.45 * front - 0.1 * top], 1)
    nape = np.clip((7.3 - where[:, 1]) / 0.2, 0, 1)[:, None]
    goal = goal * (1 - nape) + np.array([0, -1.0, -0.1]) * nape
    goal += rng.normal(0, 0.04, goal.shape)
    floor = 6.00 + 0.08 * rng.random(number) + 0.10 * (where[:, 2] < -0.1)
    length = np.clip((place[:, 1] - floor) + 0.75 * top + 0.15, 0.4, 3.2)
    strands = _resample(_fall(scalp, place, out, goal, layer, length), 10)
    strands[:, 1:] = scalp.push(strands[:, 1:].reshape(-1, 3), (0.055 + 0.05 * layer).repeat(9)).reshape(-1, 9, 3)
    width = rng.uniform(0.07, 0.14, number) * np.clip(inside / 0.25, 0.40, 1.0)

    # Two sheets from the parting, fanned out at the crown, give the hair its body.
    line = np.linspace(0, 1, 30)
    ahead = 1.42 - 1.76 * np.minimum(line / 0.55, 1)
    fan = np.clip((line - 0.50) / 0.50, 0, 1)
    sheets = []
    for way in (1.0, -1.0):
        start, normal = scalp.near(PART + 0.012 * way + 0.0 * ahead, ahead)
        back = np.clip((0.6 - ahead) / 1.0, 0, 1)
        goal = np.stack([way * (1.15 - 1.05 * fan), -0.25 - 0.1 * fan, -0.35 * (1 - back) - 0.15 - 1.0 * fan], 1)
        length = np.interp(line, [0, 0.5, 1], [2.70, 2.85, 2.75]) + (0.30 if way < 0 else 0)
        start = start + normal * 0.02 * np.clip(line * 12, 0, 1)[:, None]
        curves = _fall(scalp, start, normal, goal, np.full(len(line), 0.25), length, 0.6)
        sheet = _even(_resample(curves, 13))
        for _ in range(2):
            sheet[:, 1:] = scalp.push(sheet[:, 1:].reshape(-1, 3), np.full(12 * len(line), 0.065)).reshape(-1, 12, 3)
        sheets.append(sheet)
    # A curtain behind the neck closes the view between the two.
    x = np.linspace(-0.88, 0.88, len(line))[:, None]
    y = np.linspace(7.35, 5.75, 13)[None]
    z = -0.20 - 0.42 * np.sqrt(np.maximum(0, 1 - (x / 0.90) ** 2)) * np.interp(y, [6.1, 6.8, 7.5], [0.75, 0.85, 1.0])
    narrow = np.interp(y, [6.1, 6.5, 7.5], [0.95, 1.02, 0.95])
    sheets.append(np.stack([x * narrow, y + 0 * x, z], 2))
    return Hair(strands, width, layer, np.stack(sheets), np.zeros((0, 2, 2, 3)))


def _even(sheet: Floats) -> Floats:
    """A sheet [g, p, 3] smoothed across its curves, the first and the last kept."""
    for _ in range(4):
        sheet[1:-1, 1:] = sheet[1:-1, 1:] * 0.5 + (sheet[:-2, 1:] + sheet[2:, 1:]) * 0.25
    return sheet


def _crop(scalp: Scalp) -> Hair:
    """Cropped close: shells over the scalp, longer on top, thinning out to the hairline."""
    columns, rows, number = 56, 11, 7
    around = np.linspace(-2.15, 2.15, columns)
    t = np.linspace(0, 1, rows)[:, None]
    line = np.interp(np.abs(around), hairline.ANGLES, hairline.HEIGHTS['crop'])[None] - 0.03
    # From a little outside the hairline to the crown, as directions from the head's middle in the base mesh.
    middle = np.array([0, 7.55, 0.1])
    across = np.interp(np.abs(around), [0, 0.6, 1.57, 3.2], [1.22, 1.05, 0.78, 1.0])[None]
    low = np.arctan2(line - middle[1], across)
    lift = low + (np.pi / 2 - low) * t ** 0.9
    a = np.broadcast_to(around[None], lift.shape)
    way = np.stack([np.cos(lift) * np.sin(a), np.sin(lift), np.cos(lift) * np.cos(a)], 2)
    place, normal, inside = scalp.toward(way.reshape(-1, 3), middle, 'crop')
    place, normal, inside = place.reshape(way.shape), normal.reshape(way.shape), inside.reshape(lift.shape)
    top = np.clip((place[..., 1] - 7.75) / 0.45, 0, 1)
    height = (0.055 + 0.085 * top) * np.clip((inside + 0.02) / 0.16, 0.0, 1)
    layers = [place + normal * (height * (k + 0.6) / number)[..., None] for k in range(number)]
    none = np.zeros((0, 2, 3))
    return Hair(none, np.zeros(0), np.zeros(0), np.zeros((0, 2, 2, 3)), np.stack(layers))


STYLES = {'bob': _bob, 'crop': _crop}
