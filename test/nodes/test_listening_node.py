"""Typed lines become turns of the one who counts them: after who speaks, with numbers of their own."""

from __future__ import annotations

import time

import numpy as np
import pytest

from emavatar_ros.listening.listener import Listener, ListeningConfig
from emavatar_ros.listening.transcription import Transcription
from emavatar_ros.msg import AudioChunk, Transcript, Turn
from emavatar_ros.nodes import listening_node
from emavatar_ros.nodes.base import LATCHED, RELIABLE, SOUND
from emavatar_ros.nodes.convert import audio_chunk, seconds, stamp
from emavatar_ros.nodes.listening_node import ListeningNode

RATE = 16000


class Loudness:
    """Speech is whatever is loud."""

    name = 'loudness'

    def __call__(self, window: np.ndarray) -> float:
        return 0.9 if np.abs(window).mean() > 0.01 else 0.05

    def reset(self) -> None:
        pass


class Always:
    """Hears the same words in everything."""

    name = 'always'

    def warm_up(self) -> None:
        pass

    def transcribe(self, audio, language=None, expected=None) -> Transcription:
        return Transcription('It is over.', 'en', 0.9, np.ones(1024, np.float32))


@pytest.fixture
def node(ros, monkeypatch) -> ListeningNode:
    monkeypatch.setattr(listening_node, 'create', lambda config: Listener(ListeningConfig(), Loudness(), Always()))
    return ros.start(ListeningNode)


def line(text: str, **more) -> Transcript:
    now = stamp(time.time())
    return Transcript(text=text, start=now, end=now, **more)


class Microphone:
    """Sound without a gap, as fast as it can be taken."""

    def __init__(self, ros) -> None:
        self.publisher = ros.publisher(AudioChunk, 'microphone/audio', SOUND)
        self.at, self.sequence = 1000.0, 0

    def hear(self, seconds: float, loud: bool) -> None:
        for _ in range(round(seconds / 0.1)):
            level = 0.3 if loud else 1e-3
            samples = (level * np.sin(np.arange(RATE // 10))).astype(np.float32)
            self.publisher.publish(audio_chunk(samples, RATE, self.at, self.sequence, 'microphone'))
            self.at, self.sequence = self.at + 0.1, self.sequence + 1


def test_a_typed_line_is_a_turn(ros, node: ListeningNode) -> None:
    turns, heard = ros.hear(Turn, 'turn', RELIABLE), ros.hear(Transcript, 'transcript', RELIABLE)
    typed = ros.publisher(Transcript, 'typed', RELIABLE)
    others = ros.publisher(Turn, 'turn', LATCHED)
    first, second = line(' Where is the\n lift?'), line('Estoy muy triste por mi perro.', person_id='p7')
    typed.publish(first)
    ros.wait(lambda: len(heard) == 1 and len(turns) == 1)
    others.publish(Turn(turn_id=9, state=Turn.AVATAR))
    ros.wait(lambda: len(turns) == 2 and node.turn_id == 9)
    typed.publish(second)
    ros.wait(lambda: len(heard) == 2 and len(turns) == 3)
    assert [(turn.turn_id, turn.state, turn.person_id) for turn in (turns[0], turns[2])] == [
        (1, Turn.AVATAR, 'anonymous_speaker'), (10, Turn.AVATAR, 'p7')]
    assert (turns[0].start, turns[2].start) == (first.start, second.start)
    assert [(item.turn_id, item.text, item.language, item.final, item.model) for item in heard] == [
        (1, 'Where is the lift?', 'en', True, 'typed'), (10, second.text, 'es', True, 'typed')]


def test_it_waits_for_who_speaks(ros, node: ListeningNode) -> None:
    turns, heard = ros.hear(Turn, 'turn', RELIABLE), ros.hear(Transcript, 'transcript', RELIABLE)
    typed, microphone = ros.publisher(Transcript, 'typed', RELIABLE), Microphone(ros)
    microphone.hear(0.5, False)
    microphone.hear(2.0, True)
    ros.wait(lambda: any(turn.state == Turn.VISITOR for turn in turns))
    typed.publish(line('I lost my keys'))
    ros.wait(lambda: len(node.typed) == 1)
    assert all(turn.turn_id == 1 for turn in turns)
    microphone.hear(2.0, False)
    ros.wait(lambda: any(turn.turn_id == 2 for turn in turns) and len([item for item in heard if item.final]) == 2)
    assert [(turn.turn_id, turn.state) for turn in turns] == [(1, Turn.VISITOR), (1, Turn.AVATAR), (2, Turn.AVATAR)]
    assert [item.text for item in heard if item.final] == ['It is over.', 'I lost my keys']


def test_a_microphone_that_is_gone_holds_nobody_up(ros, node: ListeningNode, monkeypatch) -> None:
    monkeypatch.setattr(listening_node, 'GONE_S', 0.0)
    turns = ros.hear(Turn, 'turn', RELIABLE)
    typed, microphone = ros.publisher(Transcript, 'typed', RELIABLE), Microphone(ros)
    microphone.hear(1.0, True)
    ros.wait(lambda: any(turn.state == Turn.VISITOR for turn in turns) and not node.backlog)
    typed.publish(line('I lost my keys'))
    ros.wait(lambda: any(turn.turn_id == 2 for turn in turns))
    # Sound that was still on its way may open another turn.
    assert [turn.state for turn in turns[:3]] == [Turn.VISITOR, Turn.DROPPED, Turn.AVATAR]


@pytest.mark.parametrize('text', ['', ' \n', 'a' * 2001])
def test_what_is_no_line_is_refused(ros, node: ListeningNode, text: str) -> None:
    typed = ros.publisher(Transcript, 'typed', RELIABLE)
    typed.publish(line(text))
    ros.wait(lambda: node.counts['refused'] == 1)
    assert node.turn_id == 0


def test_what_was_heard_so_far_is_handed_out_with_each_partial_transcript(ros, node: ListeningNode, monkeypatch
                                                                          ) -> None:
    monkeypatch.setattr(listening_node, 'SO_FAR_S', 1.5)
    heard, sounds = ros.hear(Transcript, 'transcript', RELIABLE), ros.hear(AudioChunk, 'utterance_so_far', RELIABLE)
    microphone = Microphone(ros)
    microphone.hear(0.5, False)
    microphone.hear(3.0, True)
    ros.wait(lambda: len(sounds) >= 3 and len(heard) >= 3)
    assert [sound.sequence for sound in sounds[:3]] == [item.turn_id for item in heard[:3]] == [1, 1, 1]
    assert not any(item.final for item in heard[:3]) and all(len(item.embedding) == 1024 for item in heard[:3])
    for sound, text in zip(sounds, heard):
        end = seconds(sound.header.stamp) + len(sound.data) / 2 / RATE
        assert end == pytest.approx(seconds(text.end), abs=0.05)
    assert len(sounds[0].data) / 2 / RATE < 1.4 and len(sounds[2].data) / 2 / RATE == pytest.approx(1.5)
