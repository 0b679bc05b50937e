"""Streams of sound through PortAudio, which microphone and speaker share where they live in one process.

PortAudio lists the devices when it is started: one that was plugged in later is seen only by a restart, and that ends
every stream there is. So streams are opened and closed here, and PortAudio is restarted only while none is open. (Where
another stream is, a new device has to wait until that one ends; in processes of their own, the default, neither waits.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from emavatar_ros import devices

_lock = threading.Lock()  # held while a stream is opened or closed: no restart comes in between
_streams: list[Any] = []


def open_stream(make: Callable[[], Any], again: bool = False) -> Any:
    """The stream that `make` finds a device for and opens; give it to `close_stream` in the end.

    again: the device was looked for before or was lost, and may be back by now. Raises what `make` raises, and Missing
    where there is no PortAudio.
    """
    with _lock:
        sounddevice = devices.portaudio()
        if again and not _streams:
            with suppress(sounddevice.PortAudioError):  # it isn't running: the last start failed
                sounddevice._terminate()
            with suppress(sounddevice.PortAudioError):  # then `make` finds no device, and says so
                sounddevice._initialize()
        stream = make()
        _streams.append(stream)
        return stream


def close_stream(stream: Any) -> None:
    """Close it, whatever state it is in."""
    with _lock:
        _streams[:] = [other for other in _streams if other is not stream]
        stream.close()
