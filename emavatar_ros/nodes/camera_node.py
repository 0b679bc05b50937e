"""Publishes what the camera sees on camera/image_raw, rgb8, stamped when it was captured."""

from __future__ import annotations

import threading
from array import array

from sensor_msgs.msg import Image

from emavatar_ros.errors import EmavatarError
from emavatar_ros.media.camera import Camera, CameraConfig
from emavatar_ros.nodes.base import PICTURE, EmavatarNode
from emavatar_ros.nodes.convert import stamp


class CameraNode(EmavatarNode):
    """camera -> camera/image_raw."""

    name = 'camera'
    Config = CameraConfig

    def configure(self) -> None:
        self.publish = self.publisher(Image, 'camera/image_raw', PICTURE)
        self.camera = Camera(self.config)

    def activate(self) -> None:
        self.thread = threading.Thread(target=self._capture, daemon=True)
        self.thread.start()
        self.watch = self.create_timer(1.0, self._report)

    def deactivate(self) -> None:
        self.destroy_timer(self.watch)
        self.thread.join(2.0)

    def _capture(self) -> None:
        try:
            for pixels in self.camera.images(lambda: not self.active):
                height, width = pixels.shape[:2]
                message = Image(height=height, width=width, encoding='rgb8', step=3 * width)
                message.header.stamp = stamp(self.now())
                message.header.frame_id = self.config.frame_id
                message.data = array('B', pixels.tobytes())
                self.publish(message)
                self.counts['images'] += 1
        except EmavatarError as error:
            self.camera.problem = str(error)

    def _report(self) -> None:
        if self.camera.problem and self.camera.problem != self.problem:
            self.get_logger().warning(self.camera.problem)
        self.problem = self.camera.problem
        self.facts['device'] = self.camera.device
