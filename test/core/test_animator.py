"""The face over time: the same for the same events, smooth, alive, silent in silence, flat in memory."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from emavatar_ros.errors import BadInput
from emavatar_ros.face.animator import MODES, Animator
from emavatar_ros.face.life import Life
from emavatar_ros.face.units import INDEX, FaceState
from emavatar_ros.media.audio import Audio
from emavatar_ros.voice.speech import Phoneme, Speech

JAW = INDEX['jawOpen']
MOUTH = [k for name, k in INDEX.items() if name.startswith(('jaw', 'mouth', 'tongue'))]


def speech(sounds: int = 20) -> Speech:
    symbols = ['h', 'ə', 'l', 'ˈoʊ', 'm', 'ˈɑː', 'm', 'ə', 'tʃ', 'ˈuː']
    phonemes = tuple(Phoneme(symbols[k % 10], 0.03 + 0.09 * k, 0.09) for k in range(sounds))
    return Speech(Audio(np.zeros(int((0.09 * sounds + 0.2) * 24000), np.float32), 24000), phonemes, 'hello')


def told(seed: int = 3) -> Animator:
    face = Animator(seed)
    face.mode(0.0, 'listening')
    face.feel(1.0, 'sad', 0.8)
    face.look_at(1.5, 0.3, 0.05)
    face.mode(3.0, 'thinking')
    face.speak(5.0, speech(), 'concern')
    face.speak(5.0 + speech().seconds, speech(), 'happy')
    face.mode(10.0, 'idle')
    return face


def same(a: FaceState, b: FaceState) -> bool:
    return bool((a.units == b.units).all()) and (a.head, a.gaze, a.breath) == (b.head, b.gaze, b.breath)


def test_the_same_events_give_the_same_face_in_any_order_of_asking() -> None:
    times = list(np.arange(0, 14, 0.21))
    forward, backward = told(), told()
    there = [forward.at(t) for t in times]
    back = [backward.at(t) for t in reversed(times)][::-1]
    assert all(same(a, b) for a, b in zip(there, back, strict=True))
    assert not all(same(a, told(4).at(t)) for a, t in zip(there, times, strict=True))


def test_it_moves_without_jumps_and_stays_in_range() -> None:
    face = told()
    states = [face.at(t) for t in np.arange(0, 14, 1 / 60)]
    units = np.stack([state.units for state in states])
    assert units.dtype == np.float32 and units.shape[1] == 52 and units.min() >= 0 and units.max() <= 1.5
    assert np.abs(np.diff(units, axis=0)).max() < 0.3  # a lid is the fastest thing in a face
    head = np.array([state.head for state in states])
    assert np.abs(head).max() < 0.5 and np.abs(np.diff(head, axis=0)).max() < 0.03
    assert np.abs(np.array([state.gaze for state in states])).max() <= 0.6
    assert all(0 <= state.breath <= 1 for state in states)


def test_the_mouth_speaks_while_speech_is_heard_and_rests_otherwise() -> None:
    face = Animator()
    face.speak(2.0, speech(), 'neutral')
    end = 2.0 + speech().seconds
    jaw = {t: face.at(t).units[JAW] for t in np.arange(0, 6, 0.01)}
    assert max(value for t, value in jaw.items() if 2 < t < end) > 0.2
    assert max(value for t, value in jaw.items() if t < 2 or t > end) == 0


def test_silence_closes_the_mouth_at_once_and_drops_what_is_queued() -> None:
    face = Animator()
    face.speak(0.0, speech(), 'happy')
    face.speak(speech().seconds, speech(), 'happy')
    assert max(face.at(t).units[JAW] for t in np.arange(0.7, 0.8, 0.01)) > 0.1
    face.silence(0.75)
    assert face.at(0.75 + 0.1).units[JAW] == 0
    assert max(face.at(t).units[JAW] for t in np.arange(0.85, 6, 0.01)) == 0


def test_it_answers_a_feeling_turns_to_the_visitor_and_returns_to_rest() -> None:
    face = Animator()
    face.mode(0.0, 'listening')
    calm = face.at(0.9).units[INDEX['browInnerUp']]
    face.feel(1.0, 'sad', 0.9)
    assert face.at(2.0).units[INDEX['browInnerUp']] > calm + 0.3
    face.look_at(3.0, 0.4, 0.0)
    looked = face.at(5.0)
    assert looked.head[2] > 0.1 and looked.head[2] + looked.gaze[0] == pytest.approx(0.4, abs=0.06)
    face.reset(6.0)
    assert face.at(8.0).units[INDEX['browInnerUp']] < 0.1 and abs(face.at(9.5).head[2]) < 0.06


def test_events_of_an_hour_leave_memory_flat_and_a_face_is_quick() -> None:
    face, most = Animator(), 0
    for turn in range(600):
        now = turn * 6.0
        face.mode(now, 'listening')
        face.feel(now, ('sad', 'happy', 'angry')[turn % 3], 0.7)
        for k in range(5):
            face.look_at(now + k, 0.1 * math.sin(turn + k), 0.0)
        face.speak(now + 2, speech(), 'warm')
        face.at(now + 3)
        most = max(most, face.events)
    assert most < 150
    begin = time.process_time()
    for k in range(300):
        face.at(3600 + k / 60)
    assert (time.process_time() - begin) / 300 < 0.002


@pytest.mark.parametrize('mode', MODES)
def test_blinks_and_breath_are_like_a_persons(mode: str) -> None:
    life = Life(1)
    lids = np.array([life.blink(t, lambda _: mode) for t in np.arange(0, 300, 1 / 60)])
    begins = np.flatnonzero((lids[1:] > 0.5) & (lids[:-1] <= 0.5)) / 60
    gaps = np.diff(begins)
    assert 9 <= len(begins) / 5 <= 32 and lids.max() == pytest.approx(1, abs=0.02)
    assert gaps.std() / gaps.mean() > 0.3 and (gaps < 0.6).any()  # irregular, with double blinks
    breath = np.array([life.breath(t) for t in np.arange(0, 300, 0.05)])
    assert 12 <= ((breath[1:] > 0.5) & (breath[:-1] <= 0.5)).sum() / 5 <= 16


def test_nods_come_only_while_listening() -> None:
    life = Life(2)
    times = np.arange(0, 60, 1 / 30)
    assert max(life.nod(t, lambda _: 'listening') for t in times) > 0.03
    assert max(life.nod(t, lambda _: 'idle') for t in times) == 0


def test_unknown_names_are_refused() -> None:
    face = Animator()
    for call in (lambda: face.mode(0, 'asleep'), lambda: face.feel(0, 'bored', 1),
                 lambda: face.speak(0, speech(), 'bored')):
        with pytest.raises(BadInput, match=r'asleep|bored'):
            call()
