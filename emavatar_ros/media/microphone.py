"""Sound from a microphone through PortAudio, or from a file at its own pace.

The rate and the channels are the device's own: whoever listens resamples. A device that vanishes is reported and
taken up again when it returns.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emavatar_ros import devices
from emavatar_ros.errors import Missing
from emavatar_ros.media.files import read_audio
from emavatar_ros.media.pace import wait_until
from emavatar_ros.media.streams import close_stream, open_stream
from emavatar_ros.settings import setting

RETRY_S = 2.0
"""How long to wait before a lost device is looked for again."""
SILENT_S = 3.0
"""A device that calls back no more for this long is lost."""
TAIL_S = 3.0
"""Silence after a file's end, so that its last utterance is recognised as finished."""
LONGEST_S = 5.0
"""A driver that says a chunk is older than this, or from the future, doesn't know."""

Chunk = tuple[NDArray[np.float32], int, float]
"""Samples float32 [n] or [n, channels], rate in Hz, wall time (s) at which the first sample was captured."""


@dataclass(frozen=True)
class MicrophoneConfig:
    """What to hear with."""

    source: str = setting('', 'microphone: empty for the default device, part of its name, its index, '
                              'a sound file, or none')
    chunk: float = setting(0.064, 'length of one chunk', unit='s', low=0.01, high=0.5)
    loop: bool = setting(False, 'play a file again from its start when it ends')
    frame_id: str = setting('microphone', 'frame_id of the sound')


class Microphone:
    """`chunks(stopped)` yields (samples, rate, captured) as they are captured: see `Chunk`.

    `problem` says what is wrong at the moment, '' when nothing is; `device` names what is open; `lost` counts chunks
    that nobody took in time.
    """

    def __init__(self, config: MicrophoneConfig) -> None:
        self.config = config
        self.problem = ''
        self.device = ''
        self.lost = 0

    def chunks(self, stopped: Callable[[], bool]) -> Iterator[Chunk]:
        """Sound in real time until `stopped()`; raises BadInput for a file that can't be read."""
        source = self.config.source
        if source == 'none':
            return
        if source and Path(source).is_file():
            yield from self._file(Path(source), stopped)
        else:
            yield from self._device(stopped)

    def _file(self, path: Path, stopped: Callable[[], bool]) -> Iterator[Chunk]:
        audio = read_audio(path)
        self.device = path.name
        tail = np.zeros((int(TAIL_S * audio.rate), *audio.samples.shape[1:]), dtype=np.float32)
        samples = np.concatenate([audio.samples, tail])
        size = max(1, int(self.config.chunk * audio.rate))
        start = time.monotonic()
        sent = 0
        while not stopped():
            for first in range(0, len(samples), size):
                chunk = samples[first:first + size]
                begin = start + sent / audio.rate
                sent += len(chunk)
                if not wait_until(start + sent / audio.rate, stopped):
                    return
                # As planned, not as woken: the file has the even times of a device.
                yield chunk, audio.rate, time.time() - time.monotonic() + begin
            if not self.config.loop:
                return

    def _device(self, stopped: Callable[[], bool]) -> Iterator[Chunk]:
        again = False
        while not stopped():
            arrived: queue.Queue[tuple[NDArray[np.float32], float]] = queue.Queue(100)
            try:
                stream = open_stream(partial(self._open, arrived), again)
            except Missing as error:
                self.problem, self.device, again = str(error), '', True
                wait_until(time.monotonic() + RETRY_S, stopped)
                continue
            self.problem = ''
            try:
                rate = int(stream.samplerate)
                while not stopped():
                    try:
                        samples, captured = arrived.get(timeout=SILENT_S)
                    except queue.Empty:
                        self.problem, again = f'the microphone {self.device} stopped delivering sound', True
                        break
                    yield samples, rate, captured
            finally:
                close_stream(stream)

    def _open(self, arrived: queue.Queue[tuple[NDArray[np.float32], float]]) -> Any:
        """Open the device and start it."""
        sounddevice = devices.portaudio()
        found = devices.find_sound_device(self.config.source, 'microphone')

        def captured(samples: NDArray[np.float32], count: int, when: Any, status: Any) -> None:
            # The driver's clock is its own: how long ago the first sample was is all it tells.
            age = stream.time - when.inputBufferAdcTime
            if not when.inputBufferAdcTime or not 0 <= age < LONGEST_S:
                age = count / stream.samplerate
            try:
                arrived.put_nowait((samples.copy(), time.time() - age))
            except queue.Full:
                self.lost += 1

        try:
            info = sounddevice.query_devices(found.index)
            stream = sounddevice.InputStream(
                device=found.index, samplerate=info['default_samplerate'], dtype='float32', callback=captured,
                channels=min(2, int(info['max_input_channels'])),
                blocksize=int(self.config.chunk * info['default_samplerate']))
            try:
                stream.start()
            except sounddevice.PortAudioError:
                stream.close()
                raise
        except sounddevice.PortAudioError as error:
            raise Missing(f'the microphone {found.name!r} does not open ({error}); see `emavatar devices`') from None
        self.device = found.name
        return stream
