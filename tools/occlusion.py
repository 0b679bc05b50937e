"""How open each vertex of a head is to the light around it, measured by drawing depth from many directions."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.face import pose, ribbons
from emavatar_ros.face.head import Head

Floats = NDArray[np.float32]
SIZE = 512
VERTEX = '#version 330\nin vec3 p; uniform mat4 m; void main() { gl_Position = m * vec4(p, 1.0); }'
FRAGMENT = '#version 330\nout float d; void main() { d = gl_FragCoord.z; }'
KEY, LEFT, RIGHT = np.array([-0.5, 0.55, 0.75]), np.array([0.95, 0.15, -0.1]), np.array([-0.95, 0.15, -0.1])


def bake(head: Head, rays: int, neckline: tuple[float, float, float, float]) -> NDArray[np.uint8]:
    """uint8 [n, 4]: openness to all around (weighted by the cosine), to the key light, to the left, to the right."""
    context = moderngl.create_standalone_context(backend='egl')
    cloth = head.triangles['cloth']
    cloth = cloth[(pose.cut(head.canon, neckline)[cloth] > 0).all(1)]
    solid = np.concatenate([cloth, *(head.triangles[part] for part in ('skin', 'teeth', 'tongue'))])
    points, faces = [head.rest], [solid]
    balls, ball_faces = _balls(head.eyes)
    points.append(balls)
    faces.append(ball_faces + len(head.rest))
    bands, band_faces = _ribbons(head)
    points.append(bands)
    faces.append(band_faces + len(head.rest) + len(balls))
    program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    mesh = context.vertex_array(program, [(context.buffer(np.concatenate(points).astype('f4')), '3f', 'p')],
                                context.buffer(np.concatenate(faces).astype('i4')))
    target = context.texture((SIZE, SIZE), 1, dtype='f4')
    canvas = context.framebuffer([target], context.depth_renderbuffer((SIZE, SIZE)))
    canvas.use()
    context.enable(moderngl.DEPTH_TEST)
    centre, reach = head.rest.mean(0) * [0, 1, 1], 3.2
    probe = head.rest + head.rest_normals * 0.035
    open_, total = np.zeros((len(probe), 4)), np.zeros((len(probe), 4)) + 1e-6
    for i in range(rays):
        height = 1 - 2 * (i + 0.5) / rays
        around = i * np.pi * (3 - np.sqrt(5))
        ray = np.array([np.cos(around) * np.sqrt(1 - height ** 2), height, np.sin(around) * np.sqrt(1 - height ** 2)])
        side = np.cross([0.0, 1, 0.01], ray)
        side /= np.linalg.norm(side)
        turn = np.stack([side, np.cross(ray, side), ray])
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = turn / reach, -turn @ centre / reach
        matrix[2] *= -1
        program['m'].write(np.ascontiguousarray(matrix.T, dtype='f4').tobytes())
        canvas.clear(1.0, 1.0, 1.0, depth=1.0)
        mesh.render()
        depth = np.frombuffer(target.read(), np.float32).reshape(SIZE, SIZE)
        seen = np.c_[probe, np.ones(len(probe))] @ matrix.T
        x, y = ((np.clip(seen[:, k], -0.999, 0.999) + 1) / 2 * SIZE for k in (0, 1))
        free = (seen[:, 2] + 1) / 2 < depth[y.astype(int), x.astype(int)] + 0.002
        facing = np.maximum(head.rest_normals @ ray, 0) + 0.02
        lights = [facing * (1.0 if ray[1] > -0.4 else 0.5)]
        for light in (KEY, LEFT, RIGHT):
            # A soft light: every ray counts by how near the light's middle it is.
            near = max(0.0, float(light @ ray) / float(np.linalg.norm(light)))
            lights.append(np.full(len(probe), near ** 8))
        weight = np.stack(lights, 1)
        open_ += weight * free[:, None]
        total += weight
    context.release()
    result = np.clip(open_ / total, 0, 1)
    back = np.empty_like(result)
    back[head.order] = result
    return np.asarray(np.round(back * 255), dtype=np.uint8)


def _balls(eyes: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Two coarse spheres."""
    points, faces = [], []
    for eye in eyes:
        v, u = np.meshgrid(np.linspace(0, np.pi, 9), np.linspace(0, 2 * np.pi, 13), indexing='ij')
        ball = np.stack([np.sin(v) * np.cos(u), np.cos(v), np.sin(v) * np.sin(u)], 2).reshape(-1, 3)
        start = sum(len(item) for item in points)
        points.append((ball * eye[3] + eye[:3]).astype(np.float32))
        for i in range(8):
            for j in range(12):
                a = start + i * 13 + j
                faces += [[a, a + 1, a + 14], [a, a + 14, a + 13]]
    return np.concatenate(points), np.array(faces)


def _ribbons(head: Head) -> tuple[Floats, NDArray[np.int64]]:
    """The hair's triangles."""
    if len(head.shells):
        data, faces = ribbons.crop(head.shells[-2:-1])
        return data[:, :3], faces.astype(np.int64)
    if not len(head.strands):
        return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int64)
    data, faces = ribbons.build(head.strands, head.strand_look, head.sheets)
    return data[:, :3], faces.astype(np.int64)
