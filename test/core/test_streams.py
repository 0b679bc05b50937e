"""Microphone and speaker in one process: neither looks for its device in a way that ends the other's stream."""

from __future__ import annotations

import threading
import time
import types
from typing import Any

import numpy as np
import pytest

from emavatar_ros import devices
from emavatar_ros.errors import Missing, Unavailable
from emavatar_ros.media import microphone
from emavatar_ros.media.microphone import Microphone, MicrophoneConfig
from emavatar_ros.media.streams import close_stream, open_stream
from emavatar_ros.stage import speaker_device
from emavatar_ros.stage.speaker import Config

RATE = 16_000


class PortAudio(types.SimpleNamespace):
    """A sound system that lists what is plugged in when it is started; a restart ends every stream."""

    class PortAudioError(Exception):
        pass

    def __init__(self, *plugged: str) -> None:
        super().__init__(default=types.SimpleNamespace(device=(0, 1)))
        self.plugged = self.listed = set(plugged)
        self.streams: list[Any] = []
        self.restarts = 0

    def _terminate(self) -> None:
        assert all(stream.closed for stream in self.streams), 'a stream was open'
        self.restarts += 1

    def _initialize(self) -> None:
        self.listed = set(self.plugged)

    def query_hostapis(self) -> list[dict[str, str]]:
        return [{'name': 'sound'}]

    def query_devices(self, index: int | None = None) -> Any:
        rows = [{'name': name, 'max_input_channels': int(name == 'microphone' and name in self.listed),
                 'max_output_channels': int(name == 'speaker' and name in self.listed),
                 'default_samplerate': float(RATE), 'hostapi': 0} for name in ('microphone', 'speaker')]
        return rows if index is None else rows[index]

    def InputStream(self, callback: Any, samplerate: float, blocksize: int, **_: object) -> Any:
        def start() -> None:
            callback(np.zeros((blocksize, 1), np.float32), blocksize,
                     types.SimpleNamespace(inputBufferAdcTime=0.0), None)
        return self._stream(start, samplerate)

    def OutputStream(self, samplerate: float, **_: object) -> Any:
        return self._stream(lambda: None, samplerate)

    def _stream(self, start: Any, rate: float) -> Any:
        stream = types.SimpleNamespace(start=start, samplerate=rate, latency=0.0, time=0.0, active=True, closed=False,
                                       abort=lambda: None)
        stream.close = lambda: setattr(stream, 'closed', True)
        self.streams.append(stream)
        return stream


@pytest.fixture
def sound(monkeypatch: pytest.MonkeyPatch) -> PortAudio:
    sound = PortAudio('microphone', 'speaker')
    monkeypatch.setattr(devices, 'portaudio', lambda: sound)
    monkeypatch.setattr(microphone, 'RETRY_S', 0.01)
    monkeypatch.setattr(speaker_device, 'WATCH', 0.01)
    monkeypatch.setattr(speaker_device, 'RETRY', 0.01)
    return sound


def test_only_the_first_stream_may_restart_portaudio(sound: PortAudio) -> None:
    first = open_stream(lambda: sound.OutputStream(RATE), again=True)
    second = open_stream(lambda: sound.OutputStream(RATE), again=True)
    assert sound.restarts == 1
    for stream in (first, first, second):  # closing twice counts once
        close_stream(stream)
    close_stream(open_stream(lambda: sound.OutputStream(RATE), again=True))
    close_stream(open_stream(lambda: sound.OutputStream(RATE)))
    assert sound.restarts == 2 and all(stream.closed for stream in sound.streams)


def test_a_stream_that_does_not_open_does_not_count(sound: PortAudio) -> None:
    def fail() -> None:
        raise Missing('nothing there')

    for restarts in (1, 2):
        with pytest.raises(Missing):
            open_stream(fail, again=True)
        assert sound.restarts == restarts


def test_a_microphone_that_is_looked_for_leaves_the_speaker_its_stream(sound: PortAudio) -> None:
    sound.listed = {'speaker'}
    speaker = open_stream(lambda: sound.OutputStream(RATE))
    looks = 0

    def stopped() -> bool:
        nonlocal looks
        looks += 1
        if looks == 10:
            assert sound.restarts == 0
            close_stream(speaker)
        return False

    chunks = Microphone(MicrophoneConfig()).chunks(stopped)
    next(chunks)
    assert looks >= 10 and sound.restarts == 1
    chunks.close()  # type: ignore[attr-defined]
    assert all(stream.closed for stream in sound.streams)


def test_a_speaker_that_is_looked_for_leaves_the_microphone_its_stream(sound: PortAudio) -> None:
    sound.listed = {'microphone'}
    chunks = Microphone(MicrophoneConfig()).chunks(lambda: False)
    next(chunks)
    speaker = speaker_device.DeviceSpeaker(Config(), '', time.monotonic)
    looked = threading.Event()
    retake, tries = speaker._retake, []

    def count() -> None:
        retake()
        tries.append(speaker.problem)
        if len(tries) == 3:
            looked.set()

    speaker._retake = count  # type: ignore[method-assign]
    with pytest.raises(Missing):
        speaker.open(0.0)
    assert looked.wait(5)
    assert sound.restarts == 0 and all('no speaker' in problem for problem in tries[:3])
    chunks.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 5
    while speaker.problem:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert (speaker.name, sound.restarts) == ('speaker', 1)
    speaker.close()
    assert all(stream.closed for stream in sound.streams)


def test_a_speaker_that_does_not_start_is_given_back(sound: PortAudio) -> None:
    class Busy(PortAudio):
        def OutputStream(self, samplerate: float, **_: object) -> Any:
            def start() -> None:
                raise self.PortAudioError('busy')
            return self._stream(start, samplerate)

    sound.__class__ = Busy
    speaker = speaker_device.DeviceSpeaker(Config(), '', time.monotonic)
    with pytest.raises(Unavailable, match=r"'speaker' can not be opened .busy"):
        speaker.open(0.0)
    speaker.close()
    assert sound.streams and all(stream.closed for stream in sound.streams)
