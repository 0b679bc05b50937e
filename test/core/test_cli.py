"""The emavatar command: quick help, one-line errors with the right exit code, nothing written on bad input."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros import __version__, avatars, cli
from emavatar_ros.commands import avatar_of
from emavatar_ros.errors import BadInput
from emavatar_ros.launching import Choices
from emavatar_ros.media.audio import Audio
from emavatar_ros.output import output_folder
from emavatar_ros.reply import write_wav

HEAVY = ('numpy', 'cv2', 'av', 'yaml', 'onnxruntime', 'faster_whisper', 'xllamacpp', 'moderngl', 'rclpy', 'sounddevice')


READER = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Config:
    pass

read, closed = [], []

class Reader:
    name = 'reader'
    resumes = True

    def warm_up(self, prefixes):
        read.extend(prefixes)

    def close(self):
        closed.append(self)

def create(config):
    return Reader()
"""
"""A language model of somebody else's."""
PLAIN = 'speech: {ros__parameters: {backend: espeak}}'
"""A voice that needs no model."""


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, '-m', 'emavatar_ros.cli', *arguments], capture_output=True, text=True,
                          timeout=60, **options)  # type: ignore[call-overload, no-any-return]


def test_help_needs_nothing_heavy() -> None:
    probe = ('import sys\nfrom emavatar_ros import cli\n'
             'try:\n    cli.main(["--help"])\nexcept SystemExit as end:\n    assert end.code == 0\n'
             f'print("HEAVY", [name for name in {HEAVY!r} if name in sys.modules])')
    done = subprocess.run([sys.executable, '-c', probe], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.endswith('HEAVY []\n')
    for name in cli.COMMANDS:
        assert f'\n    {name}' in done.stdout


@pytest.mark.parametrize('command', cli.COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([command, '--help'])
    assert end.value.code == 0
    assert f'emavatar {command}' in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(['--version'])
    assert end.value.code == 0
    assert capsys.readouterr().out == f'emavatar {__version__}\n'


@pytest.mark.parametrize('arguments', [
    [], ['fly'], ['turn'], ['turn', '--out', 'o', '--speed', '3'], ['turn', '--out'], ['say', '--out', 'o'],
    ['models'], ['models', 'steal'], ['avatar', 'sheet', 'mira'], ['bench', 'everything']])
def test_wrong_usage_is_one_line_and_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    said = capsys.readouterr()
    assert end.value.code == 2
    assert said.out == ''
    assert said.err.count('\n') == 1 and said.err.startswith('emavatar')


@pytest.mark.parametrize(('arguments', 'says'), [
    (['turn'], 'nothing to answer'),
    (['turn', '--text', ''], 'empty'),
    (['turn', '--text', ' \n\t '], 'empty'),
    (['turn', '--text', 'word ' * 401], '2,000'),
    (['turn', '--text', 'hi', '--avatar', 'nobody'], 'mira'),
    (['turn', '--text', 'hi', '--profile', 'mainframe'], 'embedded'),
    (['turn', '--text', 'hi', '--profile', 'missing.yaml'], 'missing.yaml'),
    (['turn', '--audio', 'missing.wav'], 'missing.wav'),
    (['turn', '--video', 'missing.mp4'], 'missing.mp4'),
    (['turn', '--text', 'hi', '--history', 'missing.json'], 'missing.json'),
    (['say', ''], 'empty'),
    (['say', 'x' * 2001], '2,000'),
    (['say', 'hi', '--emotion', 'bored'], 'angry'),
    (['say', 'hi', '--avatar', 'nobody'], 'mira'),
    (['demo', '--avatar', 'nobody'], 'mira'),
])
def test_bad_input_is_one_sentence_and_leaves_nothing(arguments: list[str], says: str, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main([*arguments, '--out', 'deep/out']) == 2
    said = capsys.readouterr()
    assert said.out == ''
    assert said.err.count('\n') == 1 and says in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(('given', 'who'), [
    ([], 'mira'), (['--profile', 'mine.yaml'], 'tomas'), (['--profile', 'mine.yaml', '--avatar', 'mira'], 'mira')])
@pytest.mark.parametrize('command', ['turn', 'say', 'up', 'demo'])
def test_the_avatar_is_the_one_asked_for_then_the_profiles_then_mira(
        command: str, given: list[str], who: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'mine.yaml').write_text('planner: {ros__parameters: {avatar: tomas}}')
    needed = {'turn': ['--out', 'o'], 'say': ['hello', '--out', 'o']}.get(command, [])
    args = cli.parser().parse_args([command, *needed, *given])
    assert avatar_of(args) == who
    settings = Choices(args.profile, args.avatar).settings()
    assert settings.get('planner', {}).get('avatar', 'mira') == who


@pytest.mark.parametrize('content', [
    '', '{', '{}', '[1]', '[{"role": "robot", "text": "x"}]', '[{"role": "visitor"}]',
    '[{"role": "visitor", "text": 3}]', '[{"role": "avatar", "text": "x", "emotion": "bored"}]',
    '[' * 100_000, '[{"role": "visitor", "text": "' + 'x' * 2001 + '"}]'])
def test_a_bad_history_is_refused(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = tmp_path / 'h.json'
    history.write_text(content)
    assert cli.main(['turn', '--text', 'hi', '--history', str(history), '--out', str(tmp_path / 'out')]) == 2
    said = capsys.readouterr().err
    assert said.count('\n') == 1 and 'h.json' in said
    assert not (tmp_path / 'out').exists()


def test_the_closed_pipe_of_a_reader_is_no_error() -> None:
    done = subprocess.run(f'{sys.executable} -m emavatar_ros.cli models list --json | true; echo "${{PIPESTATUS[0]}}"',
                          shell=True, executable='/bin/bash', capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ''
    assert done.stdout == '0\n'


def test_models_list_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(['models', 'list', '--profile', 'embedded', '--json']) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {'name', 'job', 'licence', 'bytes', 'profiles', 'cached'} == set(rows[0])
    assert any(row['name'] == 'kokoro' for row in rows)


def test_models_prepare_reads_every_avatar_with_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                          capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / 'spare').mkdir()
    (tmp_path / 'spare' / 'reader.py').write_text(READER)
    monkeypatch.syspath_prepend(tmp_path)
    profile = tmp_path / 'mine.yaml'
    profile.write_text('planner: {ros__parameters: {backend: spare.reader, avatar: tomas}}\n' + PLAIN)
    assert cli.main(['models', 'prepare', '--profile', str(profile)]) == 0
    reader = sys.modules['spare.reader']
    personas = [avatars.load(name).persona.split()[:8] for name in ('mira', 'mira', 'tomas', 'tomas')]  # two languages
    assert [prefix[0].content.split()[:8] for prefix in reader.read] == personas
    assert len(set(reader.read)) == 4 and len(reader.closed) == 1
    assert cli.main(['models', 'prepare', 'tomas', '--profile', str(profile)]) == 0
    assert len(reader.read) == 6 and len(reader.closed) == 2
    assert capsys.readouterr().out == ''
    assert cli.main(['models', 'prepare', 'nobody', '--profile', str(profile)]) == 2
    profile.write_text('planner: {ros__parameters: {composer: template}}\n' + PLAIN)
    assert cli.main(['models', 'prepare', '--profile', str(profile)]) == 0
    assert 'templates' in capsys.readouterr().err


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def absent(*_: object) -> int:
        raise ModuleNotFoundError("No module named 'faster_whisper'", name='faster_whisper')

    monkeypatch.setattr('emavatar_ros.commands.devices.run', absent)
    assert cli.main(['devices']) == 3
    assert "pip install 'emavatar-ros[embedded]'" in capsys.readouterr().err


def test_interrupted_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr('emavatar_ros.commands.devices.run', interrupted)
    assert cli.main(['devices']) == 130
    assert capsys.readouterr().err == ''


def test_results_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / 'a' / 'out'
    with pytest.raises(BadInput), output_folder(out) as folder:
        (folder / 'reply.wav').write_text('half')
        raise BadInput('no')
    assert not list(tmp_path.iterdir())
    with output_folder(out) as folder:
        (folder / 'reply.wav').write_text('first')
        assert not out.exists()
    assert [path.name for path in out.iterdir()] == ['reply.wav']
    assert out.stat().st_mode & 0o777 == 0o777 & ~_umask()
    (out / 'mine.txt').write_text('keep')
    with output_folder(out) as folder:
        (folder / 'reply.wav').write_text('second')
    assert (out / 'reply.wav').read_text() == 'second'
    assert (out / 'mine.txt').read_text() == 'keep'
    assert [path.name for path in out.parent.iterdir()] == ['out']


def test_a_file_is_no_output_folder(tmp_path: Path) -> None:
    (tmp_path / 'out').write_text('')
    with pytest.raises(BadInput, match='is a file'), output_folder(tmp_path / 'out'):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason='root may write anywhere')
def test_a_read_only_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / 'out').mkdir(mode=0o555)
    with pytest.raises(BadInput, match="can't be written"), output_folder(tmp_path / 'out'):
        pass


def test_a_folder_that_can_not_be_looked_at_is_one_sentence(tmp_path: Path) -> None:
    # As root too: a name that is too long can't be looked at either.
    with pytest.raises(BadInput, match="can't be written"), output_folder(tmp_path / ('x' * 300) / 'out'):
        pass


def test_what_is_forbidden_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def forbidden(*_: object) -> int:
        raise PermissionError(errno.EACCES, 'Permission denied', '/locked')

    monkeypatch.setattr('emavatar_ros.commands.devices.run', forbidden)
    assert cli.main(['devices']) == 2
    said = capsys.readouterr().err
    assert said.count('\n') == 1 and "/locked can't be used (Permission denied)" in said


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    # A limit on the size of files is the full disk that every machine can have.
    code = ('import resource, sys\nfrom pathlib import Path\nfrom emavatar_ros import cli\n'
            'from emavatar_ros.commands import avatar\n'
            'resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n'
            'def work(args):\n    from emavatar_ros.output import output_folder\n'
            f'    with output_folder(Path({str(tmp_path / "out")!r})) as folder:\n'
            '        (folder / "reply.wav").write_bytes(bytes(5000))\n    return 0\n'
            'avatar.run = work\nsys.exit(cli.main(["avatar", "list"]))')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count('\n'), done.stdout) == (2, 1, '')
    assert 'free some space' in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_reply_is_a_wav_of_16_bits(tmp_path: Path) -> None:
    from emavatar_ros.media.files import read_audio

    samples = np.linspace(-1.2, 1.2, 2400, dtype=np.float32)
    write_wav(tmp_path / 'r.wav', Audio(samples, 24_000))
    back = read_audio(tmp_path / 'r.wav')
    assert back.rate == 24_000
    np.testing.assert_allclose(back.samples, np.clip(samples, -1, 1), atol=1e-4)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
