"""Speech is played in order, on time, once, and not a moment longer than the avatar has the floor."""

from __future__ import annotations

import random

import numpy as np
import pytest

from emavatar_ros.media.audio import Audio
from emavatar_ros.stage.clock import Clock
from emavatar_ros.stage.heard import words_heard
from emavatar_ros.stage.playout import Chunk, Floor, Playout, State
from emavatar_ros.stage.speaker import Config
from emavatar_ros.stage.speaker_virtual import VirtualSpeaker
from emavatar_ros.voice.speech import Phoneme

LEAD = 0.08


def speech(number: int, seconds: float = 1.0, last: bool = False, turn: int = 1, script: str = '', text: str = 'one two'
           ) -> Chunk:
    samples = np.full(round(24000 * seconds), 0.1 * (number + 1), np.float32)
    return Chunk(turn, script or f'turn-{turn}', number, last, Audio(samples, 24000), (), text, 'happy')


@pytest.fixture
def speaker() -> VirtualSpeaker:
    return VirtualSpeaker(Config(), keep=True)


@pytest.fixture
def playout(speaker: VirtualSpeaker) -> Playout:
    playout = Playout(speaker, lead=LEAD)
    playout.turn(1, Floor.AVATAR, 0.0)
    return playout


def levels(speaker: VirtualSpeaker, until: float) -> list[float]:
    """The distinct levels heard, in order: which chunks were played."""
    heard = np.concatenate([stretch.samples for stretch in speaker.played(until)] or [np.zeros(0)])
    changes = [0, *(np.flatnonzero(np.diff(heard)) + 1)]
    return [round(float(heard[i]), 2) for i in changes] if len(heard) else []


def test_chunks_are_played_in_order_whatever_order_they_come_in(speaker: VirtualSpeaker, playout: Playout) -> None:
    for number in (2, 0, 0, 1, 2):
        playout.chunk(speech(number, 0.5, last=number == 2), 1.0)
    assert levels(speaker, 9.0) == [0.0, 0.1, 0.2, 0.3]
    assert playout.counts['twice'] == 2


def test_position_counts_the_sound_heard_and_waits_for_a_missing_chunk(playout: Playout) -> None:
    playout.chunk(speech(0, 1.0), 10.0)
    first = playout.at(10.0)
    assert (first.state, first.position) == (State.PLAYING, 0.0)
    assert first.stamp == pytest.approx(10.0 + LEAD)
    middle = playout.at(10.5 + LEAD)
    assert middle.position == pytest.approx(0.5)
    assert middle.queued == pytest.approx(0.5)
    dry = playout.at(12.0)
    assert (dry.state, dry.underruns) == (State.WAITING, 1)
    assert dry.position == pytest.approx(1.0)
    playout.chunk(speech(1, 1.0, last=True), 13.0)
    later = playout.at(13.25)
    assert (later.state, later.chunk, later.chunk_start) == (State.PLAYING, 1, pytest.approx(1.0))
    assert later.position == pytest.approx(1.25)
    end = playout.at(14.01)
    assert (end.state, end.heard) == (State.FINISHED, 'one two one two')
    assert playout.at(15.0).state == State.IDLE


@pytest.mark.parametrize(('turn', 'floor'), [(1, Floor.INTERRUPTED), (2, Floor.VISITOR), (2, Floor.INTERRUPTED)])
def test_an_interruption_silences_at_once_and_for_good(speaker: VirtualSpeaker, playout: Playout, turn: int,
                                                       floor: Floor) -> None:
    playout.chunk(speech(0, 2.0), 0.0)
    assert playout.at(1.0).state == State.PLAYING
    playout.turn(turn, floor, 1.0)
    stopped = playout.at(1.0)
    assert (stopped.state, stopped.heard) == (State.STOPPED, '')
    assert stopped.position == pytest.approx(1.0 - LEAD)
    playout.chunk(speech(1, 1.0, last=True), 1.1)
    playout.chunk(speech(0, 1.0, turn=1, script='another'), 1.1)
    assert playout.at(2.0).state == State.IDLE
    assert sum(stretch.seconds for stretch in speaker.played(9.0)) == pytest.approx(1.0, abs=1e-3)
    playout.turn(2, Floor.VISITOR, 2.0)
    playout.turn(2, Floor.AVATAR, 2.5)
    playout.chunk(speech(0, 1.0, last=True, turn=2), 3.0)
    assert playout.at(3.5).position == pytest.approx(0.5 - LEAD)


def test_a_turn_without_words_cuts_nothing(playout: Playout) -> None:
    playout.chunk(speech(0, 2.0, last=True), 0.0)
    playout.turn(2, Floor.DROPPED, 1.0)
    assert playout.at(1.5).state == State.PLAYING


