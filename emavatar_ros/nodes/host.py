"""One process: runs the nodes named on its command line until it is told to stop, then ends with 0.

`host NODE [NODE ...] [--wait] [--ros-args ...]`. The nodes configure and activate themselves, one after the other,
unless `--wait` leaves that to a lifecycle manager.
"""

from __future__ import annotations

import signal
import sys
import threading

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.utilities import remove_ros_args

from emavatar_ros.graph import NODES
from emavatar_ros.nodes.base import EmavatarNode


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM; 0, or 2 for a node that doesn't exist."""
    arguments = sys.argv[1:] if arguments is None else arguments
    names = [name for name in remove_ros_args(['host', *arguments])[1:] if name != '--wait']
    unknown = [name for name in names if name not in NODES]
    if unknown or not names:
        print(f'usage: host NODE [NODE ...]; nodes: {", ".join(NODES)}', file=sys.stderr)
        return 2
    rclpy.init(args=['host', *arguments])
    executor = SingleThreadedExecutor()
    nodes: list[EmavatarNode] = []
    try:
        for name in names:
            nodes.append(NODES[name].node_class())
            executor.add_node(nodes[-1])
        if '--wait' not in arguments:
            # Loading a model takes seconds; the executor answers meanwhile.
            threading.Thread(target=_autostart, args=(nodes,), daemon=True).start()
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        # A second Ctrl-C must not break the cleaning up.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        executor.shutdown(timeout_sec=1.0)
        for node in nodes:
            node.close()
        rclpy.try_shutdown()
    return 0


def _autostart(nodes: list[EmavatarNode]) -> None:
    for node in nodes:
        node.autostart()


if __name__ == '__main__':
    sys.exit(main())
