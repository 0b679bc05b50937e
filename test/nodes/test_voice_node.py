"""The voice emotion node: a candidate for each turn, and running ones that are never taken for it."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.media.audio import Audio
from emavatar_ros.msg import AudioChunk, EmotionCandidate, Transcript
from emavatar_ros.nodes import voice_emotion_node
from emavatar_ros.nodes.base import RELIABLE
from emavatar_ros.nodes.convert import audio_chunk, seconds, stamp
from emavatar_ros.nodes.voice_emotion_node import VoiceEmotionNode

RATE = 16000


class Ear:
    """Hears happiness in everything, and remembers what it was given."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, bool, bool]] = []

    def hear(self, audio: Audio, embedding: np.ndarray | None, final: bool = True) -> Candidate:
        self.heard.append((audio.seconds, embedding is not None, final))
        if not len(audio.samples):
            return Candidate.abstain('voice', 'ear', 'nothing was said')
        return Candidate.of('voice', 'ear', Distribution.from_mapping({'happy': 1.0}), 'it sounds happy')

    def forget(self) -> None:
        self.heard.clear()


@pytest.fixture
def ear(monkeypatch) -> Ear:
    ear = Ear()
    monkeypatch.setattr(voice_emotion_node, 'chosen',
                        lambda config, name: (SimpleNamespace(create=lambda settings: ear), None))
    return ear


def said(turn: int, length: float, final: bool, embedding: bool = True) -> tuple[AudioChunk, Transcript]:
    """A turn's sound and transcript of its first `length` s."""
    at = time.time()
    sound = audio_chunk(np.full(round(length * RATE), 0.1, np.float32), RATE, at, turn, 'microphone')
    text = Transcript(turn_id=turn, text='so', final=final, start=stamp(at), end=stamp(at + length))
    text.embedding = [0.5] * 4 if embedding else []
    return sound, text


def test_running_candidates_come_while_somebody_speaks_and_the_turns_own_once_they_have_finished(ros, ear) -> None:
    ros.start(VoiceEmotionNode)
    heard = ros.hear(EmotionCandidate, 'candidates', RELIABLE)
    transcript = ros.publisher(Transcript, 'transcript', RELIABLE)
    so_far = ros.publisher(AudioChunk, 'utterance_so_far', RELIABLE)
    utterance = ros.publisher(AudioChunk, 'utterance', RELIABLE)
    for count, order in enumerate(((0, 1), (1, 0)), 1):  # the two topics come in either order
        made = said(3, float(count), final=False)
        for index in order:
            (so_far, transcript)[index].publish(made[index])
        ros.wait(lambda count=count: len(heard) == count)
        assert seconds(heard[-1].header.stamp) == pytest.approx(seconds(made[1].end))
    assert [(message.turn_id, message.label) for message in heard] == [(0, 'happy'), (0, 'happy')]
    sound, text = said(3, 3.0, final=True)
    transcript.publish(text)
    utterance.publish(sound)
    ros.wait(lambda: len(heard) == 3)
    assert (heard[2].turn_id, heard[2].label) == (3, 'happy')
    assert ear.heard == [(1.0, True, False), (2.0, True, False), (3.0, True, True)]


def test_a_late_sound_or_one_of_another_turn_makes_no_candidate(ros, ear) -> None:
    node = ros.start(VoiceEmotionNode)
    heard = ros.hear(EmotionCandidate, 'candidates', RELIABLE)
    transcript = ros.publisher(Transcript, 'transcript', RELIABLE)
    so_far = ros.publisher(AudioChunk, 'utterance_so_far', RELIABLE)
    utterance = ros.publisher(AudioChunk, 'utterance', RELIABLE)
    transcript.publish(said(4, 1.0, final=False)[1])
    ros.wait(lambda: node.text_so_far is not None)
    so_far.publish(said(3, 1.0, final=False)[0])
    ros.wait(lambda: node.sound_so_far is not None)
    sound, text = said(4, 2.0, final=True)
    utterance.publish(sound)
    transcript.publish(text)
    ros.wait(lambda: len(heard) == 1)
    so_far.publish(said(4, 1.0, final=False)[0])  # was still on its way when the turn ended
    transcript.publish(said(5, 0.0, final=True, embedding=False)[1])  # a typed line has no sound
    ros.wait(lambda: len(heard) == 2)
    assert [(message.turn_id, message.label) for message in heard] == [(4, 'happy'), (5, '')]
    assert ear.heard == [(2.0, True, True), (0.0, False, True)]
