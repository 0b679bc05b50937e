"""What `emavatar doctor` looks at: everything the avatar needs from this machine, each with what to do about it.

What can crash or leave traces in a process (ROS libraries, OpenGL) is tried in a process of its own.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from emavatar_ros import devices
from emavatar_ros.models import onnx
from emavatar_ros.models.store import Store

EXTRAS: Final = {
    'embedded': ('onnxruntime', 'onnx', 'faster_whisper', 'ai_edge_litert', 'h5py', 'tokenizers', 'safetensors',
                 'xllamacpp', 'moderngl', 'glfw'),
    'transformers': ('transformers', 'torch', 'llguidance'),
    'funasr': ('funasr', 'torch'),
    'deepface': ('deepface',),
}
"""Modules that each extra of the package brings."""

SHARED: Final = frozenset({'test', 'tests', 'testing', 'doc', 'docs', 'example', 'examples', 'scripts', 'benchmark',
                           'benchmarks', 'conftest', 'tools'})
"""Top-level names that many packages install by mistake and nobody imports."""

RIVALS: Final = frozenset({'cv2', 'onnxruntime', 'tensorrt', 'tflite_runtime', 'sounddevice'})
"""Modules that have several distributions: a second one is a fault even where it doesn't list its files."""

ROOM: Final = 1_000_000_000
"""Bytes wanted free beside the models."""


@dataclass(frozen=True)
class Check:
    """One thing looked at. `remedy` says what to do, '' when it is fine; what is not `needed` may stay wrong."""

    name: str
    ok: bool
    detail: str
    remedy: str = ''
    needed: bool = True


def report(profile: str = 'embedded', store: Store | None = None) -> list[Check]:
    """Look at everything for a profile; the machine is fit when every check that is `needed` is `ok`.

    Raises BadInput for an unknown profile. Takes some seconds; makes no request and opens no camera.
    """
    store = store or Store()
    names = store.select(profile=profile)
    return [python(), ros(), espeak(), opengl(), *sound(), cameras(), screens(), models(store, names),
            disk(store, names), *extras(profile), *duplicates(), *accelerators()]


def python() -> Check:
    """Python 3.10 or newer."""
    version = '.'.join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 10)
    return Check('python', good, f'{version} at {sys.executable}', '' if good else 'install Python 3.10 or newer')


def ros() -> Check:
    """rclpy is here and our messages' type support loads in it."""
    code, said = _try("import os, rclpy\nfrom rclpy.type_support import check_for_type_support\n"
                      "from emavatar_ros.msg import AudioChunk\ncheck_for_type_support(AudioChunk)\n"
                      "from rclpy.utilities import get_rmw_implementation_identifier as rmw\n"
                      "print(rmw(), 'domain', os.environ.get('ROS_DOMAIN_ID', '0'))")
    if code == 0:
        return Check('ros', True, said)
    remedy = ('pip install this package again (it brings ROS 2 and builds its messages), or with colcon: build it and '
              'source install/setup.bash')
    return Check('ros', False, said, remedy)


def espeak() -> Check:
    """espeak-ng, which writes words as phonemes and is the voice of last resort."""
    program = shutil.which('espeak-ng')
    if not program:
        return Check('espeak-ng', False, 'not found', 'apt install espeak-ng')
    code, said = _run([program, '--version'])
    return Check('espeak-ng', code == 0, said, '' if code == 0 else 'apt install --reinstall espeak-ng')


def opengl() -> Check:
    """OpenGL without a window: on a GPU, or Mesa's on the CPU."""
    if importlib.util.find_spec('moderngl') is None:
        return Check('opengl', False, 'moderngl is not installed', "pip install 'emavatar-ros[embedded]'")
    code, said = _try("import moderngl\nc = moderngl.create_context(standalone=True, backend='egl')\n"
                      "print(c.info['GL_RENDERER'], 'OpenGL', c.version_code)")
    if code == 0:
        soft = re.search('llvmpipe|softpipe|swrast', said)
        return Check('opengl', True, said + (': drawn by the CPU' if soft else ''))
    return Check('opengl', False, said, 'apt install libegl1 libgl1 libgl1-mesa-dri (or the GPU vendor\'s driver)')


