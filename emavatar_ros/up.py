"""`emavatar up`: the graph without `ros2 launch`: starts the processes, restarts what dies, stops all on one Ctrl-C."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from types import FrameType

from emavatar_ros.errors import BadInput
from emavatar_ros.graph import NODES
from emavatar_ros.launching import Choices, Process, environment, processes

GRACE_S = 3.0
"""How long a process may take to stop before it is killed."""
RECORDING_S = 30.0
"""How long the stage may take to finish its recording: what waits to be encoded must not be lost."""
NAMESPACE = re.compile(r'[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')
STEADY_S = 30.0
"""A process that ran this long has recovered: its next restart is quick again."""
LONGEST_PAUSE_S = 30.0
LIBC = ctypes.CDLL(None) if sys.platform == 'linux' else None
PR_SET_PDEATHSIG = 1


def _begin() -> None:
    """In the new process, before it becomes a node: a group of its own, and an end with us whatever ends us."""
    os.setpgrp()
    if LIBC is not None:
        LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGINT))
    # A shell's background job has it ignored, and so would its children: nothing could end them gently.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Child:
    """One process of the graph: restarted with a growing pause when it dies."""

    def __init__(self, process: Process, extra: list[str], recording: bool = False) -> None:
        self.process = process
        # The process is told how long its closing may take, and gets a little more.
        self.closing = {'EMAVATAR_CLOSE_S': f'{RECORDING_S:g}'} if recording else {}
        self.grace = RECORDING_S + 1 if recording else GRACE_S
        self.command = [sys.executable, '-m', 'emavatar_ros.nodes.host', *process.arguments,
                        '--ros-args', *extra]
        self.running: subprocess.Popen[bytes] | None = None
        self.began = 0.0
        self.pause = 1.0
        self.due = 0.0
        self.restarts = -1

    @property
    def title(self) -> str:
        """The nodes it runs."""
        return '+'.join(self.process.names)

    def start(self, now: float) -> None:
        """Start it, in a process group of its own: a Ctrl-C reaches it only through us. Not in a session of its own:
        Linux shares the processor fairly between sessions, and the nodes' niceness would mean nothing."""
        # Python of one environment starting another's must not hand on the ROS wheels' own mark.
        env = {name: value for name, value in os.environ.items() if name != '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
        self.running = subprocess.Popen(self.command, env={**env, **environment(), **self.closing}, preexec_fn=_begin,
                                        stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno())
        self.began = now
        self.restarts += 1

    def watch(self, now: float) -> None:
        """Notice that it died, and start it again when its pause is over."""
        if self.running is not None and (code := self.running.poll()) is not None:
            self.running = None
            self.pause = 1.0 if now - self.began > STEADY_S else min(self.pause * 2, LONGEST_PAUSE_S)
            self.due = now + self.pause
            print(f'{self.title} ended with {code}; starting it again in {self.pause:.0f} s', file=sys.stderr)
        if self.running is None and now >= self.due:
            self.start(now)

    def stop(self) -> None:
        """Ask it to end."""
        if self.running is not None and self.running.poll() is None:
            # Not SIGINT: one that is still importing would print a traceback.
            self.running.send_signal(signal.SIGTERM)

    def finish(self, asked: float) -> None:
        """Wait for it to end; kill it when its time since `asked` (monotonic s) is over."""
        if self.running is None:
            return
        try:
            self.running.wait(max(0.0, asked + self.grace - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()


class Graph:
    """The running graph as a context manager: starts on entry, watches in the background, stops on exit."""

    def __init__(self, choices: Choices, only: Collection[str] = NODES, composed: bool = False,
                 namespace: str = '', log_level: str = 'info') -> None:
        if namespace.strip('/') and not NAMESPACE.fullmatch(namespace.strip('/')):
            raise BadInput(f'{namespace!r} is no ROS namespace: use letters, digits and _, no digit first, '
                           '/ between parts')
        recording = bool(choices.settings().get('stage', {}).get('record'))
        extra = ['--log-level', log_level] + (['-r', f'__ns:=/{namespace.strip("/")}'] if namespace else [])
        self.children = [Child(process, extra, recording and 'stage' in process.names)
                         for process in processes(choices, only, composed)]
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Graph:
        for child in self.children:
            child.start(time.monotonic())
        self._watcher.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._watcher.join()
        for child in self.children:
            child.stop()
        asked = time.monotonic()
        for child in self.children:
            child.finish(asked)

    @property
    def pids(self) -> list[int]:
        """The processes running now."""
        return [child.running.pid for child in self.children if child.running is not None]

    @property
    def restarts(self) -> int:
        """How often a process had to be started again."""
        return sum(child.restarts for child in self.children)

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            for child in self.children:
                child.watch(time.monotonic())


def run(choices: Choices, only: Collection[str] = NODES, composed: bool = False, namespace: str = '',
        log_level: str = 'info') -> int:
    """Keep the graph up until SIGINT, SIGTERM or SIGHUP (its terminal is gone); then stop all of it and return 0."""
    over = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        over.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup has it ignored
            signal.signal(number, stop)
    with Graph(choices, only, composed, namespace, log_level):
        while not over.wait(1.0):
            pass
    return 0
