"""Hair as meshes: ribbons and sheets along curves, or shells over the scalp for hair cropped close."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.face import pose

Floats = NDArray[np.floating]
CENTRE = np.array([0, 7.45, 0.1], np.float32)


def build(strands: Floats, look: Floats, sheets: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Vertices float32 [n, 15] (place, normal, direction, look, follow, openness) and triangles int32 [k, 3].

    strands: float32 [s, p, 3] from root to tip, inner layers first. look: float32 [s, 4]: width in dm, tone (-1 to 1),
    layer (0 inner to 1 outer), seed. sheets: float32 [k, g, q, 3], g curves side by side, drawn below the ribbons.
    `look` of a vertex: across (-1 to 1), along (0 to 1), tone, seed.
    """
    s, p, _ = strands.shape
    along, out = _directions(strands)
    # Where it hangs, a ribbon that faces sideways would be thin from the front: it turns half way to the viewer.
    turn = np.clip((7.75 - strands[..., 1:2]) / 0.5, 0, 1)
    toward = out + np.array([0, 0, 0.9], np.float32) * turn
    side = np.cross(along, toward)
    side /= np.linalg.norm(side, axis=2, keepdims=True) + 1e-9
    t = np.linspace(0, 1, p, dtype=np.float32)
    taper = np.minimum(1, 0.35 + t * 4) * np.clip((1 - t) * 3.2, 0.25, 1)
    half = side * (look[:, 0, None, None] / 2) * taper[None, :, None]
    layer = look[:, 2:3]
    open_ = (0.60 + 0.40 * layer ** 0.7) * np.minimum(1, 0.55 + 2.2 * t)[None]
    rows = []
    for across in (-1.0, 1.0):
        normal = out + side * across * 0.45
        rows.append(_vertices(strands + half * across, normal, along, across, look[:, 1:2], look[:, 3:4], open_))
    data = [np.stack(rows, 2).reshape(-1, 15)]
    start = (np.arange(s)[:, None] * p + np.arange(p - 1)) * 2
    faces = [np.stack([start, start + 1, start + 3, start, start + 3, start + 2], -1).reshape(-1, 3)]
    n = 2 * s * p
    for sheet in sheets:
        g, q, _ = sheet.shape
        along, out = _directions(sheet)
        across_way = np.gradient(sheet, axis=0)
        normal = np.cross(across_way, along)
        normal *= np.sign((normal * out).sum(2, keepdims=True))
        t = np.linspace(0, 1, q, dtype=np.float32)
        seed = np.arange(g, dtype=np.float32)[:, None] * 0.027
        tone = 0.25 * np.sin(np.arange(g, dtype=np.float32)[:, None] * 1.1)
        shade = np.broadcast_to(np.minimum(0.85, 0.70 + 0.8 * t)[None], (g, q))
        data.append(_vertices(sheet, normal + 0.4 * out, along, 0.0, tone, seed, shade).reshape(-1, 15))
        i = (np.arange(g - 1)[:, None] * q + np.arange(q - 1)) + n
        # Sheets come first: what lies on them is blended over them.
        faces.insert(0, np.stack([i, i + q, i + q + 1, i, i + q + 1, i + 1], -1).reshape(-1, 3))
        n += g * q
    return np.concatenate(data).astype(np.float32), np.concatenate(faces).astype(np.int32)


def sparse(curves: Floats, axis: int) -> Floats:
    """Every other point along an axis, both ends kept."""
    n = curves.shape[axis]
    return curves.take(np.unique([*range(0, n, 2), n - 1]), axis=axis)


def _directions(curves: Floats) -> tuple[Floats, Floats]:
    """Unit directions along curves [s, p, 3], and outward from the head at a right angle to them."""
    along = np.gradient(curves, axis=1)
    along /= np.linalg.norm(along, axis=2, keepdims=True) + 1e-9
    out = curves - CENTRE
    # Below the crown, hair hangs: its outward direction there is level.
    out[..., 1] *= np.clip((curves[..., 1] - 6.6) / 0.9, 0.05, 1)
    out -= along * (out * along).sum(2, keepdims=True)
    out /= np.linalg.norm(out, axis=2, keepdims=True) + 1e-9
    return along, out


def _vertices(place: Floats, normal: Floats, along: Floats, across: float, tone: Floats, seed: Floats,
              open_: Floats) -> Floats:
    """Vertices [s, p, 15] of one edge of ribbons, or of a sheet."""
    shape = place.shape[:2]
    normal = normal / (np.linalg.norm(normal, axis=2, keepdims=True) + 1e-9)
    t = np.linspace(0, 1, shape[1], dtype=np.float32)
    extra = [np.broadcast_to(np.asarray(item, dtype=np.float32), shape) for item in (
        across, t, tone, seed, pose.follow(place.reshape(-1, 3)).reshape(shape), open_)]
    return np.concatenate([place, normal, along, np.stack(extra, 2)], 2)


def crop(shells: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Vertices float32 [n, 11] (place, normal, follow, texture coordinates, height, edge) and triangles int32 [k, 3].

    shells: float32 [l, rows, columns, 3] from the skin outward, rows from the hairline to the crown. height: 0 at the
    skin to 1; edge: 0 at the hairline to 1 at the crown. Texture coordinates are laid round the crown, in dm.
    """
    layers, rows, columns, _ = shells.shape
    data, faces = [], []
    i = np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)
    for k, shell in enumerate(shells):
        normal = np.cross(np.gradient(shell, axis=1), np.gradient(shell, axis=0))
        out = shell - CENTRE
        normal *= np.sign((normal * out).sum(2, keepdims=True))
        normal /= np.linalg.norm(normal, axis=2, keepdims=True) + 1e-9
        # At the crown the columns meet and have no normal of their own.
        normal[-1] = normal[-2].mean(0) / np.linalg.norm(normal[-2].mean(0))
        lift = np.arctan2(out[..., 1], np.hypot(out[..., 0], out[..., 2]))
        around = np.arctan2(out[..., 0], out[..., 2])
        spread = (np.pi / 2 - lift) * 0.9
        place = shell.reshape(-1, 3)
        data.append(np.concatenate([place, normal.reshape(-1, 3), pose.follow(place)[:, None],
                                    (spread * np.sin(around)).reshape(-1, 1), (spread * np.cos(around)).reshape(-1, 1),
                                    np.full((len(place), 1), (k + 0.5) / layers),
                                    np.repeat(np.linspace(0, 1, rows), columns)[:, None]], 1))
        faces.append(np.stack([i, i + 1, i + columns + 1, i, i + columns + 1, i + columns], -1).reshape(-1, 3)
                     + k * rows * columns)
    return np.concatenate(data).astype(np.float32), np.concatenate(faces).astype(np.int32)
