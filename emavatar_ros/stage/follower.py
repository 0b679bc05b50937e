"""Keeps the face in step with what is really heard: playback reports and speech in, face states out.

The stage says which place of a script is heard when; from that each clause gets its moment on the playout clock, and
is told to the animator anew when the moment moved (the sound waited, or the device's clock drifted). Only what the
speaker already holds is told ahead: what comes after that may still be late. Times are arguments, in seconds.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from emavatar_ros.face.animator import Animator
from emavatar_ros.face.units import FaceState
from emavatar_ros.stage.activity import Activity
from emavatar_ros.stage.playout import Chunk, Floor, State, Status
from emavatar_ros.voice.speech import Speech

SCRIPTS: Final = 8
"""Scripts whose speech is remembered."""
MOVED: Final = 0.01
"""A clause is told anew when its moment moved by more than this, s."""


class Follower:
    """One face following one stage. seed: gives the face its own blinks and glances; one thread at a time."""

    def __init__(self, seed: int = 0) -> None:
        self._animator = Animator(seed)
        self._activity = Activity()
        self._scripts: OrderedDict[str, dict[int, Chunk]] = OrderedDict()
        self._told: dict[int, float] = {}  # chunk of the script being played -> its moment
        self._status = Status(0.0)

    @property
    def activity(self) -> str:
        """idle, listening, thinking or speaking."""
        return self._activity.state

    def chunk(self, chunk: Chunk, t: float) -> bool:
        """Take speech that will be played; True when the face of the near future changed."""
        self._scripts.setdefault(chunk.script_id, {})[chunk.number] = chunk
        while len(self._scripts) > SCRIPTS:
            self._scripts.popitem(last=False)
        return self._tell(t)

    def playback(self, status: Status, t: float) -> bool:
        """Take what is heard; True when the face of the near future changed."""
        before, self._status = self._status, status
        changed = False
        if status.script_id != before.script_id:
            self._told.clear()
        if self._told and status.state in (State.STOPPED, State.IDLE):
            self._animator.silence(max(min(status.stamp, t), 0.0) if status.state == State.STOPPED else t)
            self._told.clear()
            changed = True
        if self._activity.update(status, t):
            self._animator.mode(t, self._activity.state)
            changed = True
        return self._tell(t) or changed

    def turn(self, turn_id: int, floor: Floor, t: float) -> bool:
        """Take a change of the floor; True when the face of the near future changed.

        An interruption closes the mouth at once, before the stage has said that the sound was cut.
        """
        self._activity.turn(turn_id, floor, t)
        over = floor == Floor.INTERRUPTED or (floor == Floor.VISITOR and turn_id > self._status.turn_id)
        if over and self._told:
            self._animator.silence(t)
            self._told.clear()
            self._scripts.pop(self._status.script_id, None)
        if self._activity.update(self._status, t):
            self._animator.mode(t, self._activity.state)
            return True
        return over

    def feel(self, label: str, confidence: float, t: float) -> None:
        """What the visitor is believed to feel: one of the eight emotions, or unsure."""
        self._animator.feel(t, label, confidence)

    def look_at(self, yaw: float, pitch: float, t: float) -> None:
        """Where the visitor is: rad, positive to the avatar's own left and down."""
        self._animator.look_at(t, yaw, pitch)

    def forget(self, t: float) -> None:
        """The visitor has left: no feeling, no direction; what is being said goes on."""
        self._animator.reset(t)
        self._animator.mode(t, self._activity.state)
        self._told.clear()
        self._tell(t)

    def at(self, t: float) -> FaceState:
        """The face to be seen at `t`."""
        return self._animator.at(t)

    def _tell(self, t: float) -> bool:
        """Tell the animator when the clauses that the speaker holds are heard."""
        status = self._status
        if status.state != State.PLAYING:
            return False
        chunks = self._scripts.get(status.script_id, {})
        held = status.position + status.queued + 1e-3
        start, number, changed = status.chunk_start, status.chunk, False
        while number in chunks and start < held:
            chunk = chunks[number]
            moment = status.stamp + start - status.position
            seconds = chunk.audio.seconds
            if seconds and abs(moment - self._told.get(number, -1.0)) > MOVED:
                self._animator.speak(moment, Speech(chunk.audio, chunk.phonemes, chunk.text), chunk.expression)
                self._told[number] = moment
                changed = True
            start, number = start + seconds, number + 1
        return changed
