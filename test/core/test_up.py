"""Starting and stopping the graph's processes; sleeping processes stand in for the nodes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
from pathlib import Path
from emavatar_ros import up
from emavatar_ros.launching import Process
class Sleeper(up.Child):
    def __init__(self, *_, **__):
        super().__init__(Process(('face',), Path('none.yaml')), [])
        self.command = [sys.executable, '-S', '-c', 'print("began", flush=True); import time; time.sleep(60)']
up.processes = lambda *_: [None]
up.Child = Sleeper
sys.exit(up.run(None))
"""


@pytest.mark.skipif(sys.platform != 'linux', reason='only Linux tells a process that its parent died')
@pytest.mark.parametrize(('number', 'code'), [(signal.SIGHUP, 0), (signal.SIGTERM, 0), (signal.SIGKILL, -9)])
def test_no_child_outlives_us(number: signal.Signals, code: int, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, '-c', CODE], stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stderr is not None
    assert process.stderr.readline() == 'began\n'
    process.send_signal(number)
    # The child holds the pipe's other end: it is closed, and this returns, only when both have ended.
    process.communicate(timeout=20)
    assert process.returncode == code
