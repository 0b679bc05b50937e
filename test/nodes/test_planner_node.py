"""The planner node: answers what was understood, remembers what was heard."""

from __future__ import annotations

from std_msgs.msg import String
from std_srvs.srv import Trigger

from emavatar_ros.emotion.affect import CIRCUMPLEX
from emavatar_ros.msg import CareEvent, CompositeScript, Playback, SpeechChunk, Transcript, Turn, UserEmotion
from emavatar_ros.nodes.base import LATCHED, RELIABLE, SOUND
from emavatar_ros.nodes.convert import stamp
from emavatar_ros.nodes.planner_node import PlannerNode


class Model:
    """A language model that says two sentences, and keeps what it was asked and what it was given to read."""

    name = 'fixed'
    resumes = False

    def __init__(self) -> None:
        self.asked: list = []
        self.read_ahead: list = []

    def warm_up(self, prefixes) -> None:
        pass

    def read(self, messages, stopped) -> None:
        self.read_ahead.append((tuple(messages), stopped))

    def stream(self, request, limits):
        self.asked.append(request.messages)
        yield from ('Oh, that test ', 'weighs on you. ', 'What was hard about it?')

    def close(self) -> None:
        pass


class Stage:
    """What the rest of the graph would say to the planner."""

    def __init__(self, ros, node) -> None:
        self.ros, self.node = ros, node
        self.scripts = ros.hear(CompositeScript, 'script', RELIABLE)
        self.out = {kind: ros.publisher(kind, topic, qos) for kind, topic, qos in (
            (Turn, 'turn', LATCHED), (Transcript, 'transcript', RELIABLE), (UserEmotion, 'user_emotion', LATCHED),
            (SpeechChunk, 'speech', SOUND), (Playback, 'playback', RELIABLE))}

    def tell(self, kind, **fields) -> None:
        self.out[kind].publish(kind(**fields))

    def says(self, turn_id: int, text: str, label: str) -> None:
        self.tell(Turn, turn_id=turn_id, state=Turn.VISITOR)
        self.tell(Turn, turn_id=turn_id, state=Turn.AVATAR)
        self.tell(Transcript, turn_id=turn_id, text=text, final=True, language='en')
        self.ros.wait(lambda: self.node.said.turn_id == turn_id)
        self.tell(UserEmotion, turn_id=turn_id, label=label, distribution=[1 / 8] * 8, confidence=0.7,
                  valence=CIRCUMPLEX[label][0])

    def reply(self, turn_id: int) -> CompositeScript:
        def found() -> list:
            return [script for script in self.scripts if script.script_id == f'turn-{turn_id}' and script.complete]
        self.ros.wait(found)
        return found()[0]

    def played(self, script_id: str, state: int, heard: str) -> None:
        message = Playback(turn_id=int(script_id.split('-')[1]), script_id=script_id, state=state, heard=heard)
        message.header.stamp = stamp(self.node.now())
        self.out[Playback].publish(message)


def test_an_acknowledgement_comes_first_and_is_no_reply(ros, monkeypatch):
    model = Model()
    monkeypatch.setattr('emavatar_ros.models.llm.llama_cpp.create', lambda config: model)
    node = ros.start(PlannerNode)
    stage = Stage(ros, node)
    stage.says(1, 'I failed my driving test', 'sad')
    reply = stage.reply(1)
    first = stage.scripts[0]
    assert first.script_id == 'turn-1-ack' and first.complete and first.text and first.turn_id == 1
    assert reply.text.startswith('That test weighs'), 'the word of the acknowledgement is not said again'

    stage.tell(SpeechChunk, turn_id=1, script_id='turn-1-ack', last=True, sample_rate=24000)
    stage.played('turn-1-ack', Playback.FINISHED, first.text)
    stage.tell(SpeechChunk, turn_id=1, script_id='turn-1', last=True, sample_rate=24000)
    ros.wait(lambda: model.read_ahead)
    assert not node.history.lines, 'nothing was heard yet'
    (messages, stopped), = model.read_ahead
    assert messages[-2:] == (model.asked[0][-1], type(messages[-1])('assistant', reply.text)) and not stopped()

    stage.played('turn-1', Playback.PLAYING, 'That')
    stage.played('turn-1', Playback.FINISHED, 'as it was pronounced')
    ros.wait(lambda: node.history.lines)
    assert [line.text for line in node.history.lines] == ['I failed my driving test', reply.text]
    stage.says(2, 'The parking was hard', 'sad')
    stage.reply(2)
    assert stopped(), 'a visitor who speaks ends reading ahead'
    assert model.asked[1][:len(messages)] == messages, 'what was read ahead serves'