def test_a_listening_node_that_starts_anew_is_followed(playout: Playout) -> None:
    playout.turn(40, Floor.AVATAR, 0.0)
    playout.chunk(speech(0, last=True, turn=40), 0.0)
    playout.at(5.0)
    playout.turn(1, Floor.AVATAR, 6.0)
    playout.chunk(speech(0, last=True, turn=1), 6.0)
    assert playout.at(6.5).state == State.PLAYING


def test_scripts_of_one_turn_follow_each_other(playout: Playout) -> None:
    playout.chunk(speech(0, 0.5, last=True, script='ack'), 0.0)
    playout.chunk(speech(0, 0.5, last=True, script='reply'), 0.1)
    assert playout.at(0.2).script_id == 'ack'
    assert playout.at(0.7).script_id == 'reply'
    assert playout.at(0.9 + LEAD).position == pytest.approx(0.2)


def test_a_script_the_voice_left_unfinished_gives_way(playout: Playout) -> None:
    playout.chunk(speech(0, 5.0, script='old'), 0.0)
    playout.chunk(speech(0, 1.0, last=True, script='new'), 1.0)
    assert playout.at(1.5).script_id == 'new'


def test_priority_and_cancel(playout: Playout) -> None:
    playout.script('normal', 1, 128, 0.0)
    playout.chunk(speech(0, 5.0, last=True, script='normal'), 0.0)
    playout.script('quiet', 1, 100, 1.0)
    assert playout.at(1.0).state == State.PLAYING
    playout.script('urgent', 1, 200, 1.5)
    assert playout.at(1.5).state == State.STOPPED
    playout.chunk(speech(0, 5.0, last=True, script='urgent'), 2.0)
    playout.script('urgent', 1, 200, 2.5, cancelled=True)
    assert playout.at(2.5).state == State.STOPPED
    assert not playout.busy


def test_a_chunk_that_never_comes_does_not_hold_the_floor(playout: Playout) -> None:
    playout.chunk(speech(1), 0.0)
    assert playout.at(10.0).state == State.WAITING
    assert playout.at(16.0).state == State.IDLE
    assert playout.counts['given up'] == 1


def test_whatever_happens_no_sound_plays_for_a_turn_that_is_over(speaker: VirtualSpeaker) -> None:
    random.seed(3)
    playout, t, turn, position = Playout(speaker), 0.0, 1, {}
    for _ in range(3000):
        t += random.random() * 0.3
        event = random.random()
        if event < 0.6:
            playout.chunk(speech(random.randrange(4), random.random(), random.random() < 0.3,
                                 turn=max(turn - random.randrange(2), 1)), t)
        elif event < 0.75:
            turn += random.randrange(2)
            playout.turn(turn, random.choice(list(Floor)), t)
        status = playout.at(t)
        if status.state in (State.PLAYING, State.WAITING):
            assert status.turn_id >= playout.turn_id
            assert status.position >= position.get(status.script_id, 0.0) - 1e-6
            position[status.script_id] = status.position
        speaker.played(t)
    assert len(position) > 20


def test_words_are_heard_when_their_sounds_are_over() -> None:
    phonemes = tuple(Phoneme('a', 0.5 + 0.1 * i, 0.1) for i in range(6))
    assert words_heard('abc def', phonemes, 2.0, 0.7) == ''
    assert words_heard('abc def', phonemes, 2.0, 0.82) == 'abc'
    assert words_heard('abc def', phonemes, 2.0, 1.1) == 'abc def'
    assert words_heard('', (), 0.0, 0.0) == ''
    assert words_heard('abc - def', (), 2.0, 1.0) == 'abc'


def test_the_clock_knows_what_is_heard_when_and_forgets_what_was_cut() -> None:
    clock = Clock(100, keep=True)
    clock.add(np.zeros(100, np.float32), 5.0, 5.0)
    clock.add(np.ones(100, np.float32), 7.0, 5.0)
    assert [clock.position(t) for t in (4.0, 5.5, 6.5, 7.25, 9.0)] == [0.0, 0.5, 1.0, 1.25, 2.0]
    assert [clock.when(place) for place in (0.5, 1.0, 2.0)] == [5.5, 7.0, None]
    assert clock.cut(7.5) == 1.5
    assert clock.position(9.0) == 1.5
    assert [len(stretch.samples) for stretch in clock.played(5.25)] == [25]
    assert [(stretch.when, len(stretch.samples)) for stretch in clock.played(9.0)] == [(5.25, 75), (7.0, 50)]
