"""Scripts are spoken beat by beat while they grow, in order, and not a word more once the floor is gone."""

from __future__ import annotations

import shutil

import pytest

from emavatar_ros.msg import Beat, CompositeScript, SpeechChunk, Turn, TurnTrace
from emavatar_ros.nodes.base import LATCHED, RELIABLE, SOUND
from emavatar_ros.nodes.speech_node import SpeechNode

pytestmark = pytest.mark.skipif(not shutil.which('espeak-ng'), reason='no espeak-ng here: apt-get install espeak-ng')

TEXTS = ('I am glad you told me.', 'That must have been hard.', 'Would you like to say more?')


def script(count: int, complete: bool = False, turn: int = 1, texts: tuple[str, ...] = TEXTS) -> CompositeScript:
    beats = [Beat(text=text, instruction='soothing', expression='sad') for text in texts[:count]]
    return CompositeScript(turn_id=turn, script_id=f'turn-{turn}', beats=beats, complete=complete, language='en',
                           priority=128)


def test_beats_are_spoken_as_they_come(ros) -> None:
    ros.start(SpeechNode, backend='espeak')
    heard, traces = ros.hear(SpeechChunk, 'speech', SOUND), ros.hear(TurnTrace, 'turn_trace', RELIABLE)
    scripts = ros.publisher(CompositeScript, 'script', RELIABLE)
    scripts.publish(script(1))
    ros.wait(lambda: heard)
    assert not heard[-1].last
    scripts.publish(script(2))
    scripts.publish(script(3, complete=True))
    ros.wait(lambda: heard[-1].last)
    assert [chunk.chunk for chunk in heard] == list(range(len(heard)))
    assert ' '.join(chunk.text for chunk in heard if chunk.text).split() == ' '.join(TEXTS).split()
    assert [chunk.beat for chunk in heard] == sorted(chunk.beat for chunk in heard)
    spoken = heard[:-1]
    assert all(chunk.phonemes and chunk.expression == 'sad' and chunk.turn_id == 1 for chunk in spoken)
    for chunk in spoken:
        last = chunk.phonemes[-1]
        assert last.start + last.duration <= len(chunk.samples) / chunk.sample_rate + 0.01
    ros.wait(lambda: {'first_chunk', 'done'} <= {trace.event for trace in traces if trace.stage == 'speech'})


def test_a_newer_turn_silences_the_rest(ros) -> None:
    node = ros.start(SpeechNode, backend='espeak')
    heard = ros.hear(SpeechChunk, 'speech', SOUND)
    scripts, turns = ros.publisher(CompositeScript, 'script', RELIABLE), ros.publisher(Turn, 'turn', LATCHED)
    scripts.publish(script(1, texts=('word ' * 200,)))
    ros.wait(lambda: heard)
    turns.publish(Turn(turn_id=2, state=Turn.VISITOR))
    ros.wait(lambda: not node.speaking.wanted('turn-1'))
    count = len(heard)
    scripts.publish(script(3, complete=True))
    scripts.publish(script(1, complete=True, turn=2))
    ros.wait(lambda: heard[-1].last and heard[-1].turn_id == 2)
    assert sum(chunk.turn_id == 1 for chunk in heard[count:]) <= 1  # the one that was being spoken
    assert len([chunk for chunk in heard if chunk.turn_id == 1]) < 40


def test_a_language_the_voice_does_not_speak_ends_the_script(ros) -> None:
    node = ros.start(SpeechNode, backend='espeak')
    heard = ros.hear(SpeechChunk, 'speech', SOUND)
    scripts = ros.publisher(CompositeScript, 'script', RELIABLE)
    message = script(1, complete=True)
    message.language = 'tlh'
    scripts.publish(message)
    ros.wait(lambda: heard and heard[-1].last)
    assert 'tlh' in node.problem
