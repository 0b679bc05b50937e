"""What the avatar is doing, from who has the floor and what is being played.

    IDLE ──visitor speaks──► LISTENING ──visitor has finished──► THINKING ──sound──► SPEAKING ──end──► IDLE
                                 ▲──────────────visitor speaks, interrupts──────────────┘

It thinks for a bounded time: a reply that never comes, or that was cancelled, leaves it idle. An acknowledgement is no
reply, nor is what somebody else asked to be said: after them, it thinks on.
"""

from __future__ import annotations

from typing import Final

from emavatar_ros.planning.acknowledging import SUFFIX
from emavatar_ros.stage.playout import Floor, State, Status

THINKS: Final = 20.0
"""Longest time, s, that it is shown thinking about one turn."""
SAY: Final = 'say-'
"""What the id of a script begins with that an action asked to be said."""


def answers(script_id: str) -> bool:
    """Whether a script is the reply to a visitor."""
    return not script_id.startswith(SAY) and not script_id.endswith(SUFFIX)


class Activity:
    """Says `idle`, `listening`, `thinking` or `speaking`. Times are seconds."""

    def __init__(self) -> None:
        self.turn_id = 0
        self.state = 'idle'
        self.since = 0.0
        """Since when it is in this state, s."""
        self.acknowledging = False
        """What sounds is no reply yet: that is still being written."""
        self._floor = Floor.IDLE
        self._asked = 0.0  # when the floor changed hands
        self._answered = False

    def turn(self, turn_id: int, floor: Floor, t: float) -> None:
        """The floor changed hands."""
        if floor == Floor.DROPPED and turn_id < self.turn_id:
            return
        self._answered = self._answered and turn_id == self.turn_id and floor == self._floor
        self.turn_id, self._floor, self._asked = turn_id, floor, t

    def over(self, script_id: str, turn_id: int) -> None:
        """Nothing more of this script will be heard."""
        self._answered = self._answered or (answers(script_id) and turn_id >= self.turn_id)

    def update(self, status: Status, t: float) -> bool:
        """Take what is played; True when the state changed."""
        if status.state in (State.FINISHED, State.STOPPED):
            self.over(status.script_id, status.turn_id)
        self.acknowledging = False
        if status.state in (State.PLAYING, State.WAITING):
            state = 'speaking'
            self.acknowledging = status.script_id.endswith(SUFFIX)
        elif self._floor == Floor.VISITOR:
            state = 'listening'
        elif self._floor == Floor.AVATAR and not self._answered and t - self._asked < THINKS:
            state = 'thinking'
        else:
            state = 'idle'
        if state == self.state:
            return False
        self.state, self.since = state, t
        return True
