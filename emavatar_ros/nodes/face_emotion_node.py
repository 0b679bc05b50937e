"""What the face shows: camera/image_raw, turn -> candidates, visitor_direction.

A running candidate (turn 0) a few times a second keeps the belief alive between turns; the final transcript asks for
one about the utterance. Only the newest picture is looked at: older ones are dropped and counted.
"""

from __future__ import annotations

import threading

from geometry_msgs.msg import Vector3Stamped
from sensor_msgs.msg import Image

from emavatar_ros.media.images import decode
from emavatar_ros.msg import AvatarState, EmotionCandidate, Transcript, Turn
from emavatar_ros.nodes.base import ANYBODY, LATCHED, PICTURE_IN, RELIABLE, EmavatarNode
from emavatar_ros.nodes.convert import candidate_message, seconds
from emavatar_ros.nodes.settings import FaceEmotionSettings
from emavatar_ros.perception.direction import direction
from emavatar_ros.perception.face.view import create
from emavatar_ros.settings import chosen

AWAY = 0.3
"""Share of the pictures that is looked at while a reply is made."""
RUNNING_S = 0.5
"""Between two running candidates."""


class FaceEmotionNode(EmavatarNode):
    """camera/image_raw, turn, transcript -> candidates, visitor_direction."""

    name = 'face_emotion'
    Config = FaceEmotionSettings

    def configure(self) -> None:
        module, settings = chosen(self.config, 'networks')
        self.view = create(self.config, module.create(settings))
        self.latest: Image | None = None
        self.lock = threading.Lock()
        self.told = self.looked = 0.0
        self.busy = False
        self.publish = self.publisher(EmotionCandidate, 'candidates', RELIABLE)
        self.publish_direction = self.publisher(Vector3Stamped, 'visitor_direction', RELIABLE)
        self.subscribe(Image, 'camera/image_raw', self._arrive, PICTURE_IN, at_once=True)
        self.subscribe(Transcript, 'transcript', self._judge, RELIABLE)
        self.subscribe(Turn, 'turn', self._hear, LATCHED)
        self.subscribe(AvatarState, 'avatar_state', self._follow, LATCHED, at_once=True)

    def forget(self) -> None:
        self.view.forget()

    def _arrive(self, image: Image) -> None:
        at = seconds(image.header.stamp)
        if 0 <= at - self.looked < 0.9 / (self.config.images_per_s * (AWAY if self.busy else 1)):
            return
        self.looked = at
        with self.lock:
            waiting = self.latest is not None
            self.latest = image
        if waiting:
            self.counts['images skipped'] += 1
        else:
            self.do(self._see)

    def _follow(self, avatar: AvatarState) -> None:
        """While a reply is made and said, the picture only tells where to look."""
        self.busy = avatar.state in (AvatarState.THINKING, AvatarState.SPEAKING)

    def _hear(self, turn: Turn) -> None:
        """While a visitor is heard, whose lips move is the one who speaks; otherwise nobody is."""
        self.view.hear(turn.state in (Turn.VISITOR, Turn.INTERRUPTED))

    def _see(self) -> None:
        with self.lock:
            image, self.latest = self.latest, None
        if image is None:
            return
        at = seconds(image.header.stamp)
        pixels = decode(image.encoding, image.data, image.width, image.height, image.step)
        faces = self.view.see(pixels, at)
        self.counts['images'] += 1
        partner = next((face for face in faces if face.partner), None)
        if partner is not None:
            where = direction(partner.x, partner.y, image.height / image.width, self.config.view_angle)
            message = Vector3Stamped(header=image.header)
            message.vector.x, message.vector.y, message.vector.z = where
            self.publish_direction(message)
        if at - self.told >= RUNNING_S:
            self.told = at
            person = partner.id if partner is not None else ANYBODY
            self.publish(candidate_message(self.view.candidate(at - 1.0, at), 0, person, at - 1.0, at))

    def _judge(self, transcript: Transcript) -> None:
        if not transcript.final:
            return
        began = self.now()
        start, end = seconds(transcript.start), seconds(transcript.end)
        candidate = self.view.candidate(start, end)
        person = self.view.partner(start, end) or transcript.person_id
        self.publish(candidate_message(candidate, transcript.turn_id, person, start, end))
        self.trace(transcript.turn_id, 'face', 'done', began, candidate.model)
