"""Draws an avatar's face state with OpenGL 3.3: on a GPU, or on the CPU by Mesa (llvmpipe) where there is none.

A renderer makes its own off-screen context (EGL), or draws in one it is given (a window's). Everything happens in
the thread that made it. Measured on one llvmpipe thread: see `emavatar bench render`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.avatars import Avatar
from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.face import paint, pose, ribbons
from emavatar_ros.face.head import load
from emavatar_ros.face.units import FaceState
from emavatar_ros.settings import setting

if TYPE_CHECKING:
    import moderngl

Floats = NDArray[np.float32]
SOFTWARE: Final = ('llvmpipe', 'softpipe', 'swrast', 'SwiftShader')
NO_OPENGL: Final = ('no OpenGL 3.3 context could be made ({}): install a driver or Mesa, '
                    'sudo apt-get install libegl1 libgl1 libgl1-mesa-dri')


@dataclass(frozen=True)
class Config:
    """How pictures are drawn."""

    width: int = setting(1280, 'width of the picture', unit='px', low=16, high=7680)
    height: int = setting(720, 'height of the picture', unit='px', low=16, high=7680)
    samples: int = setting(4, 'samples a pixel for smooth edges; 0 is the fastest', low=0, high=16)
    detail: str = setting('auto', 'fine: refined mesh, light per pixel; coarse: fast without a GPU',
                          choices=('auto', 'fine', 'coarse'))
    threads: int = setting(1, 'threads that Mesa draws with when there is no GPU', low=0, high=32)


def create(config: Config, avatar: Avatar, context: moderngl.Context | None = None) -> Renderer:
    """A renderer from settings; `context`: draw in this one instead of an own off-screen context."""
    return Renderer(avatar, config.width, config.height, config.samples, context, config.threads, config.detail)


class Renderer:
    """Draws one avatar at one size.

    samples: multisampling, cut to what the driver has. context: an existing moderngl context (then `close` leaves
    it open). threads: how many Mesa may draw with; it is read once a process, by the first context made.
    Raises Missing when there is no OpenGL (or no moderngl), BadInput for an impossible size or a broken head file.
    """

    def __init__(self, avatar: Avatar, width: int, height: int, samples: int = 4,
                 context: moderngl.Context | None = None, threads: int = 1,
                 detail: str = 'auto') -> None:
        _check_size(width, height)
        self.avatar, self.width, self.height = avatar, width, height
        self._own = context is None
        self.context = _context(threads) if context is None else context
        software = any(word in self.context.info['GL_RENDERER'] for word in SOFTWARE)
        self._fine = detail == 'fine' or (detail == 'auto' and not software)
        self._camera, self._eye = pose.camera(width, height)
        try:
            self.head = load(avatar.folder, self._fine)
            self._prepare(samples)
        except Exception:
            self.close()
            raise

    @property
    def info(self) -> dict[str, str]:
        """Who draws: renderer, vendor and version as OpenGL names them, and the samples in use."""
        said = self.context.info
        return {'renderer': said['GL_RENDERER'], 'vendor': said['GL_VENDOR'], 'version': said['GL_VERSION'],
                'samples': str(self.samples)}

    @property
    def framebuffer(self) -> moderngl.Framebuffer:
        """The finished picture, without multisampling: to copy from into a window."""
        flat: moderngl.Framebuffer = self._flat
        return flat

    def draw(self, state: FaceState) -> None:
        """Draw a face state. Raises BadInput when it doesn't hold 52 numbers."""
        gl = self.context
        values, eyes = pose.resolve(state)
        rest = pose.resting(self.head.eyes, self.head.rest, self.head.lids)
        vertices, normals = self.head.pose(values)
        self._stream[:, :3], self._stream[:, 3:] = vertices, normals
        self._moving.write(self._stream)
        turn = pose.rotation(*state.head)
        mouth_light = pose.mouth_light(values)
        shared = {'turn': turn, 'breath': float(np.clip(state.breath, 0, 1)), 'wrinkles': pose.wrinkles(values),
                  'mouth_light': mouth_light}
        for program in self._programs.values():
            _set(program, shared)
        self._begin()
        gl.enable(self._flags['cull'])
        if mouth_light > 0.12:
            for name in ('tongue', 'teeth'):
                _set(self._programs['mouth'], {'what': int(name == 'teeth')})
                self._meshes[name].render()
        self._meshes['skin'].render()
        for i in range(2):
            pitch, yaw = eyes[i]
            _set(self._programs['eye'], {'ball': self.head.eyes[i], 'look': pose.rotation(0, pitch + rest[i], yaw),
                                         'lids': vertices[self.head.lids[2 * i:2 * i + 2], 1]})
            self._eyeball.render()
        gl.enable(self._flags['blend'])
        self._meshes['cloth'].render()
        gl.disable(self._flags['cull'])
        self._meshes['lash'].render()
        # Solid hair first; its soft edges then blend over what is really behind them.
        for edge in ((0.55, 2.0), (0.04, 0.55)) if self._fine else ((0.30, 2.0),):
            self._target.depth_mask = edge[0] > 0.1
            for style in ('hair', 'crop'):
                _set(self._programs[style], {'edge': edge})
            for mesh in self._hair:
                mesh.render()
        self._target.depth_mask = True
        if self._target is not self._flat:
            gl.copy_framebuffer(self._flat, self._target)

    def _begin(self) -> None:
        """Clear, and lay the backdrop: a copy where that can be had, for it is the same every time."""
        gl = self.context
        self._target.use()
        gl.viewport = (0, 0, self.width, self.height)
        gl.enable(self._flags['depth'])
        gl.disable(self._flags['blend'] | self._flags['cull'])
        gl.front_face, gl.cull_face = 'ccw', 'back'
        gl.blend_func = gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA
        self._target.clear(0, 0, 0, 1, depth=1.0)
        for unit, texture in enumerate(self._textures):
            texture.use(unit)
        if self._wall is not None:
            gl.copy_framebuffer(self._target, self._wall)
        else:
            self._screen.render()

    def read(self) -> NDArray[np.uint8]:
        """The picture last drawn, RGB uint8 [height, width, 3], top row first."""
        self._flat.read_into(self._pixels, components=4)
        return np.asarray(cv2.flip(cv2.cvtColor(self._pixels, cv2.COLOR_RGBA2RGB), 0), dtype=np.uint8)

    def resize(self, width: int, height: int, samples: int) -> None:
        """Draw at another size from now on; takes milliseconds, where making a renderer takes seconds.

        Raises BadInput for an impossible size.
        """
        _check_size(width, height)
        self.width, self.height = width, height
        self._camera, self._eye = pose.camera(width, height)
        for program in self._programs.values():
            _set(program, {'camera': self._camera.T, 'eye': self._eye, 'aspect': width / height})
        self._allocate(samples)

    def close(self) -> None:
        """Free the context if it is the renderer's own, else what was made in it."""
        if self._own:
            self.context.release()
        else:
            for item in getattr(self, '_made', []):
                item.release()
        self._made: list[Any] = []

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self, samples: int) -> None:
        import moderngl

        gl, head, face = self.context, self.head, self.avatar.face
        self._made = []
        self._sized: list[Any] = []
        self._flags = {'depth': moderngl.DEPTH_TEST, 'blend': moderngl.BLEND, 'cull': moderngl.CULL_FACE}
        self._programs = {name: self._program(vertex, name) for vertex, name in (
            ('body', 'skin'), ('body', 'cloth'), ('body', 'mouth'), ('body', 'lash'), ('eye', 'eye'),
            ('backdrop', 'backdrop'), ('hair', 'hair'), ('crop', 'crop'))}
        fixed: dict[str, Any] = {
            'camera': self._camera.T, 'pivot': pose.PIVOT, 'eye': self._eye, 'colours': 0, 'relief': 1, 'iris': 2,
            'strip': 3, 'knit': 4, 'curls': 5, 'neckline': face.neckline,
            'lip_colour': face.lips, 'cloth': face.garment, 'collar': face.collar, 'tint': face.brows,
            'strength': face.lashes, 'near_colour': face.backdrop[0], 'far_colour': face.backdrop[1],
            'aspect': self.width / self.height, 'root_colour': face.hair, 'tip_colour': face.hair_tips,
            'grey': face.grey}
        for program in self._programs.values():
            _set(program, fixed)

        self._textures: list[moderngl.Texture] = []
        # Without light per pixel the relief is part of the skin's colour.
        relief = paint.relief(face) if self._fine else np.full((1, 1, 2), 128, np.uint8)
        for picture in (paint.skin(face), relief, paint.iris(face.iris), paint.strip(), paint.knit(), paint.curls()):
            texture = self._keep(gl.texture((picture.shape[1], picture.shape[0]), picture.shape[2],
                                            np.ascontiguousarray(picture[::-1]), alignment=1))
            texture.build_mipmaps()
            texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR if self._fine else moderngl.LINEAR_MIPMAP_NEAREST,
                              moderngl.LINEAR)
            texture.repeat_x = texture.repeat_y = len(self._textures) > 2
            self._textures.append(texture)

        n = len(head.rest)
        self._stream = np.zeros((n, 6), np.float32)
        self._moving = self._keep(gl.buffer(reserve=self._stream.nbytes, dynamic=True))
        follow = pose.follow(head.canon)
        still = np.concatenate([head.canon, paint.coordinates(head.canon), follow[:, None],
                                pose.shine(head.canon)[:, None]], 1).astype(np.float32)
        packed = np.concatenate([still.view(np.uint8).reshape(n, -1), head.masks, head.shade], 1)
        fixed_buffer = self._keep(gl.buffer(np.ascontiguousarray(packed)))
        self._meshes = {}
        for part, faces in head.triangles.items():
            program = self._programs['mouth' if part in ('teeth', 'tongue') else part]
            self._meshes[part] = self._mesh(program, [
                (self._moving, (('place', '3f'), ('normal', '3f'))),
                (fixed_buffer, (('canon', '3f'), ('paint', '4f'), ('mask', '4f1'), ('shade', '4f1')))], faces)
        ball, faces = pose.sphere()
        self._eyeball = self._mesh(self._programs['eye'], [(self._keep(gl.buffer(ball)), (('place', '3f'),))], faces)
        corners = np.array([[-1, -1], [3, -1], [-1, 3]], np.float32)
        self._screen = self._mesh(self._programs['backdrop'], [(self._keep(gl.buffer(corners)), (('place', '2f'),))],
                                  np.array([[0, 1, 2]], np.int32))
        self._allocate(samples)
        self._hair = []
        if len(head.strands):
            # Locks cost the most of all to draw without a GPU: there only the nearest lie on the hair's body.
            shown = head.strand_look[:, 2] < (2.0 if self._fine else 0.55)
            data, faces = ribbons.build(head.strands[shown], head.strand_look[shown], head.sheets)
            self._hair.append(self._mesh(self._programs['hair'], [(self._keep(gl.buffer(data)), (
                ('place', '3f'), ('normal', '3f'), ('along', '3f'), ('look', '4f'), ('follow', '1f'),
                ('openness', '1f')))], faces))
        if len(head.shells):
            data, faces = ribbons.crop(head.shells if self._fine else ribbons.sparse(head.shells, 2))
            self._hair.append(self._mesh(self._programs['crop'], [(self._keep(gl.buffer(data)), (
                ('place', '3f'), ('normal', '3f'), ('follow', '1f'), ('at', '2f'), ('height', '2f')))], faces))

    def _allocate(self, samples: int) -> None:
        """Make what depends on the size: the pictures drawn into, the backdrop's copy."""
        gl, size = self.context, (self.width, self.height)
        for item in self._sized:
            self._made.remove(item)
            item.release()
        before = len(self._made)
        self.samples = min(samples, gl.max_samples)
        self._flat = self._keep(gl.framebuffer([self._keep(gl.renderbuffer(size))],
                                               self._keep(gl.depth_renderbuffer(size))))
        self._target = self._flat
        if self.samples > 1:
            self._target = self._keep(gl.framebuffer(
                [self._keep(gl.renderbuffer(size, samples=self.samples))],
                self._keep(gl.depth_renderbuffer(size, samples=self.samples))))
        self._pixels = np.zeros((self.height, self.width, 4), np.uint8)
        self._wall = None
        if self._target is self._flat:
            wall = self._keep(gl.framebuffer([self._keep(gl.renderbuffer(size))]))
            wall.use()
            gl.viewport = (0, 0, self.width, self.height)
            gl.disable(self._flags['depth'] | self._flags['blend'] | self._flags['cull'])
            self._screen.render()
            self._wall = wall
        self._sized = self._made[:len(self._made) - before]

    def _program(self, vertex: str, fragment: str) -> Any:
        folder = resources.files('emavatar_ros.face') / 'shaders'

        def text(name: str) -> str:
            return (folder / name).read_text(encoding='utf-8')

        start = f'#version 330\n#define {fragment.upper()}\n' + '#define FINE\n' * self._fine + text('light.glsl')
        return self._keep(self.context.program(vertex_shader=start + text(f'{vertex}.vert'),
                                               fragment_shader=start + text(f'{fragment}.frag')))

    def _mesh(self, program: Any, buffers: list[tuple[Any, tuple[tuple[str, str], ...]]],
              faces: NDArray[np.int32]) -> Any:
        """A vertex array; what a program doesn't use of a buffer is skipped."""
        content = []
        for buffer, fields in buffers:
            layout, used = [], []
            for name, form in fields:
                if name in program:
                    layout.append(form)
                    used.append(name)
                else:
                    layout.append(f'{4 if form.endswith("1") else 4 * int(form[0])}x')
            if used:
                content.append((buffer, ' '.join(layout), *used))
        index = self._keep(self.context.buffer(np.ascontiguousarray(faces, dtype=np.int32)))
        return self._keep(self.context.vertex_array(program, content, index))

    def _keep(self, item: Any) -> Any:
        self._made.insert(0, item)
        return item


