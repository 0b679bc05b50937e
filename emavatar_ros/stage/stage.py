"""The stage: the speaker with its playout, the face's near future, what the avatar is doing, and the screen.

Two threads meet here besides the callers': the speaker's own, and the one that draws (`Drawing`). The callers' words
(a chunk of speech, a face state, a change of the floor) are taken under a lock that is held for microseconds, so
an interruption never waits for a picture.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from emavatar_ros.errors import EmavatarError
from emavatar_ros.face.units import FaceState
from emavatar_ros.stage.activity import Activity
from emavatar_ros.stage.clock import Stretch
from emavatar_ros.stage.faces import Faces
from emavatar_ros.stage.playout import Chunk, Floor, Playout, State, Status
from emavatar_ros.stage.settings import StageConfig
from emavatar_ros.stage.speaker import create


class Stage:
    """Plays what is said and knows what is to be seen. clock: seconds, the one that all stamps are on."""

    def __init__(self, config: StageConfig, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.speaker = create(config.sound, config.speaker, clock, keep=bool(config.record))
        self._lock = threading.RLock()
        self._playout = Playout(self.speaker, config.lead, config.patience)
        self._faces = Faces()
        self._activity = Activity()

    def open(self) -> str:
        """Take the speaker; gives '' or, in one sentence, why there is no sound for now."""
        try:
            self.speaker.open(self.clock())
        except EmavatarError as error:
            return str(error)
        return ''

    def close(self) -> None:
        """Fall silent and give the speaker back."""
        with self._lock:
            self._playout.silence(self.clock())
        self.speaker.close()

    def chunk(self, chunk: Chunk) -> Status:
        """Take a stretch of speech; gives what is played now."""
        with self._lock:
            self._playout.chunk(chunk, self.clock())
            return self.status()

    def script(self, script_id: str, turn_id: int, priority: int, cancelled: bool) -> Status:
        """Take news of a script: its priority, or that nothing of it is to be heard any more."""
        with self._lock:
            before = self.status()
            self._playout.script(script_id, turn_id, priority, self.clock(), cancelled)
            if cancelled:
                self._activity.over(script_id, turn_id)
            return self._forget_face(before)

    def turn(self, turn_id: int, floor: Floor) -> Status:
        """Take a change of the floor."""
        with self._lock:
            before, t = self.status(), self.clock()
            self._playout.turn(turn_id, floor, t)
            self._activity.turn(turn_id, floor, t)
            return self._forget_face(before)

    def face(self, stamp: float, state: FaceState) -> None:
        """Take what is to be seen at `stamp`."""
        with self._lock:
            self._faces.add(stamp, state)

    def status(self) -> Status:
        """What is played now."""
        with self._lock:
            t = self.clock()
            status = self._playout.at(t)
            self._activity.update(status, t)
            return status

    def face_at(self, t: float) -> FaceState:
        """What is to be seen at `t`."""
        with self._lock:
            return self._faces.at(t)

    def played(self, t: float) -> list[Stretch]:
        """What was heard up to `t` and not handed out before, for a recording."""
        return self.speaker.played(t)

    @property
    def activity(self) -> tuple[str, float, int]:
        """What the avatar does (idle, listening, thinking, speaking), since when (s), and the current turn."""
        with self._lock:
            return self._activity.state, self._activity.since, self._activity.turn_id

    @property
    def effort(self) -> str:
        """The activity that tells how much drawing may cost: during an acknowledgement the reply is still written."""
        with self._lock:
            return 'thinking' if self._activity.acknowledging else self._activity.state

    @property
    def counts(self) -> Counter[str]:
        """Chunks dropped, by reason."""
        with self._lock:
            return Counter(self._playout.counts)

    def _forget_face(self, before: Status) -> Status:
        """What is played now; what was foreseen for the face no longer holds when the sound was cut off."""
        now = self.status()
        if before.state in (State.PLAYING, State.WAITING) and now.state == State.STOPPED:
            self._faces.cut(self.clock())
        return now
