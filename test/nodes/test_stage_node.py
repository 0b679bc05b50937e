"""The stage plays what it is given and reports what was heard, shows the face, and falls silent when told to."""

from __future__ import annotations

import shutil
import time
from array import array
from pathlib import Path

import numpy as np
import pytest
from sensor_msgs.msg import Image

from emavatar_ros import avatars
from emavatar_ros.media.files import open_video, read_audio
from emavatar_ros.msg import AvatarState, CompositeScript, FaceState, Playback, SpeechChunk, Turn
from emavatar_ros.nodes.base import BEST_EFFORT, LATCHED, RELIABLE, SOUND
from emavatar_ros.nodes.convert import seconds, stamp
from emavatar_ros.nodes.speech_node import SpeechNode
from emavatar_ros.nodes.stage_node import StageNode
from emavatar_ros.srv import SetAvatar

SMALL = {'speaker': 'none', 'screen': 'none', 'width': 128, 'height': 96, 'quality__samples': 0}


def speech(number: int, length: float = 0.4, last: bool = False, turn: int = 1, script: str = 'turn-1') -> SpeechChunk:
    samples = 0.5 * np.sin(np.arange(round(24000 * length)) * 0.1)
    return SpeechChunk(turn_id=turn, script_id=script, chunk=number, last=last, sample_rate=24000, text='hello there',
                       samples=array('f', samples.astype(np.float32).tobytes()), expression='happy')


@pytest.fixture
def stage(ros, tmp_path: Path):
    return ros.start(StageNode, record=str(tmp_path / 'reply.mp4'), **SMALL)


def test_a_reply_is_played_reported_shown_and_recorded(ros, stage: StageNode, tmp_path: Path) -> None:
    played = ros.hear(Playback, 'playback', RELIABLE)
    states = ros.hear(AvatarState, 'avatar_state', LATCHED)
    images = ros.hear(Image, 'avatar/image', BEST_EFFORT)
    turns, chunks = ros.publisher(Turn, 'turn', LATCHED), ros.publisher(SpeechChunk, 'speech', SOUND)
    ros.wait(lambda: images)
    turns.publish(Turn(turn_id=1, state=Turn.AVATAR))
    ros.wait(lambda: states and states[-1].state == 'thinking')
    began = time.time()
    for number in range(3):
        chunks.publish(speech(number, last=number == 2))
    ros.wait(lambda: any(report.state == Playback.FINISHED for report in played))
    reports = [report for report in played if report.script_id == 'turn-1']
    first = next(report for report in reports if report.state == Playback.PLAYING)
    assert began < seconds(first.header.stamp) - first.position < began + 1.0
    for report in reports:  # one line of time: position and stamp run together
        if report.state == Playback.PLAYING:
            assert seconds(report.header.stamp) - report.position == pytest.approx(
                seconds(first.header.stamp) - first.position, abs=0.01)
    end = next(report for report in reports if report.state == Playback.FINISHED)
    assert end.position == pytest.approx(1.2, abs=0.01)
    assert end.heard == 'hello there hello there hello there'
    ros.wait(lambda: states[-1].state == 'idle')
    assert 'speaking' in [state.state for state in states]
    assert (states[-1].avatar, states[-1].width, states[-1].height) == ('mira', 128, 96)
    assert (images[-1].width, images[-1].height, images[-1].encoding) == (128, 96, 'rgb8')
    assert np.frombuffer(images[-1].data, np.uint8).std() > 10
    ros.wait(lambda: time.time() > seconds(end.header.stamp) + 1.0)
    stage.trigger_deactivate()
    sound, video = read_audio(tmp_path / 'reply.mp4'), open_video(tmp_path / 'reply.mp4')
    assert sound.seconds == pytest.approx(video.seconds, abs=0.4)
    assert np.abs(sound.mono().samples).max() == pytest.approx(0.5, abs=0.1)
    loud = np.flatnonzero(np.abs(sound.mono().samples) > 0.1) / sound.rate
    assert loud[-1] - loud[0] == pytest.approx(1.2, abs=0.05)


