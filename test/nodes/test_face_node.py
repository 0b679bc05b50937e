"""The face runs ahead of the sound, moves its lips where words are heard, and closes them when it is interrupted."""

from __future__ import annotations

import time
from array import array

import numpy as np
import pytest
from geometry_msgs.msg import Vector3Stamped

from emavatar_ros.face.units import INDEX
from emavatar_ros.msg import FaceState, Phoneme, Playback, SpeechChunk, Turn
from emavatar_ros.nodes.base import BEST_EFFORT, LATCHED, RELIABLE, SOUND
from emavatar_ros.nodes.convert import seconds, stamp
from emavatar_ros.nodes.face_node import FaceNode

JAW = INDEX['jawOpen']


def test_lips_move_with_the_sound_and_stop_with_it(ros) -> None:
    ros.start(FaceNode)
    faces = ros.hear(FaceState, 'face_state', BEST_EFFORT)
    chunks, played = ros.publisher(SpeechChunk, 'speech', SOUND), ros.publisher(Playback, 'playback', RELIABLE)
    turns = ros.publisher(Turn, 'turn', LATCHED)
    ros.wait(lambda: len(faces) > 5)
    assert all(face.units[JAW] < 0.1 for face in faces)
    vowels = [Phoneme(symbol='ɑ', start=0.5 * k, duration=0.5) for k in range(20)]
    chunks.publish(SpeechChunk(turn_id=1, script_id='turn-1', last=True, sample_rate=8000, phonemes=vowels,
                               samples=array('f', bytes(4 * 80000)), text='ah', expression='happy'))
    start = time.time() + 0.5
    report = Playback(turn_id=1, script_id='turn-1', state=Playback.PLAYING, queued=10.0)
    report.header.stamp = stamp(start)
    turns.publish(Turn(turn_id=1, state=Turn.AVATAR))
    time.sleep(0.1)
    played.publish(report)
    ros.wait(lambda: seconds(faces[-1].header.stamp) > start + 0.6)
    before = [face.units[JAW] for face in faces if seconds(face.header.stamp) < start - 0.15]
    during = [face.units[JAW] for face in faces if seconds(face.header.stamp) > start + 0.3]
    assert max(before) < 0.1
    assert min(during) > 0.3
    turns.publish(Turn(turn_id=1, state=Turn.INTERRUPTED))
    told = time.time()
    ros.wait(lambda: faces[-1].units[JAW] < 0.05)
    assert time.time() - told < 0.5


def test_it_looks_at_the_visitor(ros) -> None:
    ros.start(FaceNode)
    faces = ros.hear(FaceState, 'face_state', BEST_EFFORT)
    where = ros.publisher(Vector3Stamped, 'visitor_direction', RELIABLE)
    message = Vector3Stamped()
    message.vector.x, message.vector.y, message.vector.z = 1.0, 0.5, 0.0
    where.publish(message)
    ros.wait(lambda: faces and np.mean([face.yaw + face.gaze_yaw for face in faces[-5:]]) > 0.3)
    assert seconds(faces[-1].header.stamp) == pytest.approx(time.time() + 0.12, abs=0.3)
