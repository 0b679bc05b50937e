"""What the camera's and the microphone's node share: a thread that captures while the node is active, and a look at the
device once a second."""

from __future__ import annotations

import threading
from collections.abc import Callable

from emavatar_ros.errors import EmavatarError
from emavatar_ros.media.camera import Camera
from emavatar_ros.media.microphone import Microphone
from emavatar_ros.nodes.base import EmavatarNode


class CapturingNode(EmavatarNode):
    """Subclasses make `source` in `configure` and give `capture`."""

    source: Camera | Microphone
    period = 1.0

    def capture(self, stopped: Callable[[], bool]) -> None:
        """Publish what the source gives until `stopped()`. Called on a thread of its own."""

    def activate(self) -> None:
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._capture, args=(self._stopped,), name='capture', daemon=True)
        self._thread.start()

    def deactivate(self) -> None:
        self._stopped.set()
        self._thread.join(2.0)

    def step(self) -> None:
        """Tell what the device is, and what is wrong with it."""
        if self.source.problem and self.source.problem != self.problem:
            self.get_logger().warning(self.source.problem)
        self.problem = self.source.problem
        self.facts['device'] = self.source.device

    def _capture(self, stopped: threading.Event) -> None:
        try:
            self.capture(stopped.is_set)
        except EmavatarError as error:
            self.source.problem = str(error)
