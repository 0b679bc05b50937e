"""Hair as ribbons: each curve of the head file becomes a narrow, curved, tapering band."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.face import pose

Floats = NDArray[np.float32]
CENTRE = np.array([0, 7.45, 0.1], np.float32)


def build(strands: Floats, look: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Vertices float32 [n, 15] (place, normal, direction, look, follow, openness) and triangles int32 [k, 3].

    strands: float32 [s, p, 3] from root to tip, inner layers first. look: float32 [s, 4]: width in dm, tone (-1 to 1),
    layer (0 inner to 1 outer), seed. `look` of a vertex: across (-1 to 1), along (0 to 1), tone, seed.
    """
    s, p, _ = strands.shape
    along = np.gradient(strands, axis=1)
    along /= np.linalg.norm(along, axis=2, keepdims=True) + 1e-9
    out = strands - CENTRE
    # Below the crown, hair hangs: its outward direction there is level.
    out[..., 1] *= np.clip((strands[..., 1] - 6.6) / 0.9, 0.05, 1)
    out -= along * (out * along).sum(2, keepdims=True)
    out /= np.linalg.norm(out, axis=2, keepdims=True) + 1e-9
    # Seen from the front a ribbon would be thin where it faces sideways: it turns half way to the viewer.
    toward = out * 0.6 + np.array([0, 0, 0.55], np.float32)
    side = np.cross(along, toward)
    side /= np.linalg.norm(side, axis=2, keepdims=True) + 1e-9
    t = np.linspace(0, 1, p, dtype=np.float32)
    taper = np.minimum(1, 0.35 + t * 4) * np.clip((1 - t) * 3.2, 0.25, 1)
    half = side * (look[:, 0, None, None] / 2) * taper[None, :, None]
    rows = []
    for across in (-1.0, 1.0):
        place = strands + half * across
        normal = out + side * across * 0.55
        normal /= np.linalg.norm(normal, axis=2, keepdims=True)
        extra = np.stack([np.full((s, p), across), np.broadcast_to(t, (s, p)), np.broadcast_to(look[:, 1:2], (s, p)),
                          np.broadcast_to(look[:, 3:4], (s, p)),
                          pose.follow(place.reshape(-1, 3)).reshape(s, p),
                          np.broadcast_to(0.45 + 0.55 * look[:, 2:3] ** 0.7, (s, p))], 2)
        rows.append(np.concatenate([place, normal, along, extra], 2))
    data = np.stack(rows, 2).reshape(-1, 15).astype(np.float32)
    start = (np.arange(s)[:, None] * p + np.arange(p - 1)) * 2
    faces = np.stack([start, start + 1, start + 3, start, start + 3, start + 2], -1)
    return data, faces.reshape(-1, 3).astype(np.int32)
