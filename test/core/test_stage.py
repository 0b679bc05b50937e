"""The stage's parts: quality that adapts, faces for a moment, what the avatar does, what is to be spoken, the mouth
that follows the sound, and a recording in step."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.errors import BadInput
from emavatar_ros.face.units import INDEX, FaceState, units
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import open_video, read_audio
from emavatar_ros.stage.activity import Activity
from emavatar_ros.stage.clock import Stretch
from emavatar_ros.stage.faces import Faces
from emavatar_ros.stage.follower import Follower
from emavatar_ros.stage.playout import Chunk, Floor, Playout, State, Status
from emavatar_ros.stage.quality import SEEN, Level, Quality, QualityConfig, ladder
from emavatar_ros.stage.recorder import Recorder
from emavatar_ros.stage.speaker_virtual import VirtualSpeaker
from emavatar_ros.stage.speaking import Line, Piece, Speaking, Wanted
from emavatar_ros.voice.speech import Phoneme, Speech

JAW = INDEX['jawOpen']


def pixels(level: Level) -> float:
    return (1 + level.samples) * level.height ** 2


def draw(quality: Quality, cost: float, t: float, seconds: float) -> float:
    """Draw for `seconds`; a picture takes `cost` seconds a pixel and sample."""
    end = t + seconds
    while t < end:
        takes, rate = cost * pixels(quality.level), quality.rate('speaking')
        quality.drawn(takes, t)
        t += max(takes, 1 / rate)
    return t


def test_quality_steps_down_soon_and_up_again_when_the_machine_is_free() -> None:
    quality = Quality(QualityConfig(), 720, 'Some GPU')
    assert quality.level == Level(720, 4)
    fast, slow = 0.002 / pixels(Level(720, 0)), 0.06 / pixels(Level(720, 0))
    t = draw(quality, slow, 0.0, 8.0)
    assert quality.level.height < 720
    assert slow * pixels(quality.level) * quality.rate('speaking') < 1
    t = draw(quality, fast, t, 60.0)
    assert quality.level == Level(720, 4)


def test_quality_does_not_swing_for_ever() -> None:
    quality = Quality(QualityConfig(), 720, 'Some GPU')
    draw(quality, 0.028 / pixels(Level(720, 0)), 0.0, 600.0)
    assert quality.changes < 30


def test_without_a_gpu_drawing_takes_a_share_of_one_core_that_is_smallest_while_models_work() -> None:
    quality = Quality(QualityConfig(), 720, 'llvmpipe')
    t, takes = 0.0, 0.02
    for _ in range(SEEN):
        quality.drawn(takes, t)
    shares = {what: quality.rate(what) * takes for what in ('speaking', 'idle', 'listening', 'thinking')}
    assert shares == pytest.approx({'speaking': 0.6, 'idle': 0.5, 'listening': 0.25, 'thinking': 0.12}, abs=1e-6)
    # ... and where that is too little for a moving face, smaller pictures are drawn.
    for _ in range(20 * SEEN):
        t += 0.05
        quality.drawn(3 * takes * pixels(quality.level) / pixels(Level(720, 0)), t)
    assert quality.level.height < 720


def test_without_a_gpu_fewer_pictures_are_drawn_while_models_work() -> None:
    quality = Quality(QualityConfig(), 720, 'llvmpipe (LLVM 15.0.6, 256 bits)')
    assert [quality.rate(what) for what in ('speaking', 'thinking')] == [30.0, 8.0]
    assert quality.level.samples == 0
    assert Quality(QualityConfig(), 720, 'NVIDIA GeForce').rate('thinking') == 30.0
    assert len(set(ladder(1080, 0))) == len(ladder(1080, 0))
    fixed = Quality(QualityConfig(adapt=False), 720, 'llvmpipe')
    assert not any(fixed.drawn(1.0, t) for t in range(3 * SEEN))


def face(jaw: float) -> FaceState:
    return FaceState(units(jawOpen=jaw), (jaw, 0.0, 0.0))


def test_faces_are_interpolated_replaced_and_calm_when_nobody_steers() -> None:
    faces = Faces()
    assert faces.at(1.0).units[JAW] < 0.1
    for k in range(5):
        faces.add(10 + 0.1 * k, face(0.2 * k))
    assert faces.at(10.15).units[JAW] == pytest.approx(0.3, abs=1e-5)
    assert faces.at(10.15).head[0] == pytest.approx(0.3)
    faces.add(10.2, face(1.0))  # a newer word about the same moment
    assert faces.at(10.3).units[JAW] == pytest.approx(1.0)
    faces.cut(10.1)
    assert faces.at(10.3).units[JAW] == pytest.approx(0.2)
    assert faces.at(12.0).units[JAW] < 0.1
    assert faces.at(12.0).units.shape == (52,)


def test_what_the_avatar_does() -> None:
    activity, states = Activity(), []
    playing = Status(0.0, State.PLAYING, 1, 'turn-1')
    for t, step in enumerate([
            lambda t: activity.turn(1, Floor.VISITOR, t), lambda t: activity.turn(1, Floor.AVATAR, t),
            lambda t: activity.update(playing, t)]):
        step(float(t))
        activity.update(playing if t == 2 else Status(t), float(t))
        states.append(activity.state)
    assert states == ['listening', 'thinking', 'speaking']
    assert not activity.acknowledging
    activity.update(Status(2.5, State.PLAYING, 1, 'turn-1-ack'), 2.5)
    assert activity.acknowledging and activity.state == 'speaking'
    assert activity.update(Status(3.0, State.FINISHED, 1, 'turn-1-ack'), 3.0)
    assert not activity.acknowledging
    assert activity.state == 'thinking'
    activity.update(Status(4.0, State.FINISHED, 1, 'turn-1'), 4.0)
    activity.update(Status(5.0), 5.0)
    assert (activity.state, activity.since) == ('idle', 4.0)
    activity.turn(2, Floor.AVATAR, 6.0)
    activity.update(Status(7.0), 7.0)
    assert activity.state == 'thinking'
    activity.update(Status(60.0), 60.0)
    assert activity.state == 'idle'
    activity.turn(3, Floor.AVATAR, 61.0)
    activity.update(Status(62.0, State.FINISHED, 3, 'say-1'), 62.0)
    assert activity.state == 'thinking'  # what an action said is no reply
    activity.over('turn-3', 3)
    activity.update(Status(63.0), 63.0)
    assert activity.state == 'idle'


def vowel_chunk(number: int, last: bool = False) -> Chunk:
    audio = Audio(np.zeros(16000, np.float32), 16000)
    return Chunk(1, 'turn-1', number, last, audio, (Phoneme('ɑ', 0.3, 0.4),), 'ah', 'happy')


def test_the_mouth_follows_what_is_heard_and_not_what_was_sent() -> None:
    speaker, follower = VirtualSpeaker(), Follower()
    playout = Playout(speaker, lead=0.1)
    for each in (playout, follower):
        each.turn(1, Floor.AVATAR, 100.0)
    for number in (0, 1):
        playout.chunk(vowel_chunk(number), 100.0)
        follower.chunk(vowel_chunk(number), 100.0)
    follower.playback(playout.at(100.0), 100.0)
    jaw = {round(t, 2): follower.at(t).units[JAW] for t in np.arange(100.0, 106.0, 0.05)}
    assert jaw[100.2] < 0.1 < jaw[100.6] > 0.3  # chunk 0 is heard from 100.1
    assert jaw[101.2] < 0.1 < jaw[101.6] > 0.3
    assert max(value for t, value in jaw.items() if t > 102.4) < 0.1
    follower.chunk(vowel_chunk(2, True), 103.0)  # it was late: the sound waits, and so does the mouth
    playout.chunk(vowel_chunk(2, True), 104.0)
    assert follower.playback(playout.at(104.0), 104.0)
    assert follower.at(104.5).units[JAW] > 0.3
    assert follower.turn(1, Floor.INTERRUPTED, 104.5)
    assert follower.at(104.65).units[JAW] < 0.05
    playout.turn(1, Floor.INTERRUPTED, 104.5)
    follower.playback(playout.at(104.52), 104.52)
    assert follower.at(104.8).units[JAW] < 0.05


class Words:
    """A voice that says each word in a second of silence."""

    name, rate = 'words', 8000

    def __init__(self) -> None:
        self.said: list[str] = []

    def speak(self, text: str, delivery: Delivery, language: str) -> Iterator[Speech]:
        if language != 'en':
            raise BadInput(f'this voice does not speak {language!r}')
        for word in text.split():
            self.said.append(word)
            yield Speech(Audio(np.zeros(8000, np.float32), 8000), (), word)

    def warm_up(self) -> None: ...


def wanted(*texts: str, turn: int = 1, complete: bool = False, priority: int = 128, script: str = '',
           language: str = 'en') -> Wanted:
    lines = tuple(Line(text, 'calm', 'sad') for text in texts)
    return Wanted(script or f'turn-{turn}', turn, priority, language, lines, complete, 0.0)


def texts(pieces: Iterator[Piece]) -> list[str]:
    return [piece.speech.text if piece.speech else '.' for piece in pieces]


def test_a_script_is_spoken_while_it_grows() -> None:
    speaking, voice = Speaking(lambda: 0.0), Words()
    speaking.script(wanted('a b'))
    assert texts(speaking.pieces(voice)) == ['a', 'b']
    speaking.script(wanted('a b', 'c'))
    growing = speaking.pieces(voice)
    assert next(growing).beat == 1
    speaking.script(wanted('a b', 'c', 'd', complete=True))
    assert texts(growing) == ['d', '.']
    speaking.script(wanted('a b', 'c', 'd', complete=True))
    assert texts(speaking.pieces(voice)) == []


def test_what_is_no_longer_wanted_is_not_spoken() -> None:
    speaking, voice = Speaking(lambda: 0.0), Words()
    speaking.turn(1, Floor.AVATAR)
    speaking.script(wanted('a b c', complete=True))
    pieces = speaking.pieces(voice)
    next(pieces)
    speaking.turn(2, Floor.VISITOR)
    assert texts(pieces) == []
    assert voice.said == ['a', 'b']  # the second word was under way
    speaking.script(wanted('late', complete=True))
    speaking.script(wanted('x y', turn=2, script='normal'))
    speaking.script(wanted('z', turn=2, script='urgent', priority=200, complete=True))
    assert texts(speaking.pieces(voice)) == ['z', '.']
    speaking.script(wanted('q r', turn=2, script='say', complete=True))
    pieces = speaking.pieces(voice)
    next(pieces)
    speaking.script(wanted(turn=2, script='say', complete=True))  # cancelled
    assert texts(pieces) == []
    speaking.script(wanted('nuq neH', turn=2, script='klingon', language='tlh', complete=True))
    assert texts(speaking.pieces(voice)) == ['.']
    assert 'tlh' in speaking.problem


def test_a_recording_keeps_both_tracks_together_over_its_cuts(tmp_path: Path) -> None:
    rate, fps = 16000, 20
    recorder = Recorder(tmp_path / 'r.mp4', 64, 48, fps, rate)
    for start in (100.0, 200.0):  # a flash and a click one second into each stretch; the pause between is cut out
        recorder.switch(True, start)
        for k in range(2 * fps):
            while recorder.waiting > 20:
                time.sleep(0.001)
            t = start + k / fps
            bright = 255 if 1.0 <= k / fps < 1.2 else 0
            recorder.image(np.full((96, 128, 3), bright, np.uint8), t)
            click = np.full(rate // fps, 0.8 if bright else 0.0, np.float32)
            recorder.sound(Stretch(0.0, t + 0.001 * (k % 3), 1 / fps, click))
        recorder.switch(False, start + 2.0)
        recorder.image(np.zeros((96, 128, 3), np.uint8), start + 3.0)
    recorder.close(300.0)
    assert (recorder.left_out, recorder.problem) == (0, '')
    images = list(open_video(tmp_path / 'r.mp4').images())
    flashes = [image.stamp for image in images if image.pixels.mean() > 128]
    audio = read_audio(tmp_path / 'r.mp4').mono()
    clicks = np.flatnonzero(np.abs(audio.samples) > 0.4) / rate
    for at in (1.0, 3.0):
        assert min(stamp for stamp in flashes if stamp > at - 0.5) == pytest.approx(at, abs=0.01)
        assert clicks[clicks > at - 0.5].min() == pytest.approx(at, abs=0.03)


def test_a_recording_that_can_not_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        Recorder(tmp_path / 'missing' / 'r.mp4', 64, 48, 20, 16000)
