"""The screen and the speaker: speech, face_state, turn, script -> playback, avatar_state, avatar/image.

The sound is the master: what is played is decided in the callbacks, at once, and the drawing follows in its own thread.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable

import numpy as np
from sensor_msgs.msg import Image

from emavatar_ros import avatars
from emavatar_ros.errors import BadInput, EmavatarError
from emavatar_ros.msg import AvatarState, CompositeScript, FaceState, Playback, SpeechChunk, Turn
from emavatar_ros.nodes import performing
from emavatar_ros.nodes.base import BEST_EFFORT, LATCHED, RELIABLE, SOUND, EmavatarNode
from emavatar_ros.nodes.convert import seconds, stamp
from emavatar_ros.planning.acknowledging import SUFFIX
from emavatar_ros.srv import SetAvatar
from emavatar_ros.stage.drawing import Drawing
from emavatar_ros.stage.playout import Floor, State, Status
from emavatar_ros.stage.settings import StageConfig
from emavatar_ros.stage.stage import Stage

LOOK_S = 0.05
"""Between two looks at what is played: a change is reported at once."""
PLAYBACK_S = 0.1
"""Between two playback reports while something is played; each wakes five nodes."""
IDLE_S = 0.5
"""Between two when nothing is."""


class StageNode(EmavatarNode):
    """speech, face_state, turn, script -> playback, avatar_state, avatar/image; service set_avatar."""

    name = 'stage'
    Config = StageConfig
    period = LOOK_S

    def configure(self) -> None:
        self.avatar = avatars.load(self.config.avatar)
        self.stage = Stage(self.config, self.now)
        self.last = Status(0.0)
        self.came: dict[str, float] = {}
        self.told = (-1.0, '')
        self.drawing: Drawing | None = None
        self.telling = threading.RLock()
        self.publish = self.publisher(Playback, 'playback', RELIABLE)
        self.publish_state = self.publisher(AvatarState, 'avatar_state', LATCHED)
        self.publish_image = self.publisher(Image, 'avatar/image', BEST_EFFORT)
        self.subscribe(SpeechChunk, 'speech', self._speech, SOUND, at_once=True)
        self.subscribe(FaceState, 'face_state', self._face, BEST_EFFORT, at_once=True)
        self.subscribe(Turn, 'turn', self._turn, LATCHED, at_once=True)
        self.subscribe(CompositeScript, 'script', self._script, RELIABLE, at_once=True)
        self.create_service(SetAvatar, 'set_avatar', self._set_avatar)

    def activate(self) -> None:
        self.stage.open()
        try:
            self.drawing = Drawing(self.config, self.stage, self.avatar, lambda: self.publish_image.count() > 0,
                                   self._seen)
        except EmavatarError:
            self.stage.close()
            raise
        self.reporting = self.create_timer(1.0, self._report)

    def deactivate(self) -> None:
        self.destroy_timer(self.reporting)
        drawing, self.drawing = self.drawing, None
        drawing.close()
        self.stage.close()

    def step(self) -> None:
        self._played(self.stage.status)

    def _speech(self, message: SpeechChunk) -> None:
        try:
            chunk = performing.chunk(message)
        except BadInput as error:
            self.counts['refused'] += 1
            self.problem = str(error)
            return
        if chunk.number == 0:
            self.came = {chunk.script_id: self.now()}
        self._played(lambda: self.stage.chunk(chunk))

    def _face(self, message: FaceState) -> None:
        try:
            self.stage.face(seconds(message.header.stamp), performing.face(message))
        except BadInput as error:
            self.counts['refused'] += 1
            self.problem = str(error)

    def _turn(self, turn: Turn) -> None:
        self._played(lambda: self.stage.turn(turn.turn_id, Floor(turn.state)))

    def _script(self, script: CompositeScript) -> None:
        cancelled = script.complete and not script.beats
        self._played(lambda: self.stage.script(script.script_id, script.turn_id, script.priority, cancelled))

    def _played(self, take: Callable[[], Status]) -> None:
        """Report what is played: on every change, and often while something is. Two threads come here: what is reported
        comes in the order in which it happened."""
        with self.telling:
            status = take()
            changed = (status.state, status.script_id, status.chunk) != (self.last.state, self.last.script_id,
                                                                         self.last.chunk)
            lately = PLAYBACK_S - LOOK_S / 2 if status.state in (State.PLAYING, State.WAITING) else IDLE_S
            if changed or self.now() - self.told[0] > lately:
                self.publish(performing.playback_message(status))
                self._trace(status)
                self.last, self.told = status, (self.now(), self.told[1])
            if self.stage.activity[0] != self.told[1]:
                self._tell_state()

    def _trace(self, status: Status) -> None:
        """The first sample heard, and the last."""
        began = self.came.get(status.script_id)
        if began is None or (status.state, status.script_id) == (self.last.state, self.last.script_id):
            return
        if status.script_id.endswith(SUFFIX):
            if status.state == State.PLAYING:
                self.trace(status.turn_id, 'playout', 'acknowledged', began, self.stage.speaker.name)
        elif status.state == State.PLAYING and status.chunk == 0:
            self.trace(status.turn_id, 'playout', 'first_sample', began, self.stage.speaker.name)
        elif status.state in (State.FINISHED, State.STOPPED):
            event = 'finished' if status.state == State.FINISHED else 'dropped'
            self.trace(status.turn_id, 'playout', event, began, self.stage.speaker.name)

    def _tell_state(self) -> None:
        if self.drawing is None:
            return
        state, since, turn_id = self.stage.activity
        width, height = self.drawing.size
        message = AvatarState(avatar=self.drawing.avatar, state=state, turn_id=turn_id,
                              expression=self.last.expression if state == 'speaking' else 'neutral',
                              images_per_s=self.drawing.rate, width=width, height=height,
                              renderer=self.drawing.renderer, speaker=self.stage.speaker.name)
        message.header.stamp = stamp(since)
        self.publish_state(message)
        self.told = (self.told[0], state)

    def _report(self) -> None:
        """Once a second: the state with its rates, and what diagnostics tell."""
        if self.drawing is None:
            return
        self._tell_state()
        speaker = self.stage.speaker.name
        self.facts.update(device=speaker, renderer=self.drawing.renderer,
                          images_per_s=f'{self.drawing.rate:.1f}', size='{}x{}'.format(*self.drawing.size))
        for name, count in self.stage.counts.items():
            self.counts[f'chunks {name}'] = count
        self.counts['images late'] = self.drawing.late
        self.counts['images not recorded'] = self.drawing.left_out
        self.counts['underruns'] = self.last.underruns
        closed = 'the window was closed' if self.drawing.closed else ''
        self.problem = self.drawing.problem or closed or (f'speaker {speaker}' if 'away' in speaker else '')

    def _seen(self, picture: np.ndarray, at: float) -> None:
        if self.publish_image.count():
            height, width = picture.shape[:2]
            message = Image(height=height, width=width, encoding='rgb8', step=3 * width)
            message.header.stamp = stamp(at)
            message.header.frame_id = 'avatar'
            message.data = array('B', picture.tobytes())
            self.publish_image(message)

    def _set_avatar(self, request: SetAvatar.Request, response: SetAvatar.Response) -> SetAvatar.Response:
        try:
            avatar = avatars.load(request.avatar)
        except BadInput as error:
            response.message = str(error)
            return response
        self.avatar = avatar
        if self.drawing is not None:
            self.drawing.show(avatar)
        response.success, response.message = True, f'{avatar.title} comes on the screen'
        return response
