"""Moves the avatar's face: speech, playback, turn, user_emotion, visitor_direction -> face_state.

Each state is stamped with the moment it is to be seen, a little ahead, so that the stage has it when it draws. When
the near future changes (speech begins, moves, is cut off), the states of that future are told again.
"""

from __future__ import annotations

import math

from geometry_msgs.msg import Vector3Stamped

from emavatar_ros.msg import FaceState, Playback, SpeechChunk, Turn, UserEmotion
from emavatar_ros.nodes import performing
from emavatar_ros.nodes.base import BEST_EFFORT, LATCHED, RELIABLE, SOUND, EmavatarNode
from emavatar_ros.nodes.settings import FaceSettings
from emavatar_ros.stage.follower import Follower
from emavatar_ros.stage.playout import Floor


class FaceNode(EmavatarNode):
    """speech, playback, turn, user_emotion, visitor_direction -> face_state."""

    name = 'face'
    Config = FaceSettings

    def configure(self) -> None:
        self.follower = Follower(self.config.seed)
        self.period = 1 / self.config.rate
        self.publish = self.publisher(FaceState, 'face_state', BEST_EFFORT)
        self.subscribe(SpeechChunk, 'speech', self._speech, SOUND)
        self.subscribe(Playback, 'playback', self._playback, RELIABLE)
        self.subscribe(Turn, 'turn', self._turn, LATCHED)
        self.subscribe(UserEmotion, 'user_emotion', self._feel, LATCHED)
        self.subscribe(Vector3Stamped, 'visitor_direction', self._look, RELIABLE)

    def forget(self) -> None:
        self.follower.forget(self.now())

    def step(self) -> None:
        self._publish(self.now() + self.config.ahead)

    def _speech(self, message: SpeechChunk) -> None:
        self._tell(self.follower.chunk(performing.chunk(message), self.now()))

    def _playback(self, message: Playback) -> None:
        self._tell(self.follower.playback(performing.status(message), self.now()))

    def _turn(self, turn: Turn) -> None:
        self._tell(self.follower.turn(turn.turn_id, Floor(turn.state), self.now()))

    def _feel(self, emotion: UserEmotion) -> None:
        self.follower.feel(emotion.label, emotion.confidence, self.now())

    def _look(self, direction: Vector3Stamped) -> None:
        to = direction.vector
        self.follower.look_at(math.atan2(to.y, to.x), -math.atan2(to.z, math.hypot(to.x, to.y)), self.now())

    def _tell(self, changed: bool) -> None:
        """The states of the near future again, when what was told of it no longer holds."""
        if changed:
            t, steps = self.now(), max(math.ceil(self.config.ahead * self.config.rate), 1)
            for step in range(1, steps + 1):
                self._publish(t + step * self.config.ahead / steps)

    def _publish(self, at: float) -> None:
        self.publish(performing.face_message(self.follower.at(at), at))
