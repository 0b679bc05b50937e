"""Goals: one at a time, the urgent first, none lost; what was heard and how it ended."""

from __future__ import annotations

import pytest

from emavatar_ros.errors import BadInput
from emavatar_ros.goal import Code, End, Goal, Outcome, Progress, Silence, Speak, Tell, Type, check
from emavatar_ros.goals import WAITING, Goals
from emavatar_ros.stage.playout import Floor, State, Status

HELLO = Goal('aaaaaaaa1', 'hello my dear friend')
LATER = Goal('bbbbbbbb2', 'come in')
URGENT = Goal('cccccccc3', 'leave the house', 200)
LINE = Goal('dddddddd4', 'I lost my keys', reply=True)


def status(goal: Goal | str, state: State, heard: str = '', queued: float = 1.0) -> Status:
    return Status(0.0, state, script_id=goal.script_id if isinstance(goal, Goal) else goal, heard=heard, queued=queued)


def of(deeds: list, kind: type) -> list:
    return [deed for deed in deeds if isinstance(deed, kind)]


def begun(deeds: list) -> list[tuple[str, int]]:
    return [(deed.key, deed.turn_id) for deed in of(deeds, Speak)]


def ended(deeds: list) -> dict[str, Outcome]:
    return {deed.key: deed.outcome for deed in of(deeds, End)}


def silenced(deeds: list) -> list[str]:
    return [deed.script_id for deed in of(deeds, Silence)]


@pytest.fixture
def goals() -> Goals:
    goals = Goals(20.0)
    goals.turn(3, Floor.AVATAR, 0.0)
    return goals


def asked(goals: Goals) -> None:
    """The line is typed, its turn is 4, its emotion is known and its reply begun."""
    assert of(goals.add(LINE, 1.0), Type) == [Type(LINE.key)]
    goals.turn(4, Floor.AVATAR, 1.1, LINE.key)
    goals.emotion(4, 1.5)
    goals.script('turn-4', 4, 128, 'That is bad.', False, 3.0)


