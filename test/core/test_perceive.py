"""Many inputs, a line each: in order, a bad one costs only its own, and nothing is carried to the next visitor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from emavatar_ros.cli import main
from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import VIEWS
from emavatar_ros.errors import BadInput
from emavatar_ros.loading import Loading, Stopwatch
from emavatar_ros.perception import whole
from emavatar_ros.rooms import Rooms
from emavatar_ros.textfile import read_lines


class View:
    """A view that says sad to everything, and counts whose it has seen."""

    def __init__(self) -> None:
        self.people = 1
        self.read_with: list[tuple[str, str, int]] = []

    def read(self, text: str, language: str, history: tuple[Any, ...]) -> Candidate:
        self.read_with.append((text, language, len(history)))
        return Candidate.of('words', 'script', Distribution.from_mapping({'sad': 1.0}), 'tears')

    def see(self, pixels: np.ndarray, stamp: float) -> None:
        pass

    def candidate(self, start: float, end: float) -> Candidate:
        return Candidate.of('face', 'script', Distribution.from_mapping({'sad': 1.0}), f'visitor {self.people}')

    def forget(self) -> None:
        self.people += 1


class Script:
    """Rooms of one view for all."""

    def __init__(self) -> None:
        self.view = View()

    def __getattr__(self, name: str) -> Any:
        if name == 'whole':
            return whole.create
        if name in ('words', 'face_view'):
            return lambda: self.view
        raise AssertionError(f'nothing needs {name}')


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> Script:
    made = Script()
    for name in ('words', 'face_view', 'whole'):
        monkeypatch.setattr(Rooms, name, lambda self, name=name: getattr(made, name)())
    return made


def test_texts_in_order_with_their_history(rooms: Script, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = ['I lost my keys.', '', '{"text": "No.", "history": [{"role": "avatar", "text": "Did you win?"}]}',
             '{"text": "Ich bin müde.", "language": "de"}', '{"history": []}', 'x' * 2001, '{not json', ' ... ',
             '{"text": "a", "history": [{"role": "cat", "text": "b"}]}']
    file = tmp_path / 'texts.txt'
    file.write_bytes(b'\xef\xbb\xbf' + '\r\n'.join(lines).encode() + b'\n')
    assert main(['perceive', '--texts', str(file), '--json']) == 2
    said = capfd.readouterr()
    entries = [json.loads(line) for line in said.out.splitlines()]
    assert [entry['text'] for entry in entries] == ['I lost my keys.', '', 'No.', 'Ich bin müde.', '{"history": []}',
                                                    'x' * 2001, '{not json', '...', lines[8]]
    assert ['error' in entry for entry in entries] == [False] * 4 + [True] * 3 + [False] + [True]
    assert rooms.view.read_with == [('I lost my keys.', 'en', 0), ('No.', 'en', 1), ('Ich bin müde.', 'de', 0),
                                    ('...', 'en', 0)]
    for entry in entries:
        if 'error' not in entry:
            views = [item['view'] for item in entry['candidates'] + entry['missing']]
            assert sorted(views) == sorted(VIEWS) and set(entry) == {'text', 'transcript', 'candidates', 'missing'}
            assert all(item['reason'] for item in entry['missing'])
    assert said.err.count('\n') == 1 and '4 of the inputs' in said.err


@pytest.mark.parametrize('same', [False, True])
def test_each_file_is_a_visitor_of_its_own(rooms: Script, same: bool, tmp_path: Path,
                                           capfd: pytest.CaptureFixture[str]) -> None:
    names = [str(tmp_path / name) for name in ('a.png', 'none.png', 'b.png')]
    for name in (names[0], names[2]):
        assert cv2.imwrite(name, np.zeros((64, 64, 3), np.uint8))
    assert main(['perceive', *names, '--json', *(['--same-visitor'] if same else [])]) == 2
    entries = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [entry['path'] for entry in entries] == names
    assert set(entries[1]) == {'path', 'error'} and 'does not exist' in entries[1]['error']
    shown = [entry['candidates'][0]['evidence'] for entry in (entries[0], entries[2])]
    assert shown == ['visitor 1', 'visitor 1' if same else 'visitor 3']
    assert entries[0]['transcript'] == {'text': '', 'language': 'und', 'confidence': 0.0}


@pytest.mark.parametrize('arguments', [[], ['a.png', '--live'], ['a.png', '--texts', 'b'], ['--live', '--json'],
                                       ['--texts', 'b', '--out', 'c.png'], ['a.png', 'b.png', '--out', 'c.png'],
                                       ['a.png', '--json', '--events'], ['--live', '--seconds', '-1'],
                                       ['--live', '--camera', 'none', '--microphone', 'none'], ['--texts', 'none.txt']])
def test_what_does_not_go_together_is_refused(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                              capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(['perceive', *arguments]) == 2
    said = capfd.readouterr()
    assert said.out == '' and said.err.count('\n') == 1 and 'Traceback' not in said.err


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / 'latin.txt'
    file.write_bytes('müde'.encode('latin-1'))
    with pytest.raises(BadInput, match='UTF-8'):
        read_lines(file)
    file.write_bytes(b'')
    assert read_lines(file) == []


def test_a_stopwatch_leaves_out_what_was_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Stopwatch(Loading())
    clock = iter([0.0, 5.0, 10.0, 12.0])
    monkeypatch.setattr('emavatar_ros.loading.time.perf_counter', lambda: next(clock))
    with watch('perception'):
        watch.loading.waited += 4.0
    with watch('perception'):
        pass
    assert watch.seconds == {'perception': 3.0}
