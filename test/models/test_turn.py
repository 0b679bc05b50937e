"""emavatar turn and say with the real models: results follow the schema, agree with each other, and make sense."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import cv2
import jsonschema
import numpy as np
import pytest

from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import open_video, read_audio
from emavatar_ros.reply import write_wav
from emavatar_ros.turn_record import schema

QUICK = '/**/planner:\n  ros__parameters:\n    composer: template\n'
"""A profile that needs no language model."""


def emavatar(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, '-m', 'emavatar_ros.cli', *map(str, arguments)], capture_output=True,
                          text=True, timeout=280, check=False)


def results(out: Path) -> dict[str, Any]:
    """turn.json, after checking it against the schema and against the files it names."""
    assert sorted(path.name for path in out.iterdir()) == ['reply.mp4', 'reply.wav', 'turn.json']
    content: dict[str, Any] = json.loads((out / 'turn.json').read_text(encoding='utf-8'))
    jsonschema.validate(content, schema())
    for entry in [content['emotion'], *content['candidates']]:
        assert sum(entry['distribution'].values()) == pytest.approx(1, abs=1e-3)
    assert {c['view'] for c in content['candidates']} | {m['view'] for m in content['missing']} \
        == {'words', 'voice', 'face', 'whole'}
    check_reply(out, content)
    assert content['script']['text'] == ' '.join(beat['text'] for beat in content['script']['beats'])
    timings = content['timings']
    assert 0 < timings['first_audio'] <= timings['total']
    return content


def check_reply(out: Path, content: dict[str, Any]) -> None:
    speech, face = content['speech'], content['face']
    sound = read_audio(out / speech['file'])
    assert sound.rate == speech['sample_rate']
    assert sound.seconds == pytest.approx(speech['seconds'], abs=1e-3)
    assert np.abs(sound.samples).max() > 0.05
    starts = [phoneme['start'] for phoneme in speech['phonemes']]
    assert len(starts) > 5 and starts == sorted(starts)
    assert all(p['start'] + p['duration'] <= speech['seconds'] + 1e-3 for p in speech['phonemes'])
    movie = open_video(out / face['file'])
    assert (movie.width, movie.height, movie.count) == (face['width'], face['height'], face['images'])
    assert movie.fps == pytest.approx(face['fps'], rel=0.02)
    assert movie.seconds == pytest.approx(speech['seconds'] + 0.4, abs=0.2)
    assert read_audio(out / face['file']).seconds == pytest.approx(speech['seconds'], abs=0.15)


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    profile = tmp_path / 'quick.yaml'
    profile.write_text(QUICK)
    return profile


def spoken(text: str, path: Path) -> Path:
    """A visitor's recording: espeak-ng, with a little of the room before and after."""
    subprocess.run(['espeak-ng', '-v', 'en-us', '-s', '150', '-w', str(path), text], check=True)
    sound = read_audio(path)
    room = np.random.default_rng(0).normal(0, 1e-3, sound.rate // 2).astype(np.float32)
    write_wav(path, Audio(np.concatenate([room, sound.samples, room]), sound.rate))
    return path


def portrait(path: Path, expression: str) -> Path:
    """A still picture of one of the project's own faces."""
    from emavatar_ros import avatars
    from emavatar_ros.face.expression import expression as shown
    from emavatar_ros.face.renderer import Renderer
    from emavatar_ros.face.units import FaceState

    with Renderer(avatars.load('tomas'), 480, 480) as renderer:
        renderer.draw(FaceState(shown(expression)))
        assert cv2.imwrite(str(path), renderer.read()[..., ::-1])
    return path


def test_a_voice_and_a_picture_are_answered(tmp_path: Path) -> None:
    audio = spoken('My best friend has moved away and I am very sad about it.', tmp_path / 'a.wav')
    video = portrait(tmp_path / 'v.png', 'happy')
    out = tmp_path / 'out'
    done = emavatar('turn', '--audio', audio, '--video', video, '--out', out, '--json')
    assert done.returncode == 0, done.stderr
    content = results(out)
    assert json.loads(done.stdout) == content
    assert 'sad' in content['transcript']['text'].lower()
    assert content['transcript']['language'] == 'en'
    views = {candidate['view']: candidate for candidate in content['candidates']}
    assert views['words']['label'] == 'sad'
    assert views['face']['label'] == 'happy'
    assert content['emotion']['conflict']
    assert [entry['view'] for entry in content['missing']] == ['whole']
    assert {'listening', 'words', 'face', 'reply', 'speech', 'renderer'} <= set(content['models'])
    assert sorted(path.name for path in tmp_path.iterdir()) == ['a.wav', 'out', 'v.png']


def test_a_text_with_a_history_is_answered(tmp_path: Path, quick: Path) -> None:
    history = tmp_path / 'h.json'
    history.write_text(json.dumps([{'role': 'visitor', 'text': 'My exam is today.', 'emotion': 'fear'},
                                   {'role': 'avatar', 'text': 'You prepared well.'}]))
    done = emavatar('turn', '--text', 'I passed, I am so happy!', '--history', history, '--avatar', 'tomas',
                    '--profile', quick, '--out', tmp_path / 'out')
    assert done.returncode == 0, done.stderr
    assert done.stdout == ''
    content = results(tmp_path / 'out')
    assert content['transcript'] == {'text': 'I passed, I am so happy!', 'language': 'en', 'confidence': 1.0}
    assert content['emotion']['label'] == 'happy'
    assert content['script']['composer'] == content['models']['reply'] == 'template'


def test_silence_is_no_error(tmp_path: Path, quick: Path) -> None:
    write_wav(tmp_path / 'a.wav', Audio(np.zeros(16_000, np.float32), 8000))
    done = emavatar('turn', '--audio', tmp_path / 'a.wav', '--profile', quick, '--out', tmp_path / 'out')
    assert done.returncode == 0, done.stderr
    content = results(tmp_path / 'out')
    assert content['transcript']['text'] == ''
    assert content['emotion']['label'] == 'unsure'
    assert content['candidates'] == []


def test_say(tmp_path: Path) -> None:
    out = tmp_path / 'said'
    done = emavatar('say', 'Welcome to our museum. It is good to see you!', '--instruction', 'brightly', '--emotion',
                    'happy', '--out', out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ''
    assert sorted(path.name for path in out.iterdir()) == ['reply.mp4', 'reply.wav', 'say.json']
    check_reply(out, json.loads((out / 'say.json').read_text()))
