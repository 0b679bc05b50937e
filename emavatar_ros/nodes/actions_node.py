"""What a robot's behaviour asks of the avatar: the actions say and respond.

Everything happens in callbacks on the executor's thread: a goal's coroutine only awaits its result. While no goal is
under way nothing wakes this node: what is heard and felt is subscribed to, and time is looked at, only while one is.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future

from emavatar_ros.action import Respond, Say
from emavatar_ros.emotion.labels import UNSURE
from emavatar_ros.errors import BadInput
from emavatar_ros.goal import (
    NORMAL,
    Code,
    Config,
    Deed,
    End,
    Goal,
    Outcome,
    Progress,
    Silence,
    Speak,
    Tell,
    Type,
    check,
)
from emavatar_ros.goals import Goals
from emavatar_ros.language import guess
from emavatar_ros.msg import Beat, CompositeScript, Playback, Transcript, Turn, UserEmotion
from emavatar_ros.nodes import performing
from emavatar_ros.nodes.base import ANYBODY, LATCHED, RELIABLE, EmavatarNode
from emavatar_ros.nodes.convert import stamp
from emavatar_ros.stage.playout import Floor

TICK_S = 0.25
EVERY_TURN = QoSProfile(depth=20, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""The current one for who comes late, and none left out when several follow each other at once."""
REMEMBERED = 8
"""Emotions, scripts and lines kept until the goal they belong to is over."""


