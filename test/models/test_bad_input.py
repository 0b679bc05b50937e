"""What can't be used gets one sentence and exit code 2, before any model is loaded; nothing is left half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import wave
from pathlib import Path

import cv2
import numpy as np
import pytest
from interrupts import interruptible

from emavatar_ros import cli
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.movie import Movie
from emavatar_ros.reply import write_wav


def tone(path: Path, seconds: float = 1.0) -> Path:
    samples = 0.3 * np.sin(2 * np.pi * 220 * np.arange(round(16_000 * seconds)) / 16_000)
    write_wav(path, Audio(samples.astype(np.float32), 16_000))
    return path


def make(name: str, folder: Path) -> Path:
    """A file that can't be used, by what is wrong with it."""
    path = folder / name
    match name:
        case 'empty.wav' | 'empty.mp4' | 'empty.png':
            path.touch()
        case 'noise.wav' | 'noise.mp4' | 'noise.jpg':
            path.write_bytes(np.random.default_rng(0).bytes(5000))
        case 'text.wav':
            path.write_text('I am no sound at all\n' * 50)
        case 'none.wav':
            with wave.open(str(path), 'wb') as out:
                out.setnchannels(1)
                out.setsampwidth(2)
                out.setframerate(16_000)
        case 'cut.wav':
            tone(path)
            path.write_bytes(path.read_bytes()[:9000])
        case 'cut.mp4':
            with Movie(path, 64, 64, 25) as movie:
                for _ in range(50):
                    movie.image(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8))
            path.write_bytes(path.read_bytes()[:len(path.read_bytes()) // 2])
        case 'dot.png':
            assert cv2.imwrite(str(path), np.zeros((1, 1, 3), np.uint8))
        case 'cut.png':
            picture = np.random.default_rng(0).integers(0, 255, (200, 200, 3), np.uint8)
            path.write_bytes(cv2.imencode('.png', picture)[1].tobytes()[:300])
        case 'folder.wav':
            path.mkdir()
    return path


@pytest.mark.parametrize(('option', 'name'), [
    ('--audio', 'missing.wav'), ('--audio', 'empty.wav'), ('--audio', 'noise.wav'), ('--audio', 'text.wav'),
    ('--audio', 'none.wav'), ('--audio', 'cut.wav'), ('--audio', 'folder.wav'), ('--audio', 'dot.png'),
    ('--video', 'missing.mp4'), ('--video', 'empty.mp4'), ('--video', 'noise.mp4'), ('--video', 'cut.mp4'),
    ('--video', 'empty.png'), ('--video', 'noise.jpg'), ('--video', 'dot.png'), ('--video', 'cut.png')])
def test_a_bad_file(option: str, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = make(name, tmp_path)
    before = sorted(tmp_path.iterdir())
    assert cli.main(['turn', option, str(path), '--out', str(tmp_path / 'out')]) == 2
    said = capfd.readouterr()
    assert said.out == ''
    assert said.err.count('\n') == 1 and name in said.err and 'Traceback' not in said.err
    assert sorted(tmp_path.iterdir()) == before


def test_one_bad_file_beside_good_input(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / 'out'
    out.mkdir()
    (out / 'turn.json').write_text('mine')
    stamp = out.stat().st_mtime_ns
    assert cli.main(['turn', '--text', 'hello', '--audio', str(tone(tmp_path / 'a.wav')), '--video',
                     str(make('noise.mp4', tmp_path)), '--out', str(out)]) == 2
    assert 'noise.mp4' in capfd.readouterr().err
    assert (out / 'turn.json').read_text() == 'mine' and out.stat().st_mtime_ns == stamp


@pytest.mark.skipif(os.geteuid() != 0, reason='only root may mount a small disk')
def test_a_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / 'disk'
    disk.mkdir()
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', str(disk)], check=False).returncode:
        pytest.skip('this machine lets nobody mount')
    try:
        done = say(disk / 'out')
        assert (done.returncode, done.stdout, done.stderr.count('\n')) == (2, '', 1), done.stderr
        assert 'free some space' in done.stderr
        assert list(disk.iterdir()) == []
        subprocess.run(['mount', '-o', 'remount,ro', str(disk)], check=True)
        done = say(disk / 'out')
        assert (done.returncode, done.stdout, done.stderr.count('\n')) == (2, '', 1), done.stderr
    finally:
        subprocess.run(['umount', str(disk)], check=True)


def test_interrupted(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, '-m', 'emavatar_ros.cli', 'say', 'Hello there. ' * 100, '--out',
                                str(tmp_path / 'out')], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=interruptible)
    while not list(tmp_path.iterdir()):  # the temporary folder is the sign that it has begun
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, '', '')
    assert list(tmp_path.iterdir()) == []


def say(out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-m', 'emavatar_ros.cli', 'say', 'It is good to see you here today.', '--out', str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
