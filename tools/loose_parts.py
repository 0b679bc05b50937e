"""Teeth and lashes for the heads: loose parts that move with vertices of the base mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from emavatar_ros.face.head import PARTS

Floats = NDArray[np.float32]


@dataclass
class Base:
    """The base mesh: vertices float32 [n, 3], texture coordinates, and quads by group."""

    vertices: Floats
    uv: Floats
    quads: dict[str, NDArray[np.int64]]
    uv_quads: dict[str, NDArray[np.int64]]

    def group(self, *words: str) -> NDArray[np.int64]:
        """Indices of the vertices in the groups whose name holds one of the words."""
        found = [quads.ravel() for name, quads in self.quads.items() if any(word in name for word in words)]
        return np.unique(np.concatenate(found))


class Made:
    """Collects vertices (canonical place, where the shaped head has them, unit offsets) and faces."""

    def __init__(self, base: Base, shaped: Floats, moves: Floats) -> None:
        self.canon, self.shaped, self.moves = [base.vertices], [shaped], [moves]
        self.n = len(base.vertices)
        self.triangles: list[NDArray[np.int64]] = []
        self.parts: list[NDArray[np.uint8]] = []
        self.extra: list[Floats] = []

    def add(self, canon: Floats, triangles: NDArray[np.int64], part: str, anchors: NDArray[np.int64],
            weights: Floats, extra: Floats) -> None:
        """Add a loose part whose vertices move with `anchors` [n, k] by `weights` [n, k]; extra: masks [n, 4]."""
        carried = [np.einsum('nk,nkc->nc', weights, array[anchors]) for array in
                   (self.shaped[0] - self.canon[0], *self.moves[0])]
        self.canon.append(canon)
        self.shaped.append(canon + carried[0])
        self.moves.append(np.stack(carried[1:]).astype(np.float32))
        self.triangles.append(triangles + self.n)
        self.parts.append(np.full(len(triangles), PARTS.index(part), dtype=np.uint8))
        self.extra.append(extra)
        self.n += len(canon)


def nearest(points: Floats, base: Base, group: NDArray[np.int64], k: int = 4) -> tuple[NDArray[np.int64], Floats]:
    """For each point the k nearest vertices of a group, and weights that fall with distance."""
    distance, index = cKDTree(base.vertices[group]).query(points, k=k)
    weight = 1 / (distance + 0.02) ** 2
    return group[index], (weight / weight.sum(1, keepdims=True)).astype(np.float32)


def teeth(base: Base, made: Made) -> None:
    """Two rows of single teeth with gums along the arch of the helper strips."""
    widths = (0.085, 0.068, 0.078, 0.070, 0.070, 0.095, 0.095)
    for name, upper in (('upper-teeth', True), ('lower-teeth', False)):
        group = base.group(name)
        box = base.vertices[group]
        half, front, back = float(box[:, 0].max()), float(box[:, 2].max()), float(box[:, 2].min())
        edge = float(box[:, 1].min()) - 0.025 if upper else float(box[:, 1].max()) - 0.10
        scale = 1.0 if upper else 0.80
        angles = np.linspace(0, np.pi / 2, 400)
        arch = np.stack([half * 0.96 * np.sin(angles) ** 0.9, (front - back) * np.cos(angles) ** 0.85 + back], 1)
        if not upper:
            arch = arch * [0.95, 1] - [0, 0.03]
        run = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(arch, axis=0), axis=1))])
        start = 0.0
        for i, width in enumerate(widths):
            width *= scale
            if start + width > run[-1]:
                break
            tall = (0.125, 0.112, 0.128, 0.105, 0.10, 0.09, 0.09)[i] * (1 if upper else 0.9)
            for side in (1, -1):
                points, tri, extra = _tooth(width, tall, 0.07 if i < 3 else 0.10, upper)
                middle = start + width / 2
                place = np.array([np.interp(middle + points[:, 0], run, arch[:, j]) for j in (0, 1)]).T
                ahead = np.array([np.interp(middle + 0.01, run, arch[:, j]) - np.interp(middle - 0.01, run, arch[:, j])
                                  for j in (0, 1)])
                out = np.array([-ahead[1], ahead[0]]) / np.linalg.norm(ahead)
                out *= np.sign(out[1]) if abs(out[1]) > 0.1 else 1
                out *= 1 if out[0] >= 0 or i == 0 else -1
                place += out[None] * points[:, 2:3]
                lift = (0.0, 0.010, -0.004, 0.008, 0.012, 0.015, 0.018)[i]
                y = edge + (lift + points[:, 1] if upper else -lift * 0.5 - points[:, 1])
                canon = np.stack([place[:, 0] * side, y, place[:, 1]], 1).astype(np.float32)
                faces = tri if (side == 1) == upper else tri[:, ::-1]
                made.add(canon, faces, 'teeth', *nearest(canon, base, group), extra)
            start += width + 0.002


def _tooth(width: float, tall: float, deep: float, upper: bool) -> tuple[Floats, NDArray[np.int64], Floats]:
    """One rounded tooth and its bit of gum: across, up from the biting edge, outward; masks: gum, along, side, 0."""
    across, up = np.linspace(-1, 1, 5), np.array([0, 0.03, 0.35, 0.75, 1.0, 1.6])
    points, extra = [], []
    for j, v in enumerate(up):
        for u in across:
            crown = min(v, 1.0)
            half = width / 2 * (0.93 + 0.07 * np.sin(np.pi * min(1, crown + 0.15))) * (1.04 if v > 1 else 1)
            bulge = deep * (0.5 * (1 - np.abs(u) ** 3.2)) * (1 if j else 0.1)
            bulge += 0.014 * np.sin(np.pi * min(crown, 1)) + (0.012 if v > 1.0 else 0)
            height = v * tall + (0.012 * abs(u) ** 3 if v <= 0.35 else 0)
            height -= 0.018 * abs(u) ** 2 if 0.9 < v < 1.1 else 0
            points.append([u * half, height, bulge])
            extra.append([1.0 if v > 1.0 else 0.0, crown, abs(u), 0])
    n = len(across)
    tri = [[j * n + i + a, j * n + i + b, j * n + i + c] for j in range(len(up) - 1) for i in range(n - 1)
           for a, b, c in ((0, 1, n + 1), (0, n + 1, n))]
    return np.array(points, np.float32), np.array(tri), np.array(extra, np.float32)


def lash_grid(base: Base, name: str) -> NDArray[np.int64]:
    """A lash strip as a grid of vertex indices [along, across], the lid's edge first, inner corner first."""
    quads = [set(quad) for quad in base.quads[name].tolist()]
    edges: dict[frozenset[int], int] = {}
    for quad in base.quads[name].tolist():
        for i in range(4):
            edge = frozenset((quad[i], quad[(i + 1) % 4]))
            edges[edge] = edges.get(edge, 0) + 1
    near: dict[int, set[int]] = {}
    for edge, count in edges.items():
        if count == 1:
            a, b = edge
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
    count = {v: sum(v in quad for quad in quads) for v in near}
    corner = [v for v in near if count[v] == 1]
    eye = base.vertices[np.unique(base.quads[name[:8] + '-eye'])].mean(0)
    far = {v: float(np.linalg.norm(base.vertices[v] - eye)) for v in near}
    # The two corners nearest the eyeball end the root row; the inner one is nearer the nose.
    first = min(sorted(corner, key=lambda v: abs(base.vertices[v][0]))[:2], key=lambda v: far[v])
    paths = []
    for step in near[first]:
        path = [first, step]
        while count[path[-1]] != 1:
            path.append(next(v for v in near[path[-1]] if v != path[-2]))
        paths.append(path)
    root, side = sorted(paths, key=len, reverse=True)
    rows = [root]
    for start in side[1:]:
        row = [start]
        for a, b in zip(rows[-1], rows[-1][1:], strict=False):
            quad = next(q for q in quads if {a, b, row[-1]} <= q)
            row.append((quad - {a, b, row[-1]}).pop())
        rows.append(row)
    return np.array(rows).T


