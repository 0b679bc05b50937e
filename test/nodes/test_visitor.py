"""The visitor of the demo and the bench: which turn is the answer to what it played, and typed lines that arrive."""

from __future__ import annotations

import pytest

from emavatar_ros.errors import Unavailable
from emavatar_ros.msg import CompositeScript, Transcript, UserEmotion
from emavatar_ros.nodes import visitor
from emavatar_ros.nodes.base import RELIABLE
from emavatar_ros.nodes.visitor import DROPPED_S, Seen, Visitor, newest, settled


def heard(number: int, **more) -> Seen:
    return Seen(number, transcript=Transcript(turn_id=number, text='hello'), emotion=UserEmotion(label='sad'), **more)


def reply(number: int) -> dict:
    return {'script': CompositeScript(turn_id=number), 'first_sample': 1.0, 'last_sample': 2.0}


@pytest.mark.parametrize(('turns', 'over'), [
    ([], False),
    ([heard(3)], False),
    ([heard(3, **reply(3))], True),
    ([heard(3, script=CompositeScript())], False),
    ([Seen(3, dropped='noise', dropped_at=0.0)], True),
    ([Seen(3, dropped='noise', dropped_at=1.0)], False),
    # The reply to turn 3 is still owed, is under way, or was heard.
    ([heard(3), Seen(4, dropped='noise')], False),
    ([heard(3), Seen(4, dropped='noise', script=CompositeScript())], False),
    ([heard(3), Seen(4, dropped='noise', **reply(4))], True),
    ([heard(3, **reply(3)), Seen(4, dropped='noise')], True),
    ([heard(3, **reply(3)), Seen(4)], False),
])
def test_a_dropped_turn_is_no_end_while_a_reply_may_come(turns: list[Seen], over: bool) -> None:
    told = {1: heard(1, **reply(1)), **{seen.turn_id: seen for seen in turns}}
    assert settled(told, 1, DROPPED_S + 0.5) is over


def test_the_newest_answer_counts_with_what_was_heard_before() -> None:
    turns = {1: heard(1, **reply(1)), 3: heard(3), 4: Seen(4, dropped='noise', **reply(4)), 5: Seen(5, dropped='noise')}
    found = newest(turns, 1)
    assert found.turn_id == 4
    assert found.transcript.turn_id == 3 and found.emotion.label == 'sad'
    assert newest({3: Seen(3, dropped='noise')}, 1).transcript is None


def test_a_typed_line_waits_for_the_graph_and_has_its_language(ros) -> None:
    lines = ros.hear(Transcript, 'typed', RELIABLE)
    with Visitor() as mine:
        for text in ('Where is the lift, please?', 'Estoy muy triste por mi perro.'):
            with pytest.raises(Unavailable):
                mine.type(text, 0.0)
    ros.wait(lambda: len(lines) == 2)
    assert [line.language for line in lines] == ['en', 'es']


def test_silence_is_told_soon(ros, monkeypatch) -> None:
    monkeypatch.setattr(visitor, 'QUIET_S', 0.2)
    with Visitor() as mine, pytest.raises(visitor.Unheard):
        mine.play(None, None, 60.0)
