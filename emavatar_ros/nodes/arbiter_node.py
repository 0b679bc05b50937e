"""What the visitor feels: candidates, turn -> user_emotion, on change and at least once a second.

A turn is judged when every view that is waited for has spoken (abstaining counts), or when the budget is over; a view
that comes later makes a better estimate of the same turn. Where views conflict it is deliberated: measured evidence
takes milliseconds, a language model its time, on a thread of its own; past `deliberation.budget` the belief so far is
published, marked provisional, and again when the answer has come. Between turns the face's running candidate keeps the
belief alive, and the belief holds and fades by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from std_msgs.msg import String

from emavatar_ros.deliberation.belief import Beliefs
from emavatar_ros.deliberation.deliberator import create
from emavatar_ros.deliberation.roles import Case
from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.history import Conversation, Line
from emavatar_ros.msg import CompositeScript, EmotionCandidate, Transcript, Turn, UserEmotion
from emavatar_ros.nodes.base import ANYBODY, LATCHED, RELIABLE, EmavatarNode
from emavatar_ros.nodes.convert import candidate, emotion_message, seconds
from emavatar_ros.nodes.settings import ArbiterSettings
from emavatar_ros.nodes.witness import Witness
from emavatar_ros.planning.acknowledging import SUFFIX
from emavatar_ros.settings import chosen
from emavatar_ros.srv import ResetVisitor

AGAIN_S = 0.9
"""The belief is published again after this long, changed or not: at least once a second."""
AT_ONCE_S = 0.1
"""So long a deliberation is waited for before anything else is done: enough to measure."""
HOLD_S = 5.0
"""After a turn was judged by all views, the face alone moves the belief only this much later."""


@dataclass
class Gathering:
    """The candidates of one turn so far, by view."""

    turn_id: int
    candidates: dict[str, EmotionCandidate] = field(default_factory=dict)
    first: float = 0.0
    decided: bool = False


@dataclass
class Inquiry:
    """A deliberation under way. at: capture time of the newest evidence; began: when it was begun (s); best: the
    estimate so far; told: it was published before the end; provisional: views were missing from the start."""

    turn_id: int
    messages: list[EmotionCandidate]
    at: float
    began: float
    provisional: bool
    told: bool = False
    best: Estimate | None = None
    future: Future[None] = field(default_factory=Future)

    def run(self, steps: Iterator[Estimate]) -> None:
        """Keep the best estimate there is. Runs on a thread of its own."""
        for self.best in steps:
            pass


class ArbiterNode(EmavatarNode):
    """candidates, turn -> user_emotion."""

    name = 'arbiter'
    Config = ArbiterSettings
    period = 0.05

    def configure(self) -> None:
        module, settings = chosen(self.config, 'backend')
        self.arbiter = create(self.config.deliberation, self.config.fusion, module.create(settings))
        self.views = {view.strip() for view in self.config.views.split(',') if view.strip()}
        self.turn = Gathering(0)
        self.running: dict[str, EmotionCandidate] = {}
        self.history = Conversation()
        self.witness = Witness(self) if self.arbiter.pictures else None
        self.forget()
        self.publish = self.publisher(UserEmotion, 'user_emotion', LATCHED)
        self.tell_others = self.create_publisher(String, 'visitor_reset', RELIABLE)
        self.subscribe(EmotionCandidate, 'candidates', self._hear, RELIABLE)
        self.subscribe(Turn, 'turn', self._follow, RELIABLE)
        self.subscribe(Transcript, 'transcript', self._said, RELIABLE)
        self.subscribe(CompositeScript, 'script', self._answered, RELIABLE)
        self.create_service(ResetVisitor, 'reset_visitor', self._reset)

    def activate(self) -> None:
        self.pool = ThreadPoolExecutor(1, 'deliberation')

    def deactivate(self) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)

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

    def _said(self, transcript: Transcript) -> None:
        if transcript.final:
            self.said = (transcript.turn_id, transcript.text)

    def _answered(self, script: CompositeScript) -> None:
        if script.complete and not script.script_id.endswith(SUFFIX):
            self.history.add(Line('visitor', self.said[1]), Line('avatar', script.text))
            self.said = (0, '')

    def step(self) -> None:
        now = self.now()
        gathering = self.turn
        if self.inquiry is not None:
            self._look_after(self.inquiry)
        elif gathering.candidates and not gathering.decided and now - gathering.first > self.config.budget:
            self._decide(provisional=True)
        elif now - self.published >= AGAIN_S:
            self._keep_alive(now)

    def _decide(self, provisional: bool) -> None:
        """Begin to deliberate; where that only measures, it is over when this returns."""
        messages = [self.turn.candidates[view] for view in sorted(self.turn.candidates)]
        start = min(seconds(message.start) for message in messages)
        at = max(seconds(message.header.stamp) for message in messages)
        turn_id = self.turn.turn_id
        sound, pictures = (None, []) if self.witness is None else (
            self.witness.sound(turn_id), self.witness.pictures(start, at))
        case = Case.of([candidate(message) for message in messages], self.said[1] if self.said[0] == turn_id else '',
                       self.history.lines, sound, pictures)
        self.turn.decided = True
        self.inquiry = Inquiry(turn_id, messages, at, self.now(), provisional)
        self.inquiry.future = self.pool.submit(self.inquiry.run, self.arbiter.steps(case))
        wait([self.inquiry.future], AT_ONCE_S)
        self._look_after(self.inquiry)

    def _look_after(self, inquiry: Inquiry) -> None:
        """Publish what a deliberation has come to when it is over, and once before when its budget is."""
        over = inquiry.future.done()
        if over:
            inquiry.future.result()
            self.inquiry = None
        if inquiry.best is None or inquiry.turn_id != self.turn.turn_id:
            return
        now = self.now()
        if over or (not inquiry.told and now - inquiry.began > self.config.deliberation.budget):
            inquiry.told = True
            self.decided_at = now
            self.beliefs.of(_person(inquiry.messages)).update(inquiry.best, inquiry.at)
            self._say(inquiry.best, inquiry.turn_id, inquiry.messages, inquiry.at, now - self.turn.first,
                      inquiry.provisional or not over)
        if over:
            self.trace(inquiry.turn_id, 'deliberation', 'done', self.turn.first, inquiry.best.method)

    def _keep_alive(self, now: float) -> None:
        """Between turns: what the face shows now, and a belief that holds and fades."""
        fresh = [message for message in self.running.values() if seconds(message.header.stamp) > now - AGAIN_S]
        waiting = bool(self.turn.candidates) and not self.turn.decided
        belief = self.beliefs.of(_person(fresh))
        if any(message.label for message in fresh) and not waiting and now - self.decided_at > HOLD_S:
            belief.update(self.arbiter.decide(Case.of(candidate(message) for message in fresh)), now)
        self._say(belief.at(now), 0, fresh, now)

    def _say(self, estimate: Estimate, turn_id: int, messages: list[EmotionCandidate], at: float,
             latency: float = 0.0, provisional: bool = False) -> None:
        self.publish(emotion_message(estimate, turn_id, _person(messages), at, messages, latency, provisional))
        self.published = self.now()

    def forget(self) -> None:
        self.beliefs = Beliefs(self.config.belief, ANYBODY)
        self.inquiry: Inquiry | None = None
        self.history.forget()
        self.said = (0, '')
        if self.witness is not None:
            self.witness.forget()
        self.turn = Gathering(self.turn.turn_id)
        self.running.clear()
        self.published = self.decided_at = 0.0

    def _reset(self, request: ResetVisitor.Request, response: ResetVisitor.Response) -> ResetVisitor.Response:
        self.tell_others.publish(String(data=request.person_id))
        response.success = True
        response.message = 'forgotten'
        return response


def _person(messages: list[EmotionCandidate]) -> str:
    """Whom candidates are about: a person that a view knows, rather than a voice that may be anybody's."""
    return next((message.person_id for message in messages if message.person_id not in ('', ANYBODY)), ANYBODY)