def _check_size(width: int, height: int) -> None:
    if not (16 <= width <= 7680 and 16 <= height <= 7680):
        raise BadInput(f'a picture of {width}x{height} cannot be drawn: each side must be 16 to 7680 pixels')


def _set(program: Any, values: dict[str, Any]) -> None:
    """Set uniforms; names a program doesn't have are skipped, as its compiler may have dropped them."""
    for name, value in values.items():
        if name in program:
            if isinstance(value, np.ndarray):
                program[name].write(np.ascontiguousarray(value.T if value.shape == (3, 3) else value, dtype='f4'))
            else:
                program[name].value = value


def _context(threads: int) -> moderngl.Context:
    """An off-screen context. Mesa reads its number of threads from the environment when the first one is made."""
    try:
        import moderngl
    except ImportError:
        raise Missing('drawing the face needs moderngl: pip install "emavatar_ros[embedded]"') from None
    os.environ.setdefault('LP_NUM_THREADS', str(threads))
    reason = ''
    make: Any = moderngl.create_context
    explicit = {'libgl': 'libGL.so.1', 'libegl': 'libEGL.so.1'}
    for names in ({}, explicit):
        try:
            context: moderngl.Context = make(standalone=True, backend='egl', require=330, **names)
            return context
        except Exception as error:  # the driver's own words differ in type and text from system to system
            reason = ' '.join(str(error).split())
    raise Missing(NO_OPENGL.format(reason))
