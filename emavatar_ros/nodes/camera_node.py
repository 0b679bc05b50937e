"""Publishes what the camera sees on camera/image_raw, rgb8, stamped when it was captured."""

from __future__ import annotations

from array import array
from collections.abc import Callable

from sensor_msgs.msg import Image

from emavatar_ros.media.camera import Camera, CameraConfig
from emavatar_ros.nodes.base import PICTURE
from emavatar_ros.nodes.capturing import CapturingNode
from emavatar_ros.nodes.convert import stamp


class CameraNode(CapturingNode):
    """camera -> camera/image_raw."""

    name = 'camera'
    Config = CameraConfig

    def configure(self) -> None:
        self.publish = self.publisher(Image, 'camera/image_raw', PICTURE)
        self.source = Camera(self.config)

    def capture(self, stopped: Callable[[], bool]) -> None:
        for pixels in self.source.images(stopped):
            height, width = pixels.shape[:2]
            message = Image(height=height, width=width, encoding='rgb8', step=3 * width)
            message.header.stamp = stamp(self.now())
            message.header.frame_id = self.config.frame_id
            message.data = array('B', pixels.tobytes())
            self.publish(message)
            self.counts['images'] += 1
