"""One process: runs the nodes named on its command line until it is told to stop, then ends with 0.

`host NODE [NODE ...] [--settings JSON] [--wait] [--ros-args ...]`. The nodes configure and activate themselves, one
after the other, unless `--wait` leaves that to a lifecycle manager. A fault that nobody foresaw, in whatever thread,
ends the process with 1 and its traceback: whoever started it starts it again, and a dead thread never looks like a
working node.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from emavatar_ros.graph import NODES
from emavatar_ros.nodes.base import EmavatarNode
from emavatar_ros.settings import Value

CLOSE_S = float(os.environ.get('EMAVATAR_CLOSE_S', '2.5'))
"""Longest time that closing may take: a recording is completed then, which whoever starts us may wait for."""


class Host:
    """The nodes of this process and what ends it."""

    def __init__(self, names: list[str], settings: Mapping[str, Mapping[str, Value]], autostart: bool) -> None:
        self.over = threading.Event()
        self.code = 0
        threading.excepthook = self._broken
        # The signals are ours: ROS would shut its context down at once, under nodes that still publish.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.over.set())
        self.executor = SingleThreadedExecutor()
        self.nodes: list[EmavatarNode] = []
        os.nice(min(NODES[name].nice for name in names))
        for name in names:
            chosen = [Parameter(key, value=value) for key, value in settings.get(name, {}).items()]
            self.nodes.append(NODES[name].node_class(parameter_overrides=chosen))
            self.executor.add_node(self.nodes[-1])
        threading.Thread(target=self.executor.spin, name='executor', daemon=True).start()
        if autostart:
            # Loading a model takes seconds; the executor answers meanwhile.
            threading.Thread(target=self._autostart, name='autostart', daemon=True).start()

    def run(self) -> int:
        """Until it is over; then everything is closed, in a bounded time."""
        while not self.over.wait(1.0):
            pass
        closing = threading.Thread(target=self._close, name='closing', daemon=True)
        closing.start()
        closing.join(CLOSE_S)
        return self.code

    def _autostart(self) -> None:
        for node in self.nodes:
            if not self.over.is_set():
                node.autostart()
                if node.fault is not None:
                    raise node.fault

    def _close(self) -> None:
        for node in self.nodes:
            node.close()
        self.executor.shutdown(timeout_sec=0.5)
        rclpy.try_shutdown()

    def _broken(self, what: threading.ExceptHookArgs) -> None:
        # While closing, a thread may meet a node that is gone already; that is no fault.
        if not self.over.is_set():
            traceback.print_exception(what.exc_type, what.exc_value, what.exc_traceback)
            self.code = 1
            self.over.set()


def parser() -> argparse.ArgumentParser:
    """What the command line may hold beside what is for ROS."""
    options = argparse.ArgumentParser('host', description='Run nodes of the graph in this process.')
    options.add_argument('names', nargs='+', choices=list(NODES), metavar='NODE', help=', '.join(NODES))
    options.add_argument('--settings', type=json.loads, default={}, metavar='JSON',
                         help='the nodes\' settings as {"NODE": {"NAME": VALUE}}; they win over --ros-args')
    options.add_argument('--wait', action='store_true', help='leave configure and activate to a lifecycle manager')
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM; 2 for a node that doesn't exist."""
    arguments = sys.argv[1:] if arguments is None else arguments
    args = parser().parse_args(remove_ros_args(['host', *arguments])[1:])
    rclpy.init(args=['host', *arguments], signal_handler_options=SignalHandlerOptions.NO)
    code = Host(args.names, args.settings, not args.wait).run()
    sys.stdout.flush()
    sys.stderr.flush()
    # A model that is still loading in a thread of its own would hold the interpreter up for seconds.
    os._exit(code)


if __name__ == '__main__':
    sys.exit(main())
