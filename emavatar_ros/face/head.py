"""The parametric head: one avatar's mesh with its 52 face units, read from face/head.npz and posed on the CPU.

The file (written by tools/build_head.py; the MakeHuman data it comes from is CC0) holds a control cage of quads,
which is refined here once (Catmull-Clark), loose parts (teeth, lashes), the units' offsets, and hair as curves.
Lengths are decimetres; x to the person's own left, y up, z forward. `canon` is where a vertex lies in the unshaped
base mesh: the same for every avatar, so that paint and cuts need to be described once.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import BadInput
from emavatar_ros.face.units import HIGHEST, UNITS, Units

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]
VERSION: Final = 1
PARTS: Final = ('skin', 'cloth', 'tongue', 'teeth', 'lash')
MASKS: Final = ('lips', 'inside-mouth', 'ears', 'eyelids')


def load(folder: Path, fine: bool = True) -> Head:
    """Read `folder`/face/head.npz; fine: refine the mesh.

    Raises BadInput when the file is missing, broken or of another version.
    """
    file = folder / 'face' / 'head.npz'
    try:
        with file.open('rb') as stream, np.load(stream, allow_pickle=False) as arrays:
            content = {name: arrays[name] for name in arrays.files}
        version = int(content['version'])
        if version == VERSION:
            return Head(content, fine)
    except FileNotFoundError:
        raise BadInput(f'{file} is missing: build it with tools/build_head.py') from None
    except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
        raise BadInput(f'{file} is no head file: {" ".join(str(error).split())}') from None
    raise BadInput(f'{file} has version {version}, this program reads {VERSION}: build it again')


class Head:
    """A posable head. Arrays after refinement, n vertices, those that face units move first:

    rest, canon float32 [n, 3]; masks uint8 [n, 4] (lips, inside of the mouth, ears, lids; for teeth: gum, along,
    side; for lashes: -, along, side, upper); shade uint8 [n, 4] (open to the surroundings, to the key light, to the
    left, to the right; 255 is fully open); triangles int32 [k, 3] by part; eyes float32 [2, 4] (left, right: centre,
    radius); strands float32 [s, p, 3], strand_look float32 [s, 4] (width in dm, tone, layer, seed); sheets
    float32 [k, g, q, 3], curves side by side below the strands; shells float32 [l, rows, columns, 3] over the scalp.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], fine: bool = True) -> None:
        quads, parts = arrays['quads'].astype(np.int64), arrays['quad_parts']
        loose = arrays['triangles'].astype(np.int64)
        n = len(arrays['vertices'])
        shade = arrays.get('shade', np.full((n, 4), 255, np.uint8))
        values = np.concatenate([arrays['vertices'], arrays['canon'], arrays['masks'], shade], 1, dtype=np.float32)
        starts = arrays['unit_start']
        delta = np.zeros((len(UNITS), n, 3), dtype=np.float32)
        for i in range(len(UNITS)):
            rows = slice(starts[i], starts[i + 1])
            delta[i, arrays['unit_vertex'][rows].astype(np.int64)] = arrays['unit_delta'][rows]
        everything = np.concatenate([values, delta.transpose(1, 0, 2).reshape(n, -1)], 1)
        refined, finer = refine(everything, quads)
        if fine:
            everything, quads, parts = refined, finer, np.repeat(parts, 4)
        else:
            # The cage at the places its vertices have on the smooth surface: a quarter of the faces.
            everything = refined[:n]

        moves = np.abs(everything[:, 14:]).max(1) > 1e-5
        order = np.argsort(~moves, kind='stable')
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        everything, quads, loose = everything[order], place[quads], place[loose]
        self._moving = int(moves.sum())
        self.rest: Floats = np.ascontiguousarray(everything[:, :3])
        self.canon: Floats = np.ascontiguousarray(everything[:, 3:6])
        self.masks: NDArray[np.uint8] = np.clip(np.round(everything[:, 6:10]), 0, 255).astype(np.uint8)
        self._delta: Floats = np.ascontiguousarray(
            everything[:self._moving, 14:].reshape(self._moving, len(UNITS), 3).transpose(1, 0, 2))
        self.eyes: Floats = arrays['eyes']
        self.lids: Indices = place[arrays['lids'].astype(np.int64)]
        self.strands: Floats = arrays['strands'].astype(np.float32)
        self.strand_look: Floats = arrays['strand_look'].astype(np.float32)
        self.sheets: Floats = arrays['sheets'].astype(np.float32)
        self.shells: Floats = arrays['shells'].astype(np.float32)
        self.shade: NDArray[np.uint8] = np.clip(np.round(everything[:, 10:14]), 0, 255).astype(np.uint8)
        self.order: Indices = order
        """Where each vertex stands in the file (for those that are in it)."""
        split = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
        both = np.concatenate([parts, parts])
        self.triangles: dict[str, NDArray[np.int32]] = {}
        for i, name in enumerate(PARTS):
            self.triangles[name] = np.concatenate(
                [split[both == i], loose[arrays['triangle_parts'] == i]]).astype(np.int32)

        faces = np.concatenate([quads, loose[:, [0, 1, 2, 2]]])
        self._normals = _Normals(faces, len(self.rest))
        self.rest_normals: Floats = self._normals.all(self.rest)
        self._normals.keep(self._moving)

    def pose(self, units: Units) -> tuple[Floats, Floats]:
        """Vertices and unit normals, float32 [n, 3] each, for unit weights float32 [52] (cut to 0 ... 1.5)."""
        weights = np.clip(np.nan_to_num(np.asarray(units, dtype=np.float32)), 0, HIGHEST)
        if weights.shape != (len(UNITS),):
            raise BadInput(f'face units must be {len(UNITS)} numbers, not an array of shape {weights.shape}')
        vertices = self.rest.copy()
        moved = vertices[:self._moving]
        for i in np.flatnonzero(weights > 1e-3):
            moved += weights[i] * self._delta[i]
        normals = self.rest_normals.copy()
        self._normals.update(vertices, normals)
        return vertices, normals