def sound() -> Iterator[Check]:
    """Microphones and speakers, and whether the default ones can be opened."""
    problem = devices.sound_problem()
    for kind, found in (('microphones', devices.microphones()), ('speakers', devices.speakers())):
        if not found:
            yield Check(kind, False, 'none', problem or f'connect one of the {kind}', needed=False)
            continue
        code, said = _try(f"import sounddevice as s\ns.check_{'in' if kind == 'microphones' else 'out'}put_settings()")
        listed = ', '.join(f'{device.index} {device.name}' for device in found)
        if code == 0:
            yield Check(kind, True, listed)
        else:
            yield Check(kind, False, f'{listed}; the default one does not open: {said}',
                        'start PulseAudio or PipeWire for this user, or name another device in the settings',
                        needed=False)


def cameras() -> Check:
    """Cameras that may be read by this user."""
    found = devices.cameras()
    if not found:
        return Check('cameras', False, 'none', 'connect one, or remap a driver\'s image topic', needed=False)
    shut = [device.detail for device in found if not os.access(device.detail, os.R_OK | os.W_OK)]
    listed = ', '.join(f'{device.index} {device.name}' for device in found)
    if shut:
        return Check('cameras', False, f'{listed}; not allowed: {", ".join(shut)}',
                     'sudo usermod -aG video $USER, then log in again', needed=False)
    return Check('cameras', True, listed)


def screens() -> Check:
    """Monitors to show the avatar on."""
    found = devices.screens()
    listed = ', '.join(f'{device.name} {device.detail}' for device in found)
    return Check('screens', bool(found), listed or 'none', '' if found else 'set DISPLAY, or let the stage record or '
                 'publish pictures', needed=False)


def models(store: Store, names: Iterable[str]) -> Check:
    """The profile's models are in the cache."""
    missing = [name for name in names if not store.cached(name)]
    if not missing:
        return Check('models', True, f'all in {store.root}')
    return Check('models', False, f'{store.root} lacks {", ".join(missing)}',
                 f'emavatar models pull {" ".join(missing)}')


def disk(store: Store, names: Iterable[str]) -> Check:
    """Room for what is missing (twice: while it is fetched) and some more."""
    folder = next(path for path in (store.root, *store.root.absolute().parents) if path.exists())
    free = shutil.disk_usage(folder).free
    need = ROOM + 2 * sum(store.catalogue[name].bytes for name in names if not store.cached(name))
    detail = f'{free / 1e9:.1f} GB free at {folder}, {need / 1e9:.1f} GB wanted'
    good = free >= need
    return Check('disk', good, detail, '' if good else 'free some space or set EMAVATAR_MODELS to another disk')


def extras(profile: str) -> Iterator[Check]:
    """Optional packages: the embedded ones are needed by the default profile, the others by their backends."""
    for extra, modules in EXTRAS.items():
        missing = [module for module in modules if importlib.util.find_spec(module) is None]
        needed = extra == 'embedded' and profile == 'embedded'
        remedy = f"pip install 'emavatar-ros[{extra}]'" if missing else ''
        yield Check(f'extra {extra}', not missing, f'lacks {", ".join(missing)}' if missing else 'complete', remedy,
                    needed)


def duplicates(installed: Iterable[Any] | None = None) -> Iterator[Check]:
    """Modules that two installed distributions provide: which one runs is chance, and removing one breaks both.

    `installed` are importlib.metadata distributions; this Python's unless told.
    """
    owners = module_owners(metadata.distributions() if installed is None else installed)
    wrong = {module: names for module, names in owners.items() if len(names) > 1}
    for module, names in wrong.items():
        keep = next((name for name in names if name.endswith(('-headless', '-gpu'))), names[0])
        others = ' '.join(name for name in names if name != keep)
        yield Check(f'module {module}', False, f'installed by {" and by ".join(names)}',
                    f'pip uninstall {others} {keep}, then pip install {keep}')
    if not wrong:
        yield Check('modules', True, 'each is provided by one distribution')
    if any('cosyvoice' in names for names in owners.values()):
        yield Check('cosyvoice', False, 'the package of that name on the index is an incomplete fork by somebody else',
                    'pip uninstall cosyvoice, and name a checkout of CosyVoice in the settings, or a speech server')