def test_of_an_interrupted_reply_only_what_was_heard_is_remembered(ros):
    node = ros.start(PlannerNode, composer='template')
    stage = Stage(ros, node)
    stage.says(1, 'My cat died this morning', 'sad')
    stage.reply(1)
    stage.played('say-1', Playback.FINISHED, 'An announcement')
    stage.played('turn-1', Playback.STOPPED, 'Your cat')
    ros.wait(lambda: node.history.lines)
    assert [line.text for line in node.history.lines] == ['My cat died this morning', 'Your cat']


def test_a_reply_that_was_cancelled_is_not_owed(ros):
    node = ros.start(PlannerNode, composer='template')
    stage = Stage(ros, node)
    cancel = ros.publisher(CompositeScript, 'script', RELIABLE)
    stage.says(1, 'Where is the lift please', 'neutral')
    stage.reply(1)
    cancel.publish(CompositeScript(turn_id=1, script_id='turn-1', complete=True))
    ros.wait(lambda: node.cancelled == 1)
    stage.says(2, 'My cat died this morning', 'sad')
    stage.reply(2)
    assert node.unheard == ['My cat died this morning']


def test_danger_brings_the_fixed_answer_at_once(ros):
    node = ros.start(PlannerNode, composer='template', help_line='Please call 000.')
    stage = Stage(ros, node)
    alarms = ros.hear(CareEvent, 'care_event', LATCHED)
    stage.says(1, 'I want to kill myself tonight', 'sad')
    reply = stage.reply(1)
    ros.wait(lambda: alarms)
    assert reply.composer == 'care' and 'Please call 000.' in reply.text
    assert all(script.script_id == 'turn-1' for script in stage.scripts), 'no "Oh." before it'
    event = alarms[-1]
    assert (event.kind, event.about, event.over, event.answer) == ('self_harm', 'you', False, reply.text)
    assert event.urgency in ('now', 'soon') and 0 < event.confidence <= 1

    stage.played('turn-1', Playback.FINISHED, reply.text)
    ros.wait(lambda: node.history.lines)
    stage.says(2, 'Yes', 'sad')
    assert stage.reply(2).composer == 'care', 'a short reply belongs to it'
    ros.publisher(String, 'visitor_reset', RELIABLE).publish(String())
    ros.wait(lambda: not node.planner.visit.care.on)
    stage.says(3, 'Yes', 'neutral')
    assert stage.reply(3).composer == 'template', 'the next visitor inherits nothing'


def test_what_helped_is_kept_where_the_operator_wants_it_and_wiped_when_told(ros, tmp_path):
    file = tmp_path / 'kept.sqlite'
    node = ros.start(PlannerNode, composer='template', memory__file=str(file))
    stage = Stage(ros, node)
    for turn_id, text, label in ((1, 'I lost my red umbrella in the big park', 'sad'),
                                 (2, 'You know what, it is fine now', 'happy')):
        stage.says(turn_id, text, label)
        reply = stage.reply(turn_id)
        stage.played(f'turn-{turn_id}', Playback.FINISHED, reply.text)
        ros.wait(lambda turn_id=turn_id: len(node.history.lines) == 2 * turn_id)
    kept = node.planner.visit.memory

    def found() -> bool:
        return any('umbrella' in item.said for item in kept.similar('We lost our blue umbrella near the park', 'sad'))

    ros.wait(found)
    assert file.exists()
    answer = ros.call(Trigger, 'wipe_memory', Trigger.Request())
    assert answer.success and 'deleted' in answer.message
    assert not found()


