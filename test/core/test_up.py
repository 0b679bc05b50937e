"""Starting and stopping the graph's processes; sleeping processes stand in for the nodes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from emavatar_ros import up
from emavatar_ros.errors import BadInput
from emavatar_ros.launching import Choices

CODE = """
import sys
from emavatar_ros import up
from emavatar_ros.launching import Choices, Process
class Sleeper(up.Child):
    def __init__(self, *_, **__):
        super().__init__(Process(('face',)), [])
        self.command = [sys.executable, '-S', '-c', 'print("began", flush=True); import time; time.sleep(60)']
up.processes = lambda *_: [None]
up.Child = Sleeper
sys.exit(up.run(Choices()))
"""


@pytest.mark.skipif(sys.platform != 'linux', reason='only Linux tells a process that its parent died')
@pytest.mark.parametrize(('number', 'code'), [(signal.SIGHUP, 0), (signal.SIGTERM, 0), (signal.SIGKILL, -9)])
def test_no_child_outlives_us(number: signal.Signals, code: int, tmp_path: Path) -> None:
    def begin() -> None:
        # As a shell's background job has it, but for the signal that is to come (nohup would have that ignored too).
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)

    process = subprocess.Popen([sys.executable, '-c', CODE], stderr=subprocess.PIPE, text=True, cwd=tmp_path,
                               preexec_fn=begin)
    assert process.stderr is not None
    assert process.stderr.readline() == 'began\n'
    process.send_signal(number)
    # The child holds the pipe's other end: it is closed, and this returns, only when both have ended.
    process.communicate(timeout=20)
    assert process.returncode == code


def children(graph: up.Graph) -> dict[str, up.Child]:
    return {name: child for child in graph.children for name in child.process.names}


@pytest.mark.parametrize('composed', [False, True])
def test_a_recording_gets_time_to_be_finished(composed: bool) -> None:
    plain = children(up.Graph(Choices(), composed=composed))['stage']
    assert (plain.grace, plain.closing) == (up.GRACE_S, {})
    recording = children(up.Graph(Choices(record='reply.mp4'), composed=composed))
    assert float(recording['stage'].closing['EMAVATAR_CLOSE_S']) < recording['stage'].grace
    assert composed or recording['face'].grace == up.GRACE_S


@pytest.mark.parametrize('namespace', ['', '/', 'lobby', '/lobby/left_1/'])
def test_a_namespace_of_ros_is_taken(namespace: str) -> None:
    assert children(up.Graph(Choices(), ['face'], namespace=namespace))


@pytest.mark.parametrize('namespace', ['two words', '1st', 'a//b', 'a/2', 'lob-by', 'é', '~'])
def test_any_other_namespace_is_refused(namespace: str) -> None:
    with pytest.raises(BadInput, match='namespace'):
        up.Graph(Choices(), ['face'], namespace=namespace)
