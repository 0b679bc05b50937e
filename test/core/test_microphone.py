"""The microphone: chunks carry the moment their first sample was captured, and a device that comes later is found."""

from __future__ import annotations

import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emavatar_ros import devices
from emavatar_ros.media import microphone
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.microphone import Microphone, MicrophoneConfig
from emavatar_ros.reply import write_wav

RATE = 16_000


def test_a_file_has_the_times_of_its_schedule(tmp_path: Path) -> None:
    write_wav(tmp_path / 'a.wav', Audio(np.zeros(RATE // 5, np.float32), RATE))
    before = time.time()
    chunks = Microphone(MicrophoneConfig(str(tmp_path / 'a.wav'), chunk=0.05)).chunks(lambda: False)
    times = [next(chunks)[2] for _ in range(4)]
    np.testing.assert_allclose(np.diff(times), 0.05, atol=2e-3)
    assert before - 2e-3 <= times[0] <= time.time() - 0.2 + 2e-3


class PortAudio(types.SimpleNamespace):
    """A sound system whose microphone is listed only from its second start on. Every chunk was captured `age` s before
    the driver hands it over; `knows`: whether the driver says so."""

    class PortAudioError(Exception):
        pass

    def __init__(self, age: float, knows: bool, present: bool) -> None:
        super().__init__(default=types.SimpleNamespace(device=(0, 0)))
        self.age, self.knows, self.present = age, knows, present

    def _terminate(self) -> None:
        self.present = False

    def _initialize(self) -> None:
        self.present = True

    def query_hostapis(self) -> list[dict[str, str]]:
        return [{'name': 'sound'}]

    def query_devices(self, index: int | None = None) -> Any:
        row = {'name': 'desk', 'max_input_channels': 1, 'default_samplerate': float(RATE), 'hostapi': 0}
        return ([row] if self.present else []) if index is None else row

    def InputStream(self, callback: Callable[..., None], samplerate: float, blocksize: int, **_: object) -> Any:
        when = types.SimpleNamespace(inputBufferAdcTime=1000.0 - self.age if self.knows else 0.0)
        return types.SimpleNamespace(
            time=1000.0, samplerate=samplerate, close=lambda: None,
            start=lambda: callback(np.zeros((blocksize, 1), np.float32), blocksize, when, None))


@pytest.mark.parametrize(('knows', 'age'), [(True, 0.4), (False, 0.064)])
def test_the_driver_says_when_a_chunk_was_captured(knows: bool, age: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, 'portaudio', lambda: PortAudio(0.4, knows, present=True))
    chunks = Microphone(MicrophoneConfig()).chunks(lambda: False)
    before = time.time()
    _, rate, captured = next(chunks)
    assert rate == RATE
    assert before <= captured + age <= time.time() + 1e-3
    chunks.close()  # type: ignore[attr-defined]


def test_a_microphone_plugged_in_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = PortAudio(0.1, True, present=False)
    monkeypatch.setattr(devices, 'portaudio', lambda: sound)
    monkeypatch.setattr(microphone, 'RETRY_S', 0.01)
    mine = Microphone(MicrophoneConfig())
    chunks = mine.chunks(lambda: False)
    next(chunks)
    assert (mine.device, mine.problem) == ('desk', '')
    chunks.close()  # type: ignore[attr-defined]
