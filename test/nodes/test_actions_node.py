"""The actions say and respond, asked by a client in a process of its own, with the real voice, stage and DDS."""

from __future__ import annotations

import shutil
import threading
import time

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from emavatar_ros.action import Respond, Say
from emavatar_ros.goal import Code
from emavatar_ros.msg import Beat, CompositeScript, Meta, Playback, Transcript, Turn, UserEmotion
from emavatar_ros.nodes.actions_node import ActionsNode
from emavatar_ros.nodes.base import LATCHED, RELIABLE
from emavatar_ros.nodes.convert import seconds
from emavatar_ros.nodes.speech_node import SpeechNode
from emavatar_ros.nodes.stage_node import StageNode

pytestmark = pytest.mark.skipif(not shutil.which('espeak-ng'), reason='no espeak-ng here: apt-get install espeak-ng')
HELLO = 'Welcome to our house, please come in.'
LONG = 'This is a very long story, and nobody knows how it ends. ' * 6
SMALL = {'speaker': 'none', 'screen': 'none', 'width': 128, 'height': 96, 'quality__samples': 0}


class Asked:
    """A goal as its client sees it."""

    def __init__(self, executor: SingleThreadedExecutor, client: ActionClient, goal) -> None:
        self.feedback: list = []
        self._over = threading.Event()
        self._accepted = threading.Event()
        self.handle = self._result = None
        self.at = 0.0
        # On the executor's thread: rclpy forgets the future of a goal that is answered while it is still being sent.
        executor.create_task(lambda: client.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)
        ).add_done_callback(self._accept))

    def _accept(self, future) -> None:
        self.handle = future.result()
        self._accepted.set()
        if self.handle.accepted:
            self.handle.get_result_async().add_done_callback(self._end)

    def _end(self, future) -> None:
        self._result, self.at = future.result(), time.time()
        self._over.set()

    @property
    def accepted(self) -> bool:
        assert self._accepted.wait(20), 'no answer to the goal'
        return self.handle.accepted

    @property
    def over(self) -> bool:
        return self._over.is_set()

    @property
    def stages(self) -> list[str]:
        """Each stage once, in the order told."""
        return list(dict.fromkeys(item.stage for item in self.feedback))

    def result(self, status: int):
        assert self.accepted and self._over.wait(40), 'no result'
        assert self._result.status == status, self._result
        return self._result.result