class ActionsNode(EmavatarNode):
    """turn, script, playback, user_emotion -> script, typed; actions say and respond."""

    name = 'actions'
    Config = Config

    def configure(self) -> None:
        self.goals = Goals(self.config.patience)
        self.handles: dict[str, ServerGoalHandle] = {}
        self.over: dict[str, Future] = {}
        self.saying: tuple[CompositeScript, int] | None = None
        self.typing: tuple[str, Transcript] | None = None
        self.typed: deque[tuple[str, Any]] = deque(maxlen=REMEMBERED)
        self.emotions: deque[UserEmotion] = deque(maxlen=REMEMBERED)
        self.answers: deque[CompositeScript] = deque(maxlen=REMEMBERED)
        self.following: list[Any] = []
        # Not by `publisher`: what is being said when this node is deactivated must still be silenced.
        self.scripts = self.create_publisher(CompositeScript, 'script', RELIABLE)
        self.lines = self.create_publisher(Transcript, 'typed', RELIABLE)
        self.subscribe(Turn, 'turn', self._turn, EVERY_TURN, at_once=True)
        self.subscribe(CompositeScript, 'script', self._script, RELIABLE, at_once=True)
        self.ticking = self.create_timer(TICK_S, self._tick)
        self.ticking.cancel()
        for kind, name in ((Say, 'say'), (Respond, 'respond')):
            ActionServer(self, kind, name, self._end, goal_callback=self._may, handle_accepted_callback=self._take,
                         cancel_callback=self._cancel)

    def deactivate(self) -> None:
        self._carry_out(self.goals.close())

    # What is asked.
    def _may(self, request: Say.Goal | Respond.Goal) -> GoalResponse:
        return GoalResponse.ACCEPT if self.active else GoalResponse.REJECT

    def _take(self, handle: ServerGoalHandle) -> None:
        key = _key(handle)
        self.handles[key], self.over[key] = handle, Future()
        asked = handle.request
        reply = isinstance(asked, Respond.Goal)
        try:
            text = check(asked.input) if reply else check(asked.input, asked.instruction, asked.emotion)
        except BadInput as error:
            self._carry_out([End(key, Outcome(Code.EBADMSG, str(error)))])
            return
        self._follow()
        self._carry_out(self.goals.add(Goal(key, text, asked.meta.priority, reply), self.now()))

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        if _key(handle) not in self.handles:
            return CancelResponse.REJECT
        self._carry_out(self.goals.cancel(_key(handle), self.now()))
        return CancelResponse.ACCEPT

    async def _end(self, handle: ServerGoalHandle) -> Say.Result | Respond.Result:
        """The goal's result, once it is over."""
        result = await self.over[_key(handle)]
        del self.over[_key(handle)]
        match result.error_code:
            case Code.ENOERR:
                handle.succeed()
            case Code.ECANCELED if handle.is_cancel_requested:
                handle.canceled()
            case _:
                handle.abort()
        return result

    # What happens.
    def _turn(self, turn: Turn) -> None:
        key = next((key for key, start in self.typed if start == turn.start), '')
        self._carry_out(self.goals.turn(turn.turn_id, Floor(turn.state), self.now(), key))

    def _script(self, script: CompositeScript) -> None:
        cancelled = script.complete and not script.beats
        if self.goals.busy and not cancelled:
            self.answers.appendleft(script)
        self._carry_out(self.goals.script(script.script_id, script.turn_id, script.priority, script.text, cancelled,
                                          self.now()))

    def _felt(self, emotion: UserEmotion) -> None:
        if emotion.turn_id:
            self.emotions.appendleft(emotion)
            self._carry_out(self.goals.emotion(emotion.turn_id, self.now()))

    def _played(self, playback: Playback) -> None:
        self._carry_out(self.goals.playback(performing.status(playback), self.now()))

    def _tick(self) -> None:
        self._publish()
        self._carry_out(self.goals.tick(self.now()))
        if not self.goals.busy:
            self._rest()

    def _follow(self) -> None:
        """Something is to be done: look at what happens."""
        if not self.following:
            self.following = [self.create_subscription(Playback, 'playback', self._played, RELIABLE),
                              self.create_subscription(UserEmotion, 'user_emotion', self._felt, LATCHED)]
            self.ticking.reset()

    def _rest(self) -> None:
        self.ticking.cancel()
        for subscription in self.following:
            self.destroy_subscription(subscription)
        self.following = []
        self.emotions.clear()
        self.answers.clear()

    # What is done.
    def _carry_out(self, deeds: list[Deed]) -> None:
        for deed in deeds:
            match deed:
                case Speak(key, turn_id):
                    self.handles[key].execute()
                    self.saying = self._script_of(deed, self.handles[key].request), 0
                    self._publish()
                case Type(key):
                    self.handles[key].execute()
                    self.typing = key, self._line_of(self.handles[key].request)
                    self._publish()
                case Silence(script_id, turn_id):
                    self.scripts.publish(CompositeScript(script_id=script_id, turn_id=turn_id, composer='say',
                                                         complete=True, priority=NORMAL))
                case Tell(key, progress):
                    self._tell(self.handles[key], progress)
                case End(key, outcome):
                    self._finish(self.handles.pop(key), key, outcome)

    def _publish(self) -> None:
        """Publish what is to be said, and again whenever more nodes listen: one that was only starting has missed it,
        and a script that comes twice is one. A line that comes twice would be two: it waits until somebody listens."""
        if self.saying is not None:
            script, before = self.saying
            listeners = self.scripts.get_subscription_count()
            if listeners > before:
                self.scripts.publish(script)
            self.saying = script, listeners
        if self.typing is not None and self.lines.get_subscription_count():
            key, line = self.typing
            self.typing = None
            self.typed.append((key, line.start))
            self.lines.publish(line)

    def _script_of(self, speak: Speak, asked: Say.Goal) -> CompositeScript:
        beat = Beat(text=speak.text, instruction=asked.instruction, expression=asked.emotion or 'neutral')
        message = CompositeScript(
            turn_id=speak.turn_id, script_id=speak.script_id, person_id=asked.person_id, text=beat.text,
            instruction=beat.instruction, emotion=UNSURE, language=guess(beat.text, self.config.language),
            composer='say', beats=[beat], complete=True, priority=asked.meta.priority)
        message.header.stamp = stamp(self.now())
        return message

    def _line_of(self, asked: Respond.Goal) -> Transcript:
        """The line as whoever counts the turns takes it; its start tells which turn is for it."""
        now = stamp(self.now())
        message = Transcript(person_id=asked.person_id or ANYBODY, text=check(asked.input), final=True, confidence=1.0,
                             language=asked.language, start=now, end=now, model='typed')
        message.header.stamp = now
        return message

    def _tell(self, handle: ServerGoalHandle, progress: Progress) -> None:
        kind = Respond if isinstance(handle.request, Respond.Goal) else Say
        handle.publish_feedback(kind.Feedback(stage=progress.stage, progress=progress.share, word=progress.word))

    def _finish(self, handle: ServerGoalHandle, key: str, outcome: Outcome) -> None:
        if self.saying is not None and self.saying[0].script_id == outcome.script_id:
            self.saying = None
        if self.typing is not None and self.typing[0] == key:
            self.typing = None
        told = {'error_code': int(outcome.code), 'error_msg': outcome.message, 'heard': outcome.heard}
        if isinstance(handle.request, Say.Goal):
            result = Say.Result(**told)
        else:
            felt = (emotion for emotion in self.emotions if emotion.turn_id == outcome.turn_id)
            answer = (script for script in self.answers if script.script_id == outcome.script_id)
            result = Respond.Result(**told, emotion=next(felt, UserEmotion()),
                                    script=next(answer, CompositeScript()))
        self.counts[f'goals {outcome.code.name}'] += 1
        if handle.status == GoalStatus.STATUS_ACCEPTED:  # it never began
            handle.execute()
        self.over[key].set_result(result)


def _key(handle: ServerGoalHandle) -> str:
    return bytes(handle.goal_id.uuid).hex()