def lashes(base: Base, made: Made, seed: int = 3) -> None:
    """Single curved, tapering lashes rooted along the lids; masks: 0, along the lash, side, upper."""
    rng = np.random.default_rng(seed)
    for side in 'lr':
        for strip, number, reach in (('2', 52, 0.95), ('1', 26, 0.55)):
            grid = lash_grid(base, f'helper-{side}-eyelashes-{strip}')
            along, across = grid.shape
            for t in (np.arange(number) + rng.uniform(-0.35, 0.35, number)) / (number - 1):
                t = float(np.clip(t, 0.02, 0.98))
                if strip == '1' and t < 0.25:
                    continue
                length = reach * (0.55 + 0.45 * np.sin(np.pi * (0.1 + 0.75 * t))) * rng.uniform(0.75, 1.05)
                fan = rng.normal(0, 0.012) + 0.035 * (t - 0.35)
                steps = np.linspace(0, 1, 4)
                index, weight, canon = [], [], []
                for step in steps:
                    x = np.clip((t + fan * step) * (along - 1), 0, along - 1.001)
                    y = np.clip(step * length * (across - 1), 0, across - 1.001)
                    i, j, fx, fy = int(x), int(y), x % 1, y % 1
                    index.append([grid[i, j], grid[i + 1, j], grid[i, j + 1], grid[i + 1, j + 1]])
                    weight.append([(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy])
                    canon.append(np.array(weight[-1]) @ base.vertices[index[-1]])
                points = np.array(canon)
                thick = (0.0075 if strip == '2' else 0.0036) * (1 - steps * 0.9)[:, None]
                both = np.concatenate([points - [1, 0, 0] * thick / 2, points + [1, 0, 0] * thick / 2])
                n = len(steps)
                tri = [[a, a + n, a + 1] for a in range(n - 1)] + [[a + 1, a + n, a + n + 1] for a in range(n - 1)]
                extra = np.zeros((2 * n, 4), np.float32)
                extra[:, 1] = np.tile(steps, 2)
                extra[n:, 2] = 1
                extra[:, 3] = strip == '2'
                made.add(both.astype(np.float32), np.array(tri), 'lash', np.tile(np.array(index), (2, 1)),
                         np.tile(np.array(weight), (2, 1)).astype(np.float32), extra)
