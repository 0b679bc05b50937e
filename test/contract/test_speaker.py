"""Every speaker keeps the same promises: here on a private PulseAudio with a null sink, and on no device at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.errors import Missing
from emavatar_ros.media.audio import Audio
from emavatar_ros.stage.speaker import Config, Speaker, create

TONE = Audio(np.sin(np.arange(16000) * 0.1).astype(np.float32) / 2, 16000)


@pytest.fixture(scope='module')
def sound_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A PulseAudio of our own that PortAudio finds through ALSA's pulse plug-in."""
    if not shutil.which('pulseaudio'):
        pytest.skip('no pulseaudio here: apt-get install pulseaudio libasound2-plugins libportaudio2')
    folder = tmp_path_factory.mktemp('pulse')
    socket = folder / 'native'
    process = subprocess.Popen(
        ['pulseaudio', '-n', '--daemonize=no', '--exit-idle-time=-1', '--use-pid-file=no',
         '--load=module-null-sink sink_name=test rate=48000',
         f'--load=module-native-protocol-unix auth-anonymous=1 socket={socket}'],
        env={**os.environ, 'HOME': str(folder), 'XDG_RUNTIME_DIR': str(folder)}, stderr=subprocess.DEVNULL)
    before = os.environ.get('PULSE_SERVER')
    os.environ['PULSE_SERVER'] = f'unix:{socket}'
    try:
        deadline = time.monotonic() + 10
        while not socket.exists():
            assert process.poll() is None and time.monotonic() < deadline, 'pulseaudio did not start'
            time.sleep(0.05)
        import sounddevice
        sounddevice._terminate()
        sounddevice._initialize()
        yield socket
    finally:
        process.terminate()
        process.wait(10)
        os.environ.pop('PULSE_SERVER') if before is None else os.environ.update(PULSE_SERVER=before)


@pytest.fixture(params=['none', 'pulse'])
def speaker(request: pytest.FixtureRequest) -> Iterator[Speaker]:
    if request.param == 'pulse':
        request.getfixturevalue('sound_server')
    speaker = create(Config(volume=0.0), request.param, time.monotonic, keep=True)
    speaker.open(time.monotonic())
    yield speaker
    speaker.close()
    speaker.close()


def wait(until: float) -> float:
    time.sleep(max(until - time.monotonic(), 0))
    return time.monotonic()


def test_the_position_runs_with_the_clock_while_sound_is_heard(speaker: Speaker) -> None:
    assert speaker.play(TONE, time.monotonic()) == (0.0, pytest.approx(1.0, abs=1e-3))
    start = speaker.when(0.0, wait(time.monotonic() + 0.15))
    for after in (0.3, 0.6):
        t = wait(start + after)
        assert speaker.position(t) == pytest.approx(t - start, abs=0.02)
        assert speaker.position(t + 0.1) == pytest.approx(t + 0.1 - start, abs=0.02)
    t = wait(start + 1.2)
    assert speaker.position(t) == pytest.approx(1.0, abs=2e-3)
    heard = speaker.played(t)
    assert sum(stretch.seconds for stretch in heard) == pytest.approx(1.0, abs=2e-3)
    assert all(b.when - a.until < 0.01 for a, b in pairwise(heard))
    assert speaker.underruns == 0
    assert speaker.name


def test_it_falls_silent_at_once_and_what_was_not_heard_does_not_count(speaker: Speaker) -> None:
    t = time.monotonic()
    for _ in range(5):
        speaker.play(TONE, t)
    start = speaker.when(0.0, wait(t + 0.15))
    t = wait(start + 0.4)
    place = speaker.stop(t)
    assert time.monotonic() - t < 0.05
    assert place == pytest.approx(t - start, abs=0.02)
    assert speaker.position(wait(t + 0.3)) == place
    assert sum(stretch.seconds for stretch in speaker.played(t + 0.3)) == pytest.approx(place, abs=2e-3)
    first, end = speaker.play(TONE, time.monotonic())
    assert (first, end) == (place, pytest.approx(place + 1.0, abs=2e-3))


def test_a_device_that_does_not_exist_is_named(sound_server: Path) -> None:
    speaker = create(Config(), 'Marvellous', time.monotonic)
    try:
        with pytest.raises(Missing, match='Marvellous'):
            speaker.open(time.monotonic())
        assert 'Marvellous' in speaker.name
        t = time.monotonic()
        speaker.play(TONE, t)
        assert speaker.position(wait(t + 1.6)) == pytest.approx(1.0, abs=2e-3)  # time passes all the same
    finally:
        speaker.close()


def test_a_device_that_vanishes_is_reported_and_the_turn_goes_on(sound_server: Path) -> None:
    speaker = create(Config(volume=0.0), 'pulse', time.monotonic)
    speaker.open(time.monotonic())
    try:
        speaker._stream.abort()  # what PortAudio does when its device is gone
        t = time.monotonic()
        speaker.play(TONE, t)
        deadline = t + 6
        while 'away' not in speaker.name and speaker.position(time.monotonic()) < 0.9:
            assert time.monotonic() < deadline
            wait(time.monotonic() + 0.02)
        while speaker.position(time.monotonic()) < 0.99:
            assert time.monotonic() < deadline
            wait(time.monotonic() + 0.02)
        while 'away' in speaker.name:
            assert time.monotonic() < deadline
            wait(time.monotonic() + 0.05)
    finally:
        speaker.close()
