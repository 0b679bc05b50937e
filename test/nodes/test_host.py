"""A graph's processes get their settings, in any namespace, and nothing is left when they have ended."""

from __future__ import annotations

import tempfile

import pytest
from rcl_interfaces.srv import GetParameters

from emavatar_ros.launching import Choices
from emavatar_ros.nodes import host
from emavatar_ros.up import Graph


@pytest.mark.parametrize('namespace', ['', 'lobby/left'])
def test_settings_reach_the_node_and_leave_no_file(ros, namespace, tmp_path, monkeypatch):
    (tmp_path / 'tmp').mkdir()
    monkeypatch.setenv('TMPDIR', str(tmp_path / 'tmp'))
    monkeypatch.setattr(tempfile, 'tempdir', None)
    profile = tmp_path / 'mine.yaml'
    profile.write_text('microphone: {ros__parameters: {chunk: 0.032, loop: true, frame_id: "1"}}')
    # A node of another process has a setting of the same name.
    choices = Choices(str(profile), microphone='none', camera='elsewhere')
    node = '/'.join(('', *filter(None, (namespace,)), 'microphone'))
    with Graph(choices, ['microphone'], namespace=namespace) as graph:
        asked = GetParameters.Request(names=['source', 'chunk', 'loop', 'frame_id'])
        source, chunk, loop, frame = ros.call(GetParameters, f'{node}/get_parameters', asked).values
    assert (source.string_value, chunk.double_value, loop.bool_value, frame.string_value) == ('none', 0.032, True, '1')
    assert graph.children[0].running.returncode == 0
    assert not list((tmp_path / 'tmp').iterdir())


@pytest.mark.parametrize('arguments', [[], ['nobody'], ['face', '--settings', '{'], ['face', '--loud']])
def test_a_wrong_command_line_is_told(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        host.main(arguments)
    assert ended.value.code == 2 and 'usage: host' in capsys.readouterr().err
