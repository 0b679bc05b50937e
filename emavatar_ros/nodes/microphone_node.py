"""Publishes what the microphone hears on microphone/audio, stamped when the first sample was captured."""

from __future__ import annotations

import time
from collections.abc import Callable

from emavatar_ros.media.microphone import Microphone, MicrophoneConfig
from emavatar_ros.msg import AudioChunk
from emavatar_ros.nodes.base import SOUND
from emavatar_ros.nodes.capturing import CapturingNode
from emavatar_ros.nodes.convert import audio_chunk


class MicrophoneNode(CapturingNode):
    """microphone -> microphone/audio."""

    name = 'microphone'
    Config = MicrophoneConfig

    def configure(self) -> None:
        self.publish = self.publisher(AudioChunk, 'microphone/audio', SOUND)
        self.source = Microphone(self.config)

    def capture(self, stopped: Callable[[], bool]) -> None:
        for sequence, (samples, rate, captured) in enumerate(self.source.chunks(stopped)):
            # The same moment on this node's clock, which may be a simulated one.
            begin = self.now() - (time.time() - captured)
            self.publish(audio_chunk(samples, rate, begin, sequence, self.config.frame_id))

    def step(self) -> None:
        super().step()
        self.counts['lost'] = self.source.lost