def test_an_interruption_is_silent_at_once_and_stays_so(ros, stage: StageNode) -> None:
    played = ros.hear(Playback, 'playback', RELIABLE)
    turns, chunks = ros.publisher(Turn, 'turn', LATCHED), ros.publisher(SpeechChunk, 'speech', SOUND)
    turns.publish(Turn(turn_id=1, state=Turn.AVATAR))
    chunks.publish(speech(0, 5.0))
    ros.wait(lambda: any(report.position > 0.2 for report in played))
    told = time.time()
    turns.publish(Turn(turn_id=1, state=Turn.INTERRUPTED))
    ros.wait(lambda: any(report.state == Playback.STOPPED for report in played))
    stopped = next(report for report in played if report.state == Playback.STOPPED)
    assert seconds(stopped.header.stamp) - told < 0.2
    assert 0.2 < stopped.position < 5.0
    turns.publish(Turn(turn_id=2, state=Turn.VISITOR))
    chunks.publish(speech(1, last=True))
    ros.wait(lambda: stage.stage.counts['late'] == 1)
    assert played[-1].state in (Playback.STOPPED, Playback.IDLE)


def test_a_cancelled_script_stops(ros, stage: StageNode) -> None:
    played = ros.hear(Playback, 'playback', RELIABLE)
    chunks, scripts = ros.publisher(SpeechChunk, 'speech', SOUND), ros.publisher(CompositeScript, 'script', RELIABLE)
    chunks.publish(speech(0, 5.0, last=True, script='say-1'))
    ros.wait(lambda: any(report.state == Playback.PLAYING for report in played))
    scripts.publish(CompositeScript(script_id='say-1', turn_id=1, complete=True, priority=128))
    ros.wait(lambda: any(report.state == Playback.STOPPED for report in played), 2.0)


def test_what_can_not_be_played_is_refused_and_the_stage_goes_on(ros, stage: StageNode) -> None:
    played = ros.hear(Playback, 'playback', RELIABLE)
    chunks, faces = ros.publisher(SpeechChunk, 'speech', SOUND), ros.publisher(FaceState, 'face_state', BEST_EFFORT)
    chunks.publish(SpeechChunk(turn_id=1, script_id='bad', sample_rate=0))
    broken = FaceState(yaw=float('nan'))
    broken.header.stamp = stamp(time.time() + 1)
    faces.publish(broken)
    ros.wait(lambda: stage.counts['refused'] == 2)
    chunks.publish(speech(0, last=True))
    ros.wait(lambda: any(report.state == Playback.FINISHED for report in played))


def test_another_avatar_comes_on_the_screen(ros, stage: StageNode) -> None:
    states = ros.hear(AvatarState, 'avatar_state', LATCHED)
    unknown = ros.call(SetAvatar, 'set_avatar', SetAvatar.Request(avatar='nobody'))
    assert not unknown.success
    assert 'tomas' in unknown.message
    assert ros.call(SetAvatar, 'set_avatar', SetAvatar.Request(avatar='tomas')).success
    ros.wait(lambda: states and states[-1].avatar == 'tomas', 60.0)


def test_a_folder_of_ones_own_comes_with_its_voice_and_a_broken_one_is_told(ros, stage: StageNode, tmp_path) -> None:
    mine, broken = (shutil.copytree(avatars.load('mira').folder, tmp_path / name) for name in ('mine', 'broken'))
    text = (mine / 'avatar.yaml').read_text()
    (mine / 'avatar.yaml').write_text(text.replace('title: Mira', 'title: Another'))
    (broken / 'face' / 'head.npz').unlink()
    speech = ros.start(SpeechNode, backend='espeak')
    first = speech.voice
    states = ros.hear(AvatarState, 'avatar_state', LATCHED)

    def choose(folder: Path) -> str:
        answer = ros.call(SetAvatar, 'set_avatar', SetAvatar.Request(avatar=str(folder)))
        assert answer.success
        return answer.message

    assert 'Another' in choose(mine)
    ros.wait(lambda: states and states[-1].avatar == str(mine), 60.0)
    ros.wait(lambda: speech.avatar == str(mine) and speech.voice is not first)
    second = speech.voice
    count = len(states)
    ros.wait(lambda: len(states) >= count + 3)  # told every second: the voice is made once
    assert speech.voice is second
    choose(broken)
    ros.wait(lambda: 'head.npz' in stage.drawing.problem)
    assert states[-1].avatar == speech.avatar == str(mine)
    choose(Path('tomas'))
    ros.wait(lambda: speech.avatar == states[-1].avatar == 'tomas' and not stage.drawing.problem, 60.0)
