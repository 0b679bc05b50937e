"""emavatar perceive with the real models, on a visitor of our own making."""

from __future__ import annotations

import json
import os
from pathlib import Path

import cv2
import pytest

from emavatar_ros import cli
from emavatar_ros.evaluation.visitors import Line, record
from emavatar_ros.timeline import ORDER


@pytest.fixture(scope='module')
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(Line('I lost my keys, and nobody helps me.', 'sad', 'mira'), tmp_path_factory.mktemp('v') / 'v.mp4')


def test_json_lines_and_picture_of_a_recording(visitor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                               capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(['perceive', str(visitor), '--events', '--out', 'seen.png']) == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [line['t'] for line in lines] == sorted(line['t'] for line in lines)
    assert {line['view'] for line in lines} == set(ORDER)
    spoken = {line['view']: line for line in lines if 'text' in line}
    assert set(spoken) == set(ORDER) and 'keys' in spoken['words']['text']
    assert spoken['face']['label'] == spoken['words']['label'] == spoken['arbiter']['label'] == 'sad'
    assert not spoken['voice']['abstains'] and spoken['whole']['abstains']
    assert sum(line['view'] == 'face' and 'text' not in line for line in lines) >= 2
    drawn = cv2.imread('seen.png')
    assert drawn is not None and drawn.shape[1] >= 1280
    assert os.listdir() == ['seen.png']


def test_a_still_picture_has_a_face_and_no_words(visitor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                 capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    clip = cv2.VideoCapture(str(visitor))
    assert cv2.imwrite('still.png', clip.read()[1])
    assert cli.main(['perceive', 'still.png']) == 0
    said = capfd.readouterr().out
    assert 'face: sad' in said and 'there is no sound' in said
    assert sorted(os.listdir()) == ['still.png', 'still.png.perceived.png']


def test_one_line_for_each_input(visitor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                 capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path('bad.wav').write_text('no sound')
    assert cli.main(['perceive', str(visitor), 'bad.wav', '--json']) == 2
    seen, bad = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert seen['path'] == str(visitor) and 'keys' in seen['transcript']['text']
    assert seen['transcript']['language'] == 'en' and 0.3 < seen['transcript']['confidence'] <= 1
    assert {entry['view']: entry['label'] for entry in seen['candidates'] if entry['view'] != 'voice'} == {
        'words': 'sad', 'face': 'sad'}
    assert [entry['view'] for entry in seen['missing']] == ['whole'] and set(bad) == {'path', 'error'}
    assert os.listdir() == ['bad.wav']


def test_live_from_files_in_place_of_devices(visitor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                             capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(['perceive', '--live', '--camera', str(visitor), '--microphone', str(visitor), '--events',
                     '--seconds', '30']) == 0
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    spoken = {event['view']: event for event in events if 'text' in event}
    assert 'keys' in spoken['words']['text'] and spoken['arbiter']['label'] == 'sad'
    assert [event['t'] for event in events] == sorted(event['t'] for event in events)
    assert os.listdir() == [], 'what was seen was written though nobody asked for it'
