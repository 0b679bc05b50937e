"""What the visitor feels: candidates, turn -> user_emotion, on change and at least once a second.

A turn is judged when every view that is waited for has spoken (abstaining counts), or when the budget is over; a view
that comes later makes a better estimate of the same turn. Between turns the face's running candidate keeps the belief
alive, and the belief holds and fades by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from std_msgs.msg import String

from emavatar_ros.deliberation.belief import Belief
from emavatar_ros.deliberation.fusion import Arbiter
from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.msg import EmotionCandidate, Turn, UserEmotion
from emavatar_ros.nodes.base import ANYBODY, LATCHED, RELIABLE, EmavatarNode
from emavatar_ros.nodes.convert import candidate, emotion_message, seconds
from emavatar_ros.nodes.settings import ArbiterSettings
from emavatar_ros.srv import ResetVisitor

AGAIN_S = 0.9
"""The belief is published again after this long, changed or not: at least once a second."""
HOLD_S = 5.0
"""After a turn was judged by all views, the face alone moves the belief only this much later."""


@dataclass
class Gathering:
    """The candidates of one turn so far, by view."""

    turn_id: int
    candidates: dict[str, EmotionCandidate] = field(default_factory=dict)
    first: float = 0.0
    decided: bool = False


class ArbiterNode(EmavatarNode):
    """candidates, turn -> user_emotion."""

    name = 'arbiter'
    Config = ArbiterSettings
    period = 0.05

    def configure(self) -> None:
        self.arbiter = Arbiter(self.config.fusion)
        self.views = {view.strip() for view in self.config.views.split(',') if view.strip()}
        self.turn = Gathering(0)
        self.running: dict[str, EmotionCandidate] = {}
        self.forget()
        self.publish = self.publisher(UserEmotion, 'user_emotion', LATCHED)
        self.tell_others = self.create_publisher(String, 'visitor_reset', RELIABLE)
        self.subscribe(EmotionCandidate, 'candidates', self._hear, RELIABLE)
        self.subscribe(Turn, 'turn', self._follow, RELIABLE)
        self.create_service(ResetVisitor, 'reset_visitor', self._reset)

    def _follow(self, turn: Turn) -> None:
        # A lower id with an open floor: the listening node was started again and counts anew.
        if turn.turn_id > self.turn.turn_id or (turn.state == Turn.VISITOR and turn.turn_id < self.turn.turn_id):
            self.turn = Gathering(turn.turn_id)

    def _hear(self, message: EmotionCandidate) -> None:
        if message.turn_id == 0:
            self.running[message.view] = message
            return
        if message.turn_id > self.turn.turn_id:
            self.turn = Gathering(message.turn_id)
        if message.turn_id < self.turn.turn_id:
            self.counts['candidates too late'] += 1
            return
        if not self.turn.candidates:
            self.turn.first = self.now()
        self.turn.candidates[message.view] = message
        if self.turn.decided or self.views <= self.turn.candidates.keys():
            self._decide(provisional=False)

    def step(self) -> None:
        now = self.now()
        gathering = self.turn
        if gathering.candidates and not gathering.decided and now - gathering.first > self.config.budget:
            self._decide(provisional=True)
        elif now - self.published >= AGAIN_S:
            self._keep_alive(now)

    def _decide(self, provisional: bool) -> None:
        began = self.now()
        messages = [self.turn.candidates[view] for view in sorted(self.turn.candidates)]
        decided = self.arbiter.decide([candidate(message) for message in messages])
        self.turn.decided = True
        self.decided_at = began
        at = max(seconds(message.header.stamp) for message in messages)
        self.belief.update(decided, at)
        self._say(decided, self.turn.turn_id, messages, at, began - self.turn.first, provisional)
        self.trace(self.turn.turn_id, 'deliberation', 'done', self.turn.first)

    def _keep_alive(self, now: float) -> None:
        """Between turns: what the face shows now, and a belief that holds and fades."""
        fresh = [message for message in self.running.values() if seconds(message.header.stamp) > now - AGAIN_S]
        waiting = bool(self.turn.candidates) and not self.turn.decided
        if any(message.label for message in fresh) and not waiting and now - self.decided_at > HOLD_S:
            self.belief.update(self.arbiter.decide([candidate(message) for message in fresh]), now)
        self._say(self.belief.at(now), 0, fresh, now)

    def _say(self, estimate: Estimate, turn_id: int, messages: list[EmotionCandidate], at: float,
             latency: float = 0.0, provisional: bool = False) -> None:
        person = next((message.person_id for message in messages), ANYBODY)
        self.publish(emotion_message(estimate, turn_id, person, at, messages, latency, provisional))
        self.published = self.now()

    def forget(self) -> None:
        self.belief = Belief(self.config.belief)
        self.turn = Gathering(self.turn.turn_id)
        self.running.clear()
        self.published = self.decided_at = 0.0

    def _reset(self, request: ResetVisitor.Request, response: ResetVisitor.Response) -> ResetVisitor.Response:
        self.tell_others.publish(String(data=request.person_id))
        response.success = True
        response.message = 'forgotten'
        return response