class _Normals:
    """Vertex normals as the sum of the normals of the faces around, by tables instead of scattered adding."""

    def __init__(self, faces: Indices, n: int) -> None:
        self._faces, self._n = faces, n
        self._set(faces, np.arange(n))

    def _set(self, faces: Indices, vertices: Indices) -> None:
        corner = faces.ravel()
        owner = np.repeat(np.arange(len(faces)), 4)
        # A triangle repeats its last corner; it counts once.
        keep = np.ones(len(corner), dtype=bool)
        keep[3::4] = faces[:, 2] != faces[:, 3]
        corner, owner = corner[keep], owner[keep]
        by_vertex = np.argsort(corner, kind='stable')
        corner, owner = corner[by_vertex], owner[by_vertex]
        start = np.searchsorted(corner, np.arange(self._n + 1))
        count = np.diff(start)
        self._groups: list[tuple[Indices, Indices]] = []
        for k in np.unique(count[vertices]):
            if k:
                those = vertices[count[vertices] == k]
                self._groups.append((those, np.ascontiguousarray(owner[start[those][:, None] + np.arange(k)].T)))
        self._corners = np.ascontiguousarray(faces.T)

    def keep(self, moving: int) -> None:
        """From now on update only what the first `moving` vertices can change."""
        touched = self._faces[(self._faces < moving).any(1)]
        vertices = np.unique(touched)
        around = np.isin(self._faces, vertices).any(1)
        self._set(self._faces[around], vertices)

    def all(self, vertices: Floats) -> Floats:
        """Normals of every vertex."""
        normals = np.zeros_like(vertices)
        self.update(vertices, normals)
        return normals

    def update(self, vertices: Floats, normals: Floats) -> None:
        """Write the normals that may have changed into `normals`."""
        a, b, c, d = (vertices.take(row, axis=0) for row in self._corners)
        c -= a
        d -= b
        face = np.empty_like(c)
        face[:, 0] = c[:, 1] * d[:, 2] - c[:, 2] * d[:, 1]
        face[:, 1] = c[:, 2] * d[:, 0] - c[:, 0] * d[:, 2]
        face[:, 2] = c[:, 0] * d[:, 1] - c[:, 1] * d[:, 0]
        for those, table in self._groups:
            total = face.take(table[0], axis=0)
            for row in table[1:]:
                total += face.take(row, axis=0)
            total /= np.sqrt(np.einsum('ij,ij->i', total, total))[:, None] + 1e-12
            normals[those] = total


def refine(values: Floats, quads: Indices) -> tuple[Floats, Indices]:
    """One Catmull-Clark step on quads int64 [m, 4] for any values at the vertices, float32 [n, k].

    Returns values [n + edges + m, k] and quads [4 m, 4]; vertices no quad uses stay as they are. The step is linear,
    so refined offsets are the offsets of the refined mesh.
    """
    n, m = len(values), len(quads)
    ends = np.sort(np.stack([quads, np.roll(quads, -1, axis=1)], 2).reshape(-1, 2), axis=1)
    _, first, edge_of = np.unique(ends[:, 0] * n + ends[:, 1], return_index=True, return_inverse=True)
    edges, edge_of = ends[first], edge_of.reshape(m, 4)
    faces_at = np.bincount(edge_of.ravel(), minlength=len(edges))
    face = values[quads].mean(1)
    middle = (values[edges[:, 0]] + values[edges[:, 1]]) / 2
    beside = _gather(edge_of, np.broadcast_to(face[:, None], (m, 4, face.shape[1])), len(edges))
    inner = faces_at == 2
    edge = middle.copy()
    edge[inner] = (2 * middle[inner] + beside[inner]) / 4

    valence = np.bincount(quads.ravel(), minlength=n)
    around = _gather(quads, np.broadcast_to(face[:, None], (m, 4, face.shape[1])), n)
    spokes = np.bincount(edges.ravel(), minlength=n)
    middles = _gather(edges, np.broadcast_to(middle[:, None], (len(edges), 2, face.shape[1])), n)
    border = ~inner
    on_border = np.bincount(edges[border].ravel(), minlength=n)
    border_middles = _gather(edges[border], np.broadcast_to(
        middle[border][:, None], (int(border.sum()), 2, face.shape[1])), n)
    point = values.copy()
    inside = (valence > 0) & (on_border == 0)
    k = valence[inside][:, None]
    point[inside] = (around[inside] / k + 2 * middles[inside] / spokes[inside][:, None] + (k - 3) * values[inside]) / k
    rim = on_border == 2
    point[rim] = values[rim] / 2 + border_middles[rim] / 4
    e, f = edge_of + n, np.arange(m) + n + len(edges)
    fine = np.stack([np.stack([quads[:, i], e[:, i], f, e[:, i - 1]], 1) for i in range(4)], 1).reshape(-1, 4)
    return np.concatenate([point, edge, face]).astype(np.float32), fine


def _gather(index: Indices, values: Floats, n: int) -> Floats:
    """Sum of the values [..., k] that go to each of n places, index [...]."""
    flat, rows = index.ravel(), values.reshape(-1, values.shape[-1])
    order = np.argsort(flat, kind='stable')
    found, start = np.unique(flat[order], return_index=True)
    total = np.zeros((n, rows.shape[1]), dtype=np.float32)
    total[found] = np.add.reduceat(rows[order], start, axis=0)
    return total
