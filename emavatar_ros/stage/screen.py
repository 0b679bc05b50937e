"""Where the face is drawn: a window (GLFW, zlib licence) on one of the screens, or off-screen where there is none.

Everything here happens in the thread that opened the screen. While the pictures are drawn the rest of Python runs on:
waiting for OpenGL goes through ctypes, which lets go of the interpreter's lock; moderngl itself never does, and a
software renderer would hold up the sound for tens of milliseconds otherwise.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.avatars import Avatar
from emavatar_ros.errors import Missing
from emavatar_ros.face.renderer import NO_OPENGL, Renderer
from emavatar_ros.face.units import FaceState
from emavatar_ros.stage.quality import Level
from emavatar_ros.stage.settings import StageConfig

NONE: Final = 'none'
COLOUR: Final = 0x4000
LINEAR: Final = 0x2601
READ: Final = 0x8CA8
WRITE: Final = 0x8CA9


class Surface(Protocol):
    """What pictures are drawn for. Its OpenGL context is current while it is open."""

    context: Any
    """A moderngl context, or None: the renderer makes its own."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in px."""

    def show(self, drawn: Renderer) -> None:
        """Bring what was drawn to be seen; gives back when it is."""

    def closed(self) -> bool:
        """Whether the person at the screen closed it."""

    def close(self) -> None:
        """Take it away."""


class Offscreen:
    """Nothing is seen; pictures are read back for a recording or a topic."""

    context = None

    def __init__(self, width: int, height: int) -> None:
        self.size = width, height
        self._finish: Any = None

    def show(self, drawn: Renderer) -> None:
        """Wait until the picture is complete."""
        if self._finish is None:
            self._finish = _finish(drawn)
        self._finish()

    def closed(self) -> bool:
        """Nobody can."""
        return False

    def close(self) -> None:
        """There is nothing to take away."""


class Window:
    """A window, or a whole screen without a cursor. Escape, or the window's own button, closes it.

    Raises Missing when there is no display, no such screen, or no OpenGL.
    """

    def __init__(self, config: StageConfig, title: str) -> None:
        glfw = _glfw()
        if not glfw.init():
            raise Missing('no display can be opened: set DISPLAY or WAYLAND_DISPLAY, or choose screen "none"')
        monitor = _monitor(glfw, config.screen)
        mode = glfw.get_video_mode(monitor)
        for hint, value in ((glfw.CONTEXT_VERSION_MAJOR, 3), (glfw.CONTEXT_VERSION_MINOR, 3),
                            (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE), (glfw.OPENGL_FORWARD_COMPAT, True),
                            (glfw.AUTO_ICONIFY, False), (glfw.FOCUS_ON_SHOW, True)):
            glfw.window_hint(hint, value)
        full = config.window == 'full'
        size = (mode.size.width, mode.size.height) if full else (config.width, config.height)
        self._window = glfw.create_window(*size, title, monitor if full else None, None)
        if not self._window:
            glfw.terminate()
            raise Missing(NO_OPENGL.format('the window got none'))
        glfw.make_context_current(self._window)
        glfw.swap_interval(1)
        if full:
            glfw.set_input_mode(self._window, glfw.CURSOR, glfw.CURSOR_HIDDEN)
        import moderngl
        self.context = moderngl.create_context(require=330)
        self._glfw = glfw
        entry = ctypes.CFUNCTYPE(None, *[ctypes.c_int] * 8, ctypes.c_uint, ctypes.c_uint)
        self._blit = entry(_address(glfw, 'glBlitFramebuffer'))
        self._bind = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_uint)(_address(glfw, 'glBindFramebuffer'))
        self._finish = ctypes.CFUNCTYPE(None)(_address(glfw, 'glFinish'))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of what is drawn into, px."""
        width, height = self._glfw.get_framebuffer_size(self._window)
        return max(width, 64), max(height, 64)

    def show(self, drawn: Renderer) -> None:
        """Scale the picture to the window and show it with the screen's next refresh."""
        width, height = self.size
        self._bind(READ, drawn.framebuffer.glo)
        self._bind(WRITE, 0)
        self._blit(0, 0, drawn.width, drawn.height, 0, 0, width, height, COLOUR, LINEAR)
        self._bind(READ, 0)
        self._finish()
        self._glfw.swap_buffers(self._window)

    def closed(self) -> bool:
        """Look after the window's events; True once it was closed."""
        glfw = self._glfw
        glfw.poll_events()
        return bool(glfw.window_should_close(self._window)
                    or glfw.get_key(self._window, glfw.KEY_ESCAPE) == glfw.PRESS)

    def close(self) -> None:
        """Take the window away."""
        self.context.release()
        self._glfw.destroy_window(self._window)
        self._glfw.terminate()


