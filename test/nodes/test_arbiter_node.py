"""The arbiter node: waits for the views, decides, says it again, forgets."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

from chat_server import Server, say

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.msg import EmotionCandidate, UserEmotion
from emavatar_ros.nodes.arbiter_node import ArbiterNode
from emavatar_ros.nodes.base import LATCHED, RELIABLE
from emavatar_ros.nodes.convert import candidate_message
from emavatar_ros.srv import ResetVisitor


def says(view: str, label: str, p: float = 0.8) -> Candidate:
    rest = (1 - p) / 7
    weights = dict.fromkeys(LABELS, rest)
    return Candidate.of(view, 'test', Distribution.from_mapping({**weights, label: p}), f'the {view} seem {label}')


def tell(publisher, candidate: Candidate, turn_id: int, at: float) -> None:
    publisher.publish(candidate_message(candidate, turn_id, 'somebody', at - 1, at))


def of_turn(heard: list, turn_id: int) -> list:
    return [message for message in heard if message.turn_id == turn_id]


def test_it_decides_when_all_views_have_spoken_and_carries_them(ros):
    node = ros.start(ArbiterNode, budget=10.0)
    heard = ros.hear(UserEmotion, 'user_emotion', LATCHED)
    out = ros.publisher(EmotionCandidate, 'candidates', RELIABLE)
    now = node.now()
    tell(out, says('words', 'happy'), 1, now)
    tell(out, says('voice', 'happy'), 1, now)
    tell(out, Candidate.abstain('face', 'test', 'no face was seen'), 1, now + 0.5)
    tell(out, Candidate.abstain('whole', 'none', 'no omni model is configured'), 1, now)
    ros.wait(lambda: of_turn(heard, 1))
    (message,) = of_turn(heard, 1)
    assert message.label == 'happy' and not message.conflict and not message.provisional
    assert {(c.view, c.label) for c in message.candidates} == {('words', 'happy'), ('voice', 'happy'), ('face', ''),
                                                               ('whole', '')}
    assert abs(sum(message.distribution) - 1) < 1e-3 and message.person_id == 'somebody'
    assert abs(message.header.stamp.sec + message.header.stamp.nanosec * 1e-9 - (now + 0.5)) < 1e-3


def test_a_missing_view_is_not_waited_for_past_the_budget_and_refines_later(ros):
    node = ros.start(ArbiterNode, budget=0.3)
    heard = ros.hear(UserEmotion, 'user_emotion', LATCHED)
    out = ros.publisher(EmotionCandidate, 'candidates', RELIABLE)
    tell(out, says('words', 'happy'), 3, node.now())
    ros.wait(lambda: of_turn(heard, 3))
    assert of_turn(heard, 3)[0].provisional and len(of_turn(heard, 3)[0].candidates) == 1
    tell(out, says('face', 'sad'), 3, node.now())
    ros.wait(lambda: len(of_turn(heard, 3)) == 2)
    assert of_turn(heard, 3)[1].conflict


def test_a_candidate_of_an_older_turn_is_counted_and_dropped(ros):
    node = ros.start(ArbiterNode, budget=0.1)
    heard = ros.hear(UserEmotion, 'user_emotion', LATCHED)
    out = ros.publisher(EmotionCandidate, 'candidates', RELIABLE)
    tell(out, says('words', 'sad'), 5, node.now())
    tell(out, says('words', 'happy'), 4, node.now())
    ros.wait(lambda: of_turn(heard, 5) and node.counts['candidates too late'] == 1)
    assert not of_turn(heard, 4)


def test_the_belief_is_repeated_and_forgotten_with_the_visitor(ros):
    node = ros.start(ArbiterNode, budget=0.1)
    heard = ros.hear(UserEmotion, 'user_emotion', LATCHED)
    out = ros.publisher(EmotionCandidate, 'candidates', RELIABLE)
    for view in ('words', 'voice', 'face'):
        tell(out, says(view, 'angry', 0.95), 1, node.now())
    ros.wait(lambda: any(m.turn_id == 0 and m.label == 'angry' for m in heard))
    assert ros.call(ResetVisitor, 'reset_visitor', ResetVisitor.Request()).success
    count = len(heard)
    ros.wait(lambda: any(m.label == 'unsure' for m in heard[count:]))


def test_an_unknown_or_wrong_parameter_leaves_the_node_unconfigured(ros):
    from rclpy.parameter import Parameter

    for name, value, said in (('bugdet', 1.0, "did you mean 'budget'"), ('fusion.least_margin', 7.0, 'between 0')):
        node = ros.add(ArbiterNode, parameter_overrides=[Parameter(name, value=value)])
        node.autostart()
        assert not node.active and said in node.problem, node.problem


def test_a_whole_number_is_accepted_where_a_real_one_is_declared(ros):
    from rclpy.parameter import Parameter

    node = ros.add(ArbiterNode, parameter_overrides=[Parameter('budget', value=1)])
    node.autostart()
    assert node.active and node.config.budget == 1.0


def disputed() -> list[Candidate]:
    """Praise over lowered brows and pressed lips, with what was measured."""
    return [says('words', 'happy'), replace(says('voice', 'neutral'), measures={'loudness_z': 1.0, 'pitch_z': 0.4}),
            replace(says('face', 'angry'), measures={'brow_lower': 0.5, 'lip_press': 0.45, 'mouth_smile': 0.05}),
            Candidate.abstain('whole', 'none', 'no omni model is configured')]


def test_a_conflict_is_asked_about_and_the_questions_are_published(ros):
    node = ros.start(ArbiterNode, budget=10.0)
    heard = ros.hear(UserEmotion, 'user_emotion', LATCHED)
    out = ros.publisher(EmotionCandidate, 'candidates', RELIABLE)
    for item in disputed():
        tell(out, item, 1, node.now())
    ros.wait(lambda: of_turn(heard, 1))
    (message,) = of_turn(heard, 1)
    assert (message.label, message.method, message.conflict) == ('angry', 'measured', True)
    assert message.questions and all(item.question and item.answer for item in message.questions)
    assert not message.provisional and message.latency < 1.0


def test_a_slow_judge_is_not_waited_for_and_heard_when_it_speaks(ros):
    server, go_on = Server(), threading.Event()
    answer = json.dumps({'shares': {'angry': 1.0}, 'evidence': 'the brows'})

    def script(send):
        go_on.wait(10)
        say(answer if 'You decide' in server.asked[-1]['messages'][0]['content'] else '{"ask": "brows"}')(send)

    server.script = script
    try:
        node = ros.start(ArbiterNode, budget=10.0, backend='llm', llm__openai__url=server.url,
                         deliberation__budget=0.2, deliberation__patience=15.0, deliberation__rounds=1)
        heard = ros.hear(UserEmotion, 'user_emotion', LATCHED)
        out = ros.publisher(EmotionCandidate, 'candidates', RELIABLE)
        for item in disputed():
            tell(out, item, 1, node.now())
        ros.wait(lambda: of_turn(heard, 1))
        assert of_turn(heard, 1)[0].provisional and not of_turn(heard, 1)[0].questions
        go_on.set()
        ros.wait(lambda: len(of_turn(heard, 1)) == 2)
        last = of_turn(heard, 1)[1]
        assert (last.label, last.method, last.provisional) == ('angry', 'llm', False) and last.questions
    finally:
        go_on.set()
        server.close()
