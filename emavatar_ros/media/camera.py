"""Pictures from a camera, a file or a URL, through OpenCV (devices, URLs) or the media reader (files).

A device that vanishes is reported and taken up again when it returns. A file plays at its own pace, with its rotation
flag and its own time stamps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import Missing
from emavatar_ros.media.files import open_video
from emavatar_ros.media.pace import wait_until
from emavatar_ros.settings import setting

RETRY_S = 2.0
"""How long to wait before a lost device is looked for again."""


@dataclass(frozen=True)
class CameraConfig:
    """What to look with."""

    source: str = setting('', 'camera: empty for the first device, an index, a device path, part of its name, '
                              'a video file, a URL, or none')
    width: int = setting(640, 'picture width asked of a device', unit='px', low=64, high=7680)
    height: int = setting(480, 'picture height asked of a device', unit='px', low=64, high=4320)
    images_per_s: float = setting(15.0, 'highest image rate published', unit='1/s', low=0.1, high=120.0)
    loop: bool = setting(False, 'play a file again from its start when it ends')
    frame_id: str = setting('camera', 'frame_id of the pictures')


class Camera:
    """`images(stopped)` yields RGB pictures, uint8 [h, w, 3], as they are captured, until `stopped()` is true.

    `problem` says in one sentence what is wrong at the moment, '' when nothing is; `device` names what is open.
    """

    def __init__(self, config: CameraConfig) -> None:
        self.config = config
        self.problem = ''
        self.device = ''

    def images(self, stopped: Callable[[], bool]) -> Iterator[NDArray[np.uint8]]:
        """Pictures in real time; raises BadInput for a file that can't be read."""
        source = self.config.source
        if source == 'none':
            return
        if source and '://' not in source and Path(source).is_file():
            yield from self._file(Path(source), stopped)
        else:
            yield from self._device(stopped)

    def _file(self, path: Path, stopped: Callable[[], bool]) -> Iterator[NDArray[np.uint8]]:
        self.device = path.name
        while not stopped():
            start = time.monotonic()
            due = 0.0
            for image in open_video(path).images():
                if image.stamp < due:
                    continue
                due = image.stamp + 0.9 / self.config.images_per_s
                if not wait_until(start + image.stamp, stopped):
                    return
                yield image.pixels
            # The last picture has its time too, the only one of a still picture above all.
            if not self.config.loop or not wait_until(start + due, stopped):
                return

    def _device(self, stopped: Callable[[], bool]) -> Iterator[NDArray[np.uint8]]:
        while not stopped():
            try:
                capture = self._open()
            except Missing as error:
                self.problem, self.device = str(error), ''
                wait_until(time.monotonic() + RETRY_S, stopped)
                continue
            self.problem = ''
            try:
                yield from self._capture(capture, stopped)
            finally:
                capture.release()

    def _capture(self, capture: Any, stopped: Callable[[], bool]) -> Iterator[NDArray[np.uint8]]:
        due = 0.0
        while not stopped():
            if not capture.grab():
                self.problem = f'the camera {self.device} stopped delivering pictures'
                return
            if time.monotonic() < due:
                continue
            due = time.monotonic() + 0.9 / self.config.images_per_s
            good, image = capture.retrieve()
            if good:
                yield np.ascontiguousarray(image[:, :, ::-1])

    def _open(self) -> Any:
        from emavatar_ros.devices import find_camera

        source = self.config.source
        target: int | str = source if '://' in source else find_camera(source).index
        capture = cv2.VideoCapture(target)
        if not capture.isOpened():
            capture.release()
            raise Missing(f'the camera {source or target!r} does not open: is it plugged in, and free? '
                          'See `emavatar devices`')
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, self.config.width)
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, self.config.height)
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        self.device = str(target)
        return capture