@pytest.fixture
def client(ros, ros_domain):
    """say(text, ...) and respond(text, ...) from another context."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=ros_domain)
    node = Node('tree', context=context)
    executor = SingleThreadedExecutor(context=context)

    class Client:
        def __init__(self) -> None:
            self.of = {kind: ActionClient(node, kind, name) for kind, name in ((Say, 'say'), (Respond, 'respond'))}

        def say(self, text: str, priority: int = 128, **more) -> Asked:
            return self._ask(Say, Say.Goal(meta=Meta(priority=priority), input=text, **more))

        def respond(self, text: str, priority: int = 128, **more) -> Asked:
            return self._ask(Respond, Respond.Goal(meta=Meta(priority=priority), input=text, **more))

        def _ask(self, kind, goal) -> Asked:
            assert self.of[kind].wait_for_server(20)
            return Asked(executor, self.of[kind], goal)

    made = Client()
    executor.add_node(node)
    spinner = threading.Thread(target=executor.spin, daemon=True)
    spinner.start()
    yield made
    executor.shutdown(timeout_sec=2.0)
    spinner.join(5.0)
    for item in made.of.values():
        item.destroy()
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.fixture
def actions(ros) -> ActionsNode:
    return ros.start(ActionsNode)


@pytest.fixture
def avatar(ros, actions: ActionsNode) -> ActionsNode:
    """With a voice and a stage."""
    ros.start(SpeechNode, backend='espeak')
    ros.start(StageNode, **SMALL)
    return actions


def test_a_text_is_said_and_told(ros, client, avatar: ActionsNode) -> None:
    scripts = ros.hear(CompositeScript, 'script', RELIABLE)
    asked = client.say(HELLO, instruction='soft and slow', emotion='happy')
    result = asked.result(GoalStatus.STATUS_SUCCEEDED)
    assert (result.error_code, result.error_msg, result.heard) == (Code.ENOERR, '', HELLO)
    assert asked.stages == ['synthesis', 'playout']
    shares = [item.progress for item in asked.feedback]
    assert shares == sorted(shares) and shares[0] == 0.0 and shares[-1] > 0.5
    words = [item.word for item in asked.feedback if item.word]
    assert len(words) > 3 and words == [word for word in HELLO.split() if word in words]
    (script,) = {script.script_id: script for script in scripts}.values()
    assert (script.composer, script.complete, script.priority, script.language) == ('say', True, 128, 'en')
    assert [(beat.text, beat.instruction, beat.expression) for beat in script.beats] == [
        (HELLO, 'soft and slow', 'happy')]
    # Nothing is looked at any more: an idle avatar costs nothing.
    ros.wait(lambda: not avatar.following and avatar.ticking.is_canceled())


def test_a_cancel_is_silent_at_once(ros, client, avatar: ActionsNode) -> None:
    played, took = ros.hear(Playback, 'playback', RELIABLE), []
    while len(took) < 3 and min(took, default=1.0) > 0.2:  # other work on this machine may delay one
        played.clear()
        asked = client.say(LONG)
        ros.wait(lambda: any(report.position > 0.5 for report in played))
        told = time.time()
        asked.handle.cancel_goal_async()
        ros.wait(lambda: any(report.state == Playback.STOPPED for report in played), 5.0)
        stopped = next(report for report in played if report.state == Playback.STOPPED)
        took.append(seconds(stopped.header.stamp) - told)
        result = asked.result(GoalStatus.STATUS_CANCELED)
        assert result.error_code == Code.ECANCELED and result.error_msg
        assert result.heard and LONG.startswith(result.heard)
    assert took[-1] < 0.2, took


def test_the_urgent_pre_empts_and_the_rest_waits_its_turn(ros, client, avatar: ActionsNode) -> None:
    first = client.say(LONG)
    ros.wait(lambda: 'playout' in first.stages)
    waiting, unwanted, urgent = client.say('One more.'), client.say('Never mind.'), client.say('Fire!', 200)
    ros.wait(lambda: unwanted.feedback)
    unwanted.handle.cancel_goal_async()
    assert first.result(GoalStatus.STATUS_ABORTED).error_code == Code.EINTR
    assert urgent.result(GoalStatus.STATUS_SUCCEEDED).heard == 'Fire!'
    assert waiting.result(GoalStatus.STATUS_SUCCEEDED).heard == 'One more.'
    assert unwanted.result(GoalStatus.STATUS_CANCELED).error_code == Code.ECANCELED
    assert first.at < urgent.at < waiting.at
    assert waiting.stages == ['waiting', 'synthesis', 'playout'] and unwanted.stages == ['waiting']


def test_a_visitor_who_takes_the_floor_interrupts(ros, client, avatar: ActionsNode) -> None:
    turns = ros.publisher(Turn, 'turn', LATCHED)
    asked = client.say(LONG)
    ros.wait(lambda: 'playout' in asked.stages)
    turns.publish(Turn(turn_id=7, state=Turn.VISITOR))
    result = asked.result(GoalStatus.STATUS_ABORTED)
    assert result.error_code == Code.EINTR and 'visitor' in result.error_msg and LONG.startswith(result.heard)
    polite = client.say('Now me.')
    ros.wait(lambda: polite.feedback)
    assert polite.stages == ['waiting']
    turns.publish(Turn(turn_id=7, state=Turn.AVATAR))
    assert polite.result(GoalStatus.STATUS_SUCCEEDED).heard == 'Now me.'


@pytest.mark.parametrize(('text', 'more', 'says'), [
    ('', {}, 'empty'), ('a' * 2001, {}, '2,000'), ('hello', {'emotion': 'joyful'}, 'contempt'),
])
def test_a_goal_that_can_not_be_read(client, actions: ActionsNode, text: str, more: dict, says: str) -> None:
    asked = [client.say(text, **more)] + ([] if more else [client.respond(text)])
    for item in asked:
        result = item.result(GoalStatus.STATUS_ABORTED)
        assert result.error_code == Code.EBADMSG and says in result.error_msg and '\n' not in result.error_msg


def test_what_nobody_speaks_or_hears_ends_with_a_reason(ros, client) -> None:
    ros.start(ActionsNode, patience=1.0)
    result = client.say(HELLO).result(GoalStatus.STATUS_ABORTED)
    assert result.error_code == Code.EOTHER and 'speech' in result.error_msg
    result = client.respond(HELLO).result(GoalStatus.STATUS_ABORTED)
    assert result.error_code == Code.EOTHER and 'listening' in result.error_msg


def test_what_is_asked_of_a_voice_that_is_only_starting_is_said(ros, client) -> None:
    ros.start(ActionsNode)
    asked = client.say(HELLO)
    assert asked.accepted
    ros.start(SpeechNode, backend='espeak')
    ros.start(StageNode, **SMALL)
    assert asked.result(GoalStatus.STATUS_SUCCEEDED).heard == HELLO


def test_a_language_the_voice_does_not_speak(client, ros) -> None:
    ros.start(ActionsNode, language='tlh')
    ros.start(SpeechNode, backend='espeak')
    ros.start(StageNode, **SMALL)
    assert client.say('nuqneH').result(GoalStatus.STATUS_ABORTED).error_code == Code.ENOTSUP


def test_a_node_that_is_stopped_leaves_nobody_waiting(ros, client, avatar: ActionsNode) -> None:
    played = ros.hear(Playback, 'playback', RELIABLE)
    asked, queued = client.say(LONG), client.say(HELLO)
    ros.wait(lambda: 'playout' in asked.stages and queued.feedback)
    avatar.trigger_deactivate()
    for item in (asked, queued):
        result = item.result(GoalStatus.STATUS_ABORTED)
        assert result.error_code == Code.EOTHER and 'stopped' in result.error_msg
    ros.wait(lambda: any(report.state == Playback.STOPPED for report in played))
    assert not client.say(HELLO).accepted
    avatar.trigger_activate()
    assert client.say('Again.').result(GoalStatus.STATUS_SUCCEEDED).heard == 'Again.'


class Others:
    """What the rest of the graph does with a typed line: a turn, an emotion, an acknowledgement, a reply of two
    beats."""

    def __init__(self, ros) -> None:
        self.turns = ros.probe.create_publisher(Turn, 'turn', LATCHED)
        self.emotions = ros.probe.create_publisher(UserEmotion, 'user_emotion', LATCHED)
        self.scripts = ros.probe.create_publisher(CompositeScript, 'script', RELIABLE)
        self.lines: list[Transcript] = []
        self.answers = True
        ros.probe.create_subscription(Transcript, 'typed', self._line, RELIABLE)
        self.turn_id = 4

    def _line(self, line: Transcript) -> None:
        self.lines.append(line)
        self.turn_id += 1
        self.turns.publish(Turn(turn_id=self.turn_id, state=Turn.AVATAR, start=line.start, end=line.end))
        self.emotions.publish(UserEmotion(turn_id=self.turn_id, label='sad', confidence=0.7))
        if self.answers:
            self.script('-ack', ['Oh no.'], True)
            self.script('', ['Losing your keys is bad.'], False)
            self.script('', ['Losing your keys is bad.', 'Where were you last?'], True)

    def script(self, suffix: str, texts: list[str], complete: bool) -> None:
        self.scripts.publish(CompositeScript(
            turn_id=self.turn_id, script_id=f'turn-{self.turn_id}{suffix}', text=' '.join(texts), complete=complete,
            beats=[Beat(text=text, expression='sad') for text in texts], priority=128, language='en', composer='llm'))


def test_a_line_is_answered_as_a_whole_turn(ros, client, avatar: ActionsNode) -> None:
    others = Others(ros)
    asked = client.respond('I  lost my keys', person_id='p1')
    result = asked.result(GoalStatus.STATUS_SUCCEEDED)
    assert [(line.text, line.person_id, line.model) for line in others.lines] == [('I lost my keys', 'p1', 'typed')]
    assert result.error_code == Code.ENOERR and result.heard == 'Losing your keys is bad. Where were you last?'
    assert (result.emotion.label, result.emotion.turn_id) == ('sad', 5)
    assert (result.script.script_id, len(result.script.beats), result.script.complete) == ('turn-5', 2, True)
    order = ['perception', 'deliberation', 'planning', 'synthesis', 'playout']
    assert asked.stages == [stage for stage in order if stage in asked.stages] and asked.stages[-1] == 'playout'
    shares = [item.progress for item in asked.feedback]
    assert shares == sorted(shares)


def test_a_cancelled_line_is_silent_even_if_it_is_answered_later(ros, client, avatar: ActionsNode) -> None:
    others = Others(ros)
    others.answers = False
    played = ros.hear(Playback, 'playback', RELIABLE)
    asked, after = client.respond('I lost my keys'), client.say('Anything else?')
    ros.wait(lambda: 'planning' in asked.stages and after.feedback)
    asked.handle.cancel_goal_async()
    assert asked.result(GoalStatus.STATUS_CANCELED).error_code == Code.ECANCELED
    others.script('', ['Losing your keys is bad.'], True)
    assert after.result(GoalStatus.STATUS_SUCCEEDED).heard == 'Anything else?'
    assert not [report for report in played if report.script_id == 'turn-5' and report.heard]
