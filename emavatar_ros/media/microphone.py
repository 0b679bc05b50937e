"""Sound from a microphone through PortAudio, or from a file at its own pace.

The rate and the channels are the device's own: whoever listens resamples. A device that vanishes is reported and
taken up again when it returns.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import Missing
from emavatar_ros.media.files import read_audio
from emavatar_ros.media.pace import wait_until
from emavatar_ros.settings import setting

RETRY_S = 2.0
"""How long to wait before a lost device is looked for again."""
SILENT_S = 3.0
"""A device that calls back no more for this long is lost."""
TAIL_S = 3.0
"""Silence after a file's end, so that its last utterance is recognised as finished."""


@dataclass(frozen=True)
class MicrophoneConfig:
    """What to hear with."""

    source: str = setting('', 'microphone: empty for the default device, part of its name, its index, '
                              'a sound file, or none')
    chunk: float = setting(0.064, 'length of one chunk', unit='s', low=0.01, high=0.5)
    loop: bool = setting(False, 'play a file again from its start when it ends')
    frame_id: str = setting('microphone', 'frame_id of the sound')


class Microphone:
    """`chunks(stopped)` yields (samples float32 [n] or [n, channels], rate in Hz) as they are captured.

    `problem` says what is wrong at the moment, '' when nothing is; `device` names what is open; `lost` counts chunks
    that nobody took in time.
    """

    def __init__(self, config: MicrophoneConfig) -> None:
        self.config = config
        self.problem = ''
        self.device = ''
        self.lost = 0

    def chunks(self, stopped: Callable[[], bool]) -> Iterator[tuple[NDArray[np.float32], int]]:
        """Sound in real time until `stopped()`; raises BadInput for a file that can't be read."""
        source = self.config.source
        if source == 'none':
            return
        if source and Path(source).is_file():
            yield from self._file(Path(source), stopped)
        else:
            yield from self._device(stopped)

    def _file(self, path: Path, stopped: Callable[[], bool]) -> Iterator[tuple[NDArray[np.float32], int]]:
        audio = read_audio(path)
        self.device = path.name
        tail = np.zeros((int(TAIL_S * audio.rate), *audio.samples.shape[1:]), dtype=np.float32)
        samples = np.concatenate([audio.samples, tail])
        size = max(1, int(self.config.chunk * audio.rate))
        start = time.monotonic()
        sent = 0
        while not stopped():
            for first in range(0, len(samples), size):
                sent += len(samples[first:first + size])
                if not wait_until(start + sent / audio.rate, stopped):
                    return
                yield samples[first:first + size], audio.rate
            if not self.config.loop:
                return

    def _device(self, stopped: Callable[[], bool]) -> Iterator[tuple[NDArray[np.float32], int]]:
        while not stopped():
            arrived: queue.Queue[NDArray[np.float32]] = queue.Queue(100)
            try:
                stream = self._open(arrived)
            except Missing as error:
                self.problem, self.device = str(error), ''
                wait_until(time.monotonic() + RETRY_S, stopped)
                continue
            self.problem = ''
            try:
                rate = int(stream.samplerate)
                while not stopped():
                    try:
                        yield arrived.get(timeout=SILENT_S), rate
                    except queue.Empty:
                        self.problem = f'the microphone {self.device} stopped delivering sound'
                        break
            finally:
                stream.close()

    def _open(self, arrived: queue.Queue[NDArray[np.float32]]) -> Any:
        from emavatar_ros.devices import find_sound_device, portaudio

        sounddevice = portaudio()
        device = find_sound_device(self.config.source, 'microphone').index
        info = sounddevice.query_devices(device)

        def captured(samples: NDArray[np.float32], count: int, when: Any, status: Any) -> None:
            try:
                arrived.put_nowait(samples.copy())
            except queue.Full:
                self.lost += 1

        try:
            stream = sounddevice.InputStream(
                device=device, samplerate=info['default_samplerate'], dtype='float32', callback=captured,
                channels=min(2, int(info['max_input_channels'])),
                blocksize=int(self.config.chunk * info['default_samplerate']))
            stream.start()
        except sounddevice.PortAudioError as error:
            raise Missing(f'the microphone {info["name"]!r} does not open ({error}); see `emavatar devices`') from None
        self.device = str(info['name'])
        return stream

