"""Cameras, microphones, speakers and screens of this machine, and finding one by its name or a part of it.

Nothing is opened to make the lists: no camera's light goes on. Where a library or a device is missing the lists are
empty; only `find_*` raises, naming what there is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from emavatar_ros.errors import Missing

SoundKind = Literal['microphone', 'speaker']


@dataclass(frozen=True)
class Device:
    """One device: `index` is what its library opens it by (OpenCV, PortAudio, GLFW)."""

    index: int
    name: str
    detail: str = ''
    default: bool = False


def cameras(root: Path = Path('/sys/class/video4linux')) -> tuple[Device, ...]:
    """Video capture devices of Linux, by number: index N is /dev/videoN."""
    found: list[Device] = []
    for folder in sorted(root.glob('video*'), key=lambda path: (len(path.name), path.name)):
        number = folder.name.removeprefix('video')
        try:
            name = (folder / 'name').read_text(errors='replace').strip()
            # A camera has several nodes; the pictures come from its first, the others carry metadata.
            first = (folder / 'index').read_text().strip() == '0' if (folder / 'index').exists() else True
        except OSError:
            continue
        if number.isdigit() and first:
            found.append(Device(int(number), name, f'/dev/video{number}', not found))
    return tuple(found)


def microphones() -> tuple[Device, ...]:
    """Devices that record sound; () also where PortAudio is missing (see `sound_problem`)."""
    return _sound_devices('microphone')


def speakers() -> tuple[Device, ...]:
    """Devices that play sound; () also where PortAudio is missing (see `sound_problem`)."""
    return _sound_devices('speaker')


def screens() -> tuple[Device, ...]:
    """Monitors, the primary one first; () without a display.

    Asked in a process of its own: GLFW can be started once in a process, and that is the stage's business.
    """
    try:
        answer = subprocess.run([sys.executable, '-W', 'ignore', '-c', _SCREENS], capture_output=True, text=True,
                                timeout=20, stdin=subprocess.DEVNULL)
        rows = json.loads(answer.stdout) if answer.returncode == 0 else []
    except (subprocess.SubprocessError, ValueError):
        rows = []
    return tuple(Device(index, name, detail, index == 0) for index, (name, detail) in enumerate(rows))


_SCREENS = """
import json, glfw
rows = []
if glfw.init():
    for monitor in glfw.get_monitors():
        mode = glfw.get_video_mode(monitor)
        name = glfw.get_monitor_name(monitor)
        rows.append([name.decode(errors='replace') if isinstance(name, bytes) else str(name),
                     f'{mode.size.width}x{mode.size.height} at {mode.refresh_rate} Hz'])
print(json.dumps(rows))
"""


def sound_problem() -> str:
    """Why no sound device can be used: one sentence with the remedy, or '' when there is nothing to say."""
    try:
        portaudio()
    except Missing as error:
        return str(error)
    if not microphones() and not speakers():
        return 'PortAudio sees no sound device: plug one in, or start PulseAudio or PipeWire for this user'
    return ''


def find_sound_device(name_or_part: str, kind: SoundKind) -> Device:
    """The microphone or speaker with this name, number or part of a name; '' is the system's default.

    Case doesn't matter; a whole name wins over a beginning, that over any other part, then the lowest number.
    Raises Missing that lists what exists.
    """
    portaudio()
    return _find(name_or_part, kind, _sound_devices(kind))


def find_camera(name_or_part: str, list_cameras: Callable[[], Sequence[Device]] = cameras) -> Device:
    """The camera with this name, number, path (/dev/video0) or part of a name; '' is the first.

    Raises Missing that lists what exists.
    """
    return _find(name_or_part, 'camera', list_cameras())


def _find(wanted: str, kind: str, devices: Sequence[Device]) -> Device:
    if not devices:
        raise Missing(f'there is no {kind} on this machine: connect one, then see "emavatar devices"')
    if not wanted:
        return next((device for device in devices if device.default), devices[0])
    part = wanted.casefold()
    tests: tuple[Callable[[Device], bool], ...] = (
        lambda device: wanted in (str(device.index), device.detail),
        lambda device: device.name.casefold() == part,
        lambda device: device.name.casefold().startswith(part),
        lambda device: part in device.name.casefold(),
    )
    for test in tests:
        for device in devices:
            if test(device):
                return device
    known = ', '.join(f'{device.index} {device.name!r}' for device in devices)
    raise Missing(f'there is no {kind} called {wanted!r}; this machine has {known}')


def portaudio() -> Any:
    """The sounddevice module; raises Missing where it or PortAudio, the library it wraps, is not there."""
    try:
        import sounddevice
    except (ImportError, OSError) as error:  # OSError: the Python package is there, the library is not
        raise Missing(f'PortAudio can not be loaded ({error}): apt install libportaudio2') from None
    return sounddevice


def _sound_devices(kind: SoundKind) -> tuple[Device, ...]:
    try:
        sounddevice = portaudio()
        listed, defaults = sounddevice.query_devices(), sounddevice.default.device
        interfaces = sounddevice.query_hostapis()
    except Missing:
        return ()
    except sounddevice.PortAudioError:  # bound: reaching here means the import went well
        return ()
    side = 'input' if kind == 'microphone' else 'output'
    default = defaults[0 if kind == 'microphone' else 1]
    return tuple(
        Device(index, row['name'], f'{row[f"max_{side}_channels"]} channels, {row["default_samplerate"]:.0f} Hz, '
               f'{interfaces[row["hostapi"]]["name"]}', index == default)
        for index, row in enumerate(listed) if row[f'max_{side}_channels'] > 0)