@pytest.mark.parametrize(('text', 'emotion', 'says'), [
    ('', '', 'empty'), ('   \n', '', 'empty'), ('x' * 2001, '', '2,000'), ('hello', 'joyful', 'known: angry'),
])
def test_what_can_not_be_used_is_one_sentence(text: str, emotion: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        check(text, '', emotion)
    assert check(' hello\n there ', 'slow', 'happy') == 'hello there'


def test_a_text_is_said_and_told_word_by_word(goals: Goals) -> None:
    deeds = goals.add(HELLO, 1.0)
    assert begun(deeds) == [(HELLO.key, 3)]
    assert [deed.progress.stage for deed in of(deeds, Tell)] == ['synthesis']
    told = []
    for heard in ('', '', 'hello', 'hello my dear'):
        told += of(goals.playback(status(HELLO, State.PLAYING, heard), 2.0), Tell)
    assert [deed.progress for deed in told] == [
        Progress('playout', 0.0, 'hello'), Progress('playout', 0.25, 'my'), Progress('playout', 0.75, 'friend')]
    assert goals.busy
    assert ended(goals.playback(status(HELLO, State.FINISHED, HELLO.text), 3.0)) == {
        HELLO.key: Outcome(Code.ENOERR, '', HELLO.text, 3, HELLO.script_id)}
    assert not goals.busy


def test_a_second_goal_waits_and_is_said(goals: Goals) -> None:
    goals.add(HELLO, 1.0)
    assert goals.add(LATER, 1.0) == [Tell(LATER.key, Progress('waiting'))]
    goals.playback(status(HELLO, State.PLAYING, 'hello my'), 2.0)
    assert begun(goals.playback(status(HELLO, State.FINISHED, HELLO.text), 3.0)) == [(LATER.key, 3)]


def test_a_more_urgent_goal_takes_the_floor_and_what_was_heard_is_told(goals: Goals) -> None:
    goals.add(HELLO, 1.0)
    goals.playback(status(HELLO, State.PLAYING, 'hello'), 2.0)
    deeds = goals.add(URGENT, 2.0)
    assert silenced(deeds) == [HELLO.script_id] and begun(deeds) == [(URGENT.key, 3)] and not ended(deeds)
    outcome = ended(goals.playback(status(HELLO, State.STOPPED, 'hello my'), 2.1))[HELLO.key]
    assert (outcome.code, outcome.heard) == (Code.EINTR, 'hello my') and 'priority' in outcome.message


def test_the_waiting_go_by_urgency_then_by_age(goals: Goals) -> None:
    goals.turn(4, Floor.VISITOR, 0.5)
    for goal in (HELLO, LATER, Goal('eeeeeeee5', 'low', 10)):
        assert not of(goals.add(goal, 1.0), Speak)
    assert begun(goals.turn(4, Floor.AVATAR, 2.0)) == [(HELLO.key, 4)]
    assert ended(goals.cancel(LATER.key, 2.0))[LATER.key].code == Code.ECANCELED
    assert [deed.key[0] for deed in of(goals.playback(status(HELLO, State.FINISHED, 'all'), 3.0), Speak)] == ['e']


def test_the_urgent_does_not_wait_for_a_visitor(goals: Goals) -> None:
    goals.turn(4, Floor.VISITOR, 0.5)
    assert begun(goals.add(URGENT, 1.0)) == [(URGENT.key, 4)]


def test_a_floor_that_nobody_gives_back_holds_nothing_up_for_good(goals: Goals) -> None:
    goals.turn(3, Floor.INTERRUPTED, 0.5)
    assert not of(goals.add(HELLO, 1.0), Speak)
    assert begun(goals.tick(61.0)) == [(HELLO.key, 4)]


@pytest.mark.parametrize('played', [False, True])
def test_a_cancel_silences_and_ends(goals: Goals, played: bool) -> None:
    goals.add(HELLO, 1.0)
    if played:
        goals.playback(status(HELLO, State.PLAYING, 'hello'), 2.0)
    deeds = goals.cancel(HELLO.key, 2.0)
    assert of(deeds, Silence) == [Silence(HELLO.script_id, 3)]
    if played:
        assert not ended(deeds)
        deeds = goals.playback(status(HELLO, State.STOPPED, 'hello my'), 2.1)
    outcome = ended(deeds)[HELLO.key]
    assert (outcome.code, outcome.heard) == (Code.ECANCELED, 'hello my' if played else '')
    assert not goals.busy and not goals.cancel(HELLO.key, 3.0)


def test_without_the_stages_report_a_cancelled_goal_ends_all_the_same(goals: Goals) -> None:
    goals.add(HELLO, 1.0)
    goals.playback(status(HELLO, State.PLAYING, 'hello'), 2.0)
    goals.cancel(HELLO.key, 2.0)
    assert not ended(goals.tick(2.4))
    assert ended(goals.tick(2.6))[HELLO.key].heard == 'hello'


@pytest.mark.parametrize(('turn', 'floor', 'ends'), [
    (4, Floor.VISITOR, True), (3, Floor.INTERRUPTED, True), (4, Floor.AVATAR, True), (1, Floor.VISITOR, True),
    (4, Floor.DROPPED, False), (3, Floor.AVATAR, False), (3, Floor.IDLE, False),
])
def test_who_takes_the_floor_ends_what_was_not_yet_heard(goals: Goals, turn: int, floor: Floor, ends: bool) -> None:
    goals.add(HELLO, 1.0)
    outcomes = ended(goals.turn(turn, floor, 2.0))
    assert [outcome.code for outcome in outcomes.values()] == [Code.EINTR] * ends


@pytest.mark.parametrize(('queued', 'code'), [(0.1, Code.ENOERR), (1.0, Code.EINTR)])
def test_an_end_that_was_not_reported_is_inferred(goals: Goals, queued: float, code: Code) -> None:
    goals.add(HELLO, 1.0)
    goals.playback(status(HELLO, State.PLAYING, 'hello my dear', queued), 2.0)
    assert ended(goals.playback(status('turn-3', State.PLAYING), 2.1))[HELLO.key].code == code


def test_a_script_of_higher_priority_ends_a_low_one(goals: Goals) -> None:
    low = Goal('eeeeeeee5', 'by the way', 10)
    goals.script('turn-2', 3, 128, 'known before', False, 0.5)
    goals.add(low, 1.0)
    assert not ended(goals.script('turn-2', 3, 128, 'known before, longer', False, 1.5))
    assert ended(goals.script('turn-3', 3, 128, 'a reply', False, 2.0))[low.key].code == Code.EINTR


def test_what_the_voice_can_not_speak(goals: Goals) -> None:
    goals.add(HELLO, 1.0)
    assert ended(goals.playback(status(HELLO, State.FINISHED), 2.0))[HELLO.key].code == Code.ENOTSUP


def test_nothing_heard_is_an_error_but_not_while_others_are_heard(goals: Goals) -> None:
    goals.add(HELLO, 1.0)
    goals.playback(status('turn-3', State.PLAYING), 15.0)
    assert not ended(goals.tick(34.0))
    deeds = goals.tick(36.0)
    assert ended(deeds)[HELLO.key].code == Code.EOTHER and 'speech' in ended(deeds)[HELLO.key].message
    assert silenced(deeds) == [HELLO.script_id]


def test_a_full_queue_refuses(goals: Goals) -> None:
    goals.add(HELLO, 1.0)
    for number in range(WAITING):
        assert not ended(goals.add(Goal(f'{number:08}', 'x'), 1.0))
    assert ended(goals.add(URGENT, 1.0))[URGENT.key].code == Code.EOTHER
    assert len(ended(goals.close())) == WAITING + 1 and not goals.busy


def test_a_line_is_answered(goals: Goals) -> None:
    stages = [deed.progress.stage for deeds in (
        goals.add(LINE, 1.0), goals.turn(4, Floor.AVATAR, 1.1, LINE.key), goals.emotion(4, 1.5),
        goals.script('turn-4-ack', 4, 128, 'Oh.', False, 1.6),
        goals.playback(status('turn-4-ack', State.FINISHED, 'Oh.'), 2.0),
        goals.script('turn-4', 4, 128, 'That is bad.', False, 3.0),
        goals.playback(status('turn-4', State.PLAYING, 'That'), 4.0)) for deed in of(deeds, Tell)]
    assert stages == ['perception', 'deliberation', 'planning', 'synthesis', 'playout']
    told = of(goals.script('turn-4', 4, 128, 'That is bad. When did you see them?', False, 4.1), Tell)
    told += of(goals.playback(status('turn-4', State.PLAYING, 'That is bad. When'), 4.2), Tell)
    assert told[-1].progress == Progress('playout', 0.75, 'did') and told[0].progress.share >= 0.5
    outcome = ended(goals.playback(status('turn-4', State.FINISHED, 'That is bad. When did you see them?'), 6.0))
    assert outcome[LINE.key].code == Code.ENOERR and outcome[LINE.key].turn_id == 4


def test_a_reply_to_somebody_else_is_not_ours(goals: Goals) -> None:
    goals.add(LINE, 1.0)
    goals.script('turn-3', 3, 128, 'To another.', False, 1.0)
    goals.emotion(3, 1.0)
    assert not ended(goals.playback(status('turn-3', State.FINISHED, 'To another.'), 1.1))
    assert of(goals.turn(4, Floor.AVATAR, 1.2, LINE.key), Tell)[-1].progress.stage == 'deliberation'


def test_a_cancelled_line_is_not_answered(goals: Goals) -> None:
    asked(goals)
    deeds = goals.cancel(LINE.key, 3.5)
    assert silenced(deeds) == ['turn-4-ack', 'turn-4'] and ended(deeds)[LINE.key].code == Code.ECANCELED


def test_a_line_cancelled_before_it_has_a_turn_is_not_answered_later(goals: Goals) -> None:
    goals.add(LINE, 1.0)
    assert not silenced(goals.cancel(LINE.key, 1.5))
    assert silenced(goals.turn(4, Floor.AVATAR, 2.0, LINE.key)) == ['turn-4-ack', 'turn-4']


def test_a_reply_outlives_a_cough(goals: Goals) -> None:
    asked(goals)
    assert not ended(goals.turn(5, Floor.VISITOR, 3.5))
    assert not ended(goals.turn(5, Floor.AVATAR, 5.0))
    goals.turn(5, Floor.DROPPED, 5.2)
    goals.script('turn-5', 5, 128, 'That is bad.', False, 6.0)
    assert ended(goals.playback(status('turn-5', State.FINISHED, 'That is bad.'), 8.0))[LINE.key].turn_id == 5


def test_words_of_a_visitor_end_a_reply(goals: Goals) -> None:
    asked(goals)
    goals.turn(5, Floor.VISITOR, 3.5)
    assert not ended(goals.tick(30.0))
    goals.turn(5, Floor.AVATAR, 31.0)
    assert ended(goals.emotion(5, 31.5))[LINE.key].code == Code.EINTR


def test_a_reply_that_is_heard_ends_when_it_is_interrupted(goals: Goals) -> None:
    asked(goals)
    goals.playback(status('turn-4', State.PLAYING, 'That'), 4.0)
    goals.turn(4, Floor.INTERRUPTED, 4.5)
    assert ended(goals.playback(status('turn-4', State.STOPPED, 'That is'), 4.6))[LINE.key].heard == 'That is'


@pytest.mark.parametrize(('known', 'says'), [(0, 'listening'), (1, 'arbiter'), (2, 'planner')])
def test_who_is_missing_is_named(goals: Goals, known: int, says: str) -> None:
    goals.add(LINE, 1.0)
    for step in (lambda: goals.turn(4, Floor.AVATAR, 1.1, LINE.key), lambda: goals.emotion(4, 1.5))[:known]:
        step()
    outcome = ended(goals.tick(30.0))[LINE.key]
    assert outcome.code == Code.EOTHER and says in outcome.message