def module_owners(installed: Iterable[Any]) -> Mapping[str, list[str]]:
    """Top-level module -> names of the distributions that install its code, sorted; folders without code (shared
    namespaces) belong to nobody."""
    owners: dict[str, set[str]] = {}
    for distribution in installed:
        name = distribution.metadata['Name']
        if not name:
            continue
        for module in _modules(distribution) - SHARED:
            owners.setdefault(module, set()).add(_plain(name))
    return {module: sorted(names) for module, names in sorted(owners.items())}


def _modules(distribution: Any) -> set[str]:
    if not (distribution.read_text('RECORD') or distribution.read_text('installed-files.txt')):
        # Not installed by pip: a system package, or metadata that another wheel carries along (ROS's do).
        return set((distribution.read_text('top_level.txt') or '').split()) & RIVALS
    found = set()
    for path in distribution.files or ():
        parts = path.parts
        if len(parts) == 2 and parts[1] == '__init__.py' and parts[0] != '..':
            found.add(parts[0])
        elif len(parts) == 1 and path.suffix in ('.py', '.so'):
            found.add(path.name.split('.')[0])
    return found


def accelerators(release: Path = Path('/etc/nv_tegra_release')) -> Iterator[Check]:
    """Jetson: TensorRT is JetPack's and onnxruntime NVIDIA's build. Elsewhere: whether onnxruntime sees the GPU."""
    installed = {_plain(name) for distribution in metadata.distributions() if (name := distribution.metadata['Name'])}
    providers = onnx.available()
    if release.is_file():
        lead = release.read_text(errors='replace').splitlines()[0].strip('# ')
        pip_trt = sorted(name for name in installed if name.startswith('tensorrt-') and name.endswith('-libs'))
        if pip_trt:
            yield Check('jetson', False, f'{", ".join(pip_trt)} from the index beside JetPack\'s TensorRT',
                        f'pip uninstall {" ".join(pip_trt)}')
        elif 'TensorrtExecutionProvider' not in providers:
            yield Check('jetson', False, f'{lead}; onnxruntime here has {", ".join(providers) or "no provider"}',
                        'install NVIDIA\'s onnxruntime build for this JetPack, and not the index\'s; TensorRT comes '
                        'with JetPack (apt install nvidia-jetpack)', needed=False)
        else:
            yield Check('jetson', True, f'{lead}; onnxruntime has TensorRT')
    elif shutil.which('nvidia-smi'):
        code, said = _run(['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader'])
        if code != 0:
            yield Check('gpu', False, said, 'reinstall NVIDIA\'s driver', needed=False)
        elif 'CUDAExecutionProvider' not in providers:
            yield Check('gpu', False, f'{said}; onnxruntime uses the CPU',
                        "pip uninstall onnxruntime, then pip install 'emavatar-ros[gpu]'", needed=False)
        else:
            yield Check('gpu', True, f'{said}; onnxruntime has CUDA')


def _plain(name: str) -> str:
    return re.sub(r'[-_.]+', '-', name).lower()


def _try(code: str) -> tuple[int, str]:
    """Run Python code in a process of its own."""
    return _run([sys.executable, '-W', 'ignore', '-c', code])


def _run(command: list[str]) -> tuple[int, str]:
    """Exit code and the last line that was printed (of standard error when it failed)."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        return 1, str(error)
    lines = (done.stdout if done.returncode == 0 else done.stderr or done.stdout).strip().splitlines()
    return done.returncode, lines[-1] if lines else f'ended with {done.returncode}'
