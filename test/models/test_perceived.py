"""emavatar perceive with the real models, on a visitor of our own making."""

from __future__ import annotations

import json
import os
from pathlib import Path

import cv2
import pytest

from emavatar_ros import cli
from emavatar_ros.evaluation.visitors import Line, record
from emavatar_ros.perceive import ORDER


@pytest.fixture(scope='module')
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(Line('I lost my keys, and nobody helps me.', 'sad', 'mira'), tmp_path_factory.mktemp('v') / 'v.mp4')


def test_json_lines_and_picture_of_a_recording(visitor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                               capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(['perceive', str(visitor), '--json', '--out', 'seen.png']) == 0
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
    assert 'face: sad' in said and 'the recording has no sound' in said
    assert sorted(os.listdir()) == ['still.png', 'still.png.perceived.png']
