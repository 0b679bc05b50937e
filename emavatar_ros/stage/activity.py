"""What the avatar is doing, from who has the floor and what is being played.

    IDLE ──visitor speaks──► LISTENING ──visitor has finished──► THINKING ──sound──► SPEAKING ──end──► IDLE
                                 ▲──────────────visitor speaks, interrupts──────────────┘

It thinks for a bounded time: a reply that never comes leaves it idle. An acknowledgement is no reply: after it, it
thinks on.
"""

from __future__ import annotations

from typing import Final

from emavatar_ros.planning.acknowledging import SUFFIX
from emavatar_ros.stage.playout import Floor, State, Status

THINKS: Final = 20.0
"""Longest time, s, that it is shown thinking about one turn."""


class Activity:
    """Says `idle`, `listening`, `thinking` or `speaking`. Times are seconds."""

    def __init__(self) -> None:
        self.turn_id = 0
        self.state = 'idle'
        self.since = 0.0
        """Since when it is in this state, s."""
        self._floor = Floor.IDLE
        self._asked = 0.0  # when the floor changed hands
        self._answered = False

    def turn(self, turn_id: int, floor: Floor, t: float) -> None:
        """The floor changed hands."""
        if floor == Floor.DROPPED and turn_id < self.turn_id:
            return
        self._answered = self._answered and turn_id == self.turn_id and floor == self._floor
        self.turn_id, self._floor, self._asked = turn_id, floor, t

    def update(self, status: Status, t: float) -> bool:
        """Take what is played; True when the state changed."""
        if status.state in (State.FINISHED, State.STOPPED) and not status.script_id.endswith(SUFFIX) \
                and status.turn_id >= self.turn_id:
            self._answered = True
        if status.state in (State.PLAYING, State.WAITING):
            state = 'speaking'
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
