"""Publishes what the microphone hears on microphone/audio, stamped when the first sample was captured."""

from __future__ import annotations

import threading
import time

from emavatar_ros.errors import EmavatarError
from emavatar_ros.media.microphone import Microphone, MicrophoneConfig
from emavatar_ros.msg import AudioChunk
from emavatar_ros.nodes.base import SOUND, EmavatarNode
from emavatar_ros.nodes.convert import audio_chunk


class MicrophoneNode(EmavatarNode):
    """microphone -> microphone/audio."""

    name = 'microphone'
    Config = MicrophoneConfig

    def configure(self) -> None:
        self.publish = self.publisher(AudioChunk, 'microphone/audio', SOUND)
        self.microphone = Microphone(self.config)

    def activate(self) -> None:
        self.thread = threading.Thread(target=self._capture, daemon=True)
        self.thread.start()
        self.watch = self.create_timer(1.0, self._report)

    def deactivate(self) -> None:
        self.destroy_timer(self.watch)
        self.thread.join(2.0)

    def _capture(self) -> None:
        sequence = 0
        try:
            for samples, rate, captured in self.microphone.chunks(lambda: not self.active):
                # The same moment on this node's clock, which may be a simulated one.
                begin = self.now() - (time.time() - captured)
                self.publish(audio_chunk(samples, rate, begin, sequence, self.config.frame_id))
                sequence += 1
        except EmavatarError as error:
            self.microphone.problem = str(error)

    def _report(self) -> None:
        if self.microphone.problem and self.microphone.problem != self.problem:
            self.get_logger().warning(self.microphone.problem)
        self.problem = self.microphone.problem
        self.facts['device'] = self.microphone.device
        self.counts['lost'] = self.microphone.lost
