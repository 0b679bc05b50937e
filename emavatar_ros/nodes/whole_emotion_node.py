"""What words, voice and face show together, where a server has a model that takes all three: utterance, transcript,
camera/image_raw -> candidates.

Without a server it abstains at once, so that nobody waits, and looks at nothing.
"""

from __future__ import annotations

import threading
from collections import deque

from sensor_msgs.msg import Image

from emavatar_ros.history import Conversation, Line
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.images import decode
from emavatar_ros.msg import AudioChunk, CompositeScript, EmotionCandidate, Transcript
from emavatar_ros.nodes.base import PICTURE_IN, RELIABLE, EmavatarNode
from emavatar_ros.nodes.convert import audio, candidate_message, seconds
from emavatar_ros.perception.whole import Config, create
from emavatar_ros.planning.acknowledging import SUFFIX

EVERY_S = 0.5
"""Between two pictures that are kept."""
KEPT = 40
"""Pictures kept: those of the last 20 s."""


class WholeEmotionNode(EmavatarNode):
    """utterance, transcript, camera/image_raw, script -> candidates."""

    name = 'whole_emotion'
    Config = Config

    def configure(self) -> None:
        self.view = create(self.config)
        self.history = Conversation()
        self.lock = threading.Lock()
        self.forget()
        self.publish = self.publisher(EmotionCandidate, 'candidates', RELIABLE)
        self.subscribe(Transcript, 'transcript', self._said, RELIABLE)
        if self.view.wanted:
            self.subscribe(AudioChunk, 'utterance', self._heard, RELIABLE)
            self.subscribe(Image, 'camera/image_raw', self._see, PICTURE_IN, at_once=True)
            self.subscribe(CompositeScript, 'script', self._answered, RELIABLE)

    def forget(self) -> None:
        self.history.forget()
        self.sound: tuple[int, Audio | None] = (0, None)
        self.waiting: Transcript | None = None
        with self.lock:
            self.pictures: deque[Image] = deque(maxlen=KEPT)

    def _see(self, image: Image) -> None:
        with self.lock:
            last = seconds(self.pictures[-1].header.stamp) if self.pictures else float('-inf')
            if not 0 <= seconds(image.header.stamp) - last < EVERY_S:
                self.pictures.append(image)

    def _heard(self, utterance: AudioChunk) -> None:
        """The turn's sound. It and its transcript come by different topics, in either order."""
        self.sound = (utterance.sequence, audio(utterance))
        if self.waiting is not None:
            self._said(self.waiting)

    def _said(self, transcript: Transcript) -> None:
        if not transcript.final:
            return
        spoken = len(transcript.embedding) > 0 and self.view.wanted > 0
        if spoken and self.sound[0] != transcript.turn_id:
            self.waiting = transcript
            return
        self.waiting = None
        began = self.now()
        start, end = seconds(transcript.start), seconds(transcript.end)
        with self.lock:
            seen = [image for image in self.pictures if start - EVERY_S <= seconds(image.header.stamp) <= end + EVERY_S]
        pictures = [decode(image.encoding, image.data, image.width, image.height, image.step) for image in seen]
        candidate = self.view.judge(transcript.text, self.sound[1] if spoken else None, pictures, self.history.lines)
        self.publish(candidate_message(candidate, transcript.turn_id, transcript.person_id, start, end))
        self.history.add(Line('visitor', transcript.text, candidate.label))
        self.trace(transcript.turn_id, 'whole', 'done', began, candidate.model)

    def _answered(self, script: CompositeScript) -> None:
        if script.complete and not script.script_id.endswith(SUFFIX):
            self.history.add(Line('avatar', script.text))