def surface(config: StageConfig, title: str) -> Surface:
    """The surface the settings ask for."""
    display = sys.platform == 'darwin' or os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')
    if config.screen == NONE or (not config.screen and not display):
        return Offscreen(config.width, config.height)
    return Window(config, title)


class Screen:
    """An avatar on a surface, drawn at a chosen level of quality and shown at the surface's size."""

    def __init__(self, config: StageConfig, avatar: Avatar) -> None:
        self._config = config
        self._surface = surface(config, avatar.title)
        self._level = Level(self._surface.size[1], config.quality.samples)
        self._shape = self._surface.size
        try:
            self._renderer = self._make(avatar)
        except Exception:
            self._surface.close()
            raise

    @property
    def height(self) -> int:
        """Height of the surface in px."""
        return self._surface.size[1]

    @property
    def drawn(self) -> tuple[int, int]:
        """Width and height of the pictures as they are drawn, px."""
        return self._renderer.width, self._renderer.height

    @property
    def renderer(self) -> str:
        """What draws, as OpenGL names it."""
        return str(self._renderer.info['renderer'])

    @property
    def visible(self) -> bool:
        """There is a window."""
        return not isinstance(self._surface, Offscreen)

    def show(self, state: FaceState) -> None:
        """Draw a face state and show it; comes back when it is seen."""
        if self._surface.size != self._shape:
            self._shape = self._surface.size
            self.choose(self._level)
        self._renderer.draw(state)
        self._surface.show(self._renderer)

    def picture(self) -> NDArray[np.uint8]:
        """The picture last shown, RGB uint8 [height, width, 3] of the size drawn."""
        return self._renderer.read()

    def choose(self, level: Level) -> None:
        """Draw at another level from now on."""
        self._level = level
        self._renderer.resize(*self._size(), level.samples)

    def avatar(self, avatar: Avatar) -> None:
        """Show somebody else. Raises BadInput when their face can't be read; then the one before stays."""
        fresh = self._make(avatar)
        if self._surface.context is not None:
            self._renderer.close()
        self._renderer = fresh

    def closed(self) -> bool:
        """Whether the window was closed; looks after its events."""
        return self._surface.closed()

    def close(self) -> None:
        """Free everything."""
        self._renderer.close()
        self._surface.close()

    def _size(self) -> tuple[int, int]:
        width, height = self._surface.size
        share = min(self._level.height / height, 1.0)
        return max(round(width * share / 2) * 2, 16), max(round(height * share / 2) * 2, 16)

    def _make(self, avatar: Avatar) -> Renderer:
        return Renderer(avatar, *self._size(), self._level.samples, self._surface.context,
                                 self._config.quality.threads)


def _finish(drawn: Renderer) -> Any:
    """glFinish for the current context without the interpreter's lock, or moderngl's own where it isn't found."""
    for name in ('libGL.so.1', 'libOpenGL.so.0'):
        try:
            return ctypes.CDLL(name).glFinish
        except (OSError, AttributeError):
            continue
    return drawn.context.finish


def _glfw() -> Any:
    try:
        import glfw
    except ImportError:
        raise Missing('a window needs glfw: pip install "emavatar_ros[embedded]"') from None
    library: Any = glfw
    library.ERROR_REPORTING = False  # what fails is told by the return values, in one sentence of ours
    return library


def _address(glfw: Any, name: str) -> int:
    address = glfw.get_proc_address(name)
    return int(address if isinstance(address, int) else ctypes.cast(address, ctypes.c_void_p).value or 0)


def _monitor(glfw: Any, wanted: str) -> Any:
    """The screen with this name, number or part of its name; the primary one for ''."""
    monitors = glfw.get_monitors()
    names = []
    for monitor in monitors:
        name = glfw.get_monitor_name(monitor)
        names.append(name.decode(errors='replace') if isinstance(name, bytes) else str(name))
    for index, name in enumerate(names):
        if wanted in ('', str(index)) or wanted.casefold() in name.casefold():
            return monitors[index]
    glfw.terminate()
    raise Missing(f'there is no screen called {wanted!r}; this machine has '
                  + (', '.join(f'{i} {name!r}' for i, name in enumerate(names)) or 'none'))
