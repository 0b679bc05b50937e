"""Sound and pictures of the last utterances, for a node whose model looks and listens itself."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from sensor_msgs.msg import Image

from emavatar_ros.media.audio import Audio
from emavatar_ros.media.images import Pixels, decode
from emavatar_ros.msg import AudioChunk
from emavatar_ros.nodes.base import PICTURE_IN, RELIABLE, EmavatarNode
from emavatar_ros.nodes.convert import audio, seconds

EVERY_S = 0.5
"""Between two pictures that are kept."""
KEPT = 40
"""Pictures kept: those of the last 20 s."""


class Witness:
    """Keeps what it subscribes to: microphone's `utterance` and the camera's pictures. `heard` is called on the node's
    worker when the sound of a turn has come, which may be before its transcript or after it."""

    def __init__(self, node: EmavatarNode, heard: Any = lambda turn_id: None) -> None:
        self._lock = threading.Lock()
        self._tell = heard
        self.forget()
        node.subscribe(AudioChunk, 'utterance', self._hear, RELIABLE)
        node.subscribe(Image, 'camera/image_raw', self._see, PICTURE_IN, at_once=True)

    def forget(self) -> None:
        """The visitor has left."""
        self._sound: tuple[int, Audio | None] = (0, None)
        with self._lock:
            self._images: deque[Image] = deque(maxlen=KEPT)

    def sound(self, turn_id: int) -> Audio | None:
        """A turn's sound, once it is there."""
        return self._sound[1] if self._sound[0] == turn_id else None

    def pictures(self, start: float, end: float) -> list[Pixels]:
        """The pictures from `start` to `end` (s) and a little around, RGB uint8 [h, w, 3]."""
        with self._lock:
            seen = [image for image in self._images if start - EVERY_S <= seconds(image.header.stamp) <= end + EVERY_S]
        return [decode(image.encoding, image.data, image.width, image.height, image.step) for image in seen]

    def _see(self, image: Image) -> None:
        with self._lock:
            last = seconds(self._images[-1].header.stamp) if self._images else float('-inf')
            if not 0 <= seconds(image.header.stamp) - last < EVERY_S:
                self._images.append(image)

    def _hear(self, utterance: AudioChunk) -> None:
        self._sound = (utterance.sequence, audio(utterance))
        self._tell(utterance.sequence)
