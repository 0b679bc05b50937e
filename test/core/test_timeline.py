"""The views over a recording: events in order, nothing unsaid, a picture that shows them; bad input costs nothing."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from emavatar_ros import cli, picture, timeline
from emavatar_ros.deliberation.belief import Belief
from emavatar_ros.deliberation.deliberator import Deliberator
from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.colours import COLOURS
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.errors import Unavailable
from emavatar_ros.listening.listener import Listener, ListenerConfig
from emavatar_ros.listening.transcription import Transcription
from emavatar_ros.loading import Loading
from emavatar_ros.media import lettering
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import Image
from emavatar_ros.perception import whole
from emavatar_ros.senses import Input
from emavatar_ros.timeline import ORDER, Event, Models, Recording, Timeline


def found(view: str, label: str, sure: float = 0.8) -> Candidate:
    rest = (1 - sure) / 7
    return Candidate.of(view, 'script', Distribution.of([sure if name == label else rest for name in LABELS]), 'seen')


class Loud:
    """Voice activity: whatever is loud is speech."""

    def reset(self) -> None:
        pass

    def __call__(self, window: np.ndarray) -> float:
        return float(np.abs(window).max() > 0.1)


class Recogniser:
    name = 'script'

    def transcribe(self, audio: Audio, language: str | None = None, expected: str | None = None) -> Transcription:
        return Transcription('I lost my keys.', 'en', 0.9)


class Views:
    """All views of a script: the face smiles until second 2, then it can't be seen."""

    def __init__(self) -> None:
        self.stamps: list[float] = []

    def read(self, text: str, language: str, history: object) -> Candidate:
        return found('words', 'sad')

    def hear(self, audio: Audio, embedding: object) -> Candidate:
        return found('voice', 'sad', 0.6)

    def see(self, pixels: np.ndarray, stamp: float) -> None:
        self.stamps.append(stamp)

    def candidate(self, start: float, end: float) -> Candidate:
        assert max(self.stamps) < end + 1.5, 'what is to come was seen already'
        return found('face', 'happy') if end < 2 else Candidate.abstain('face', 'script', 'the face is turned away')


class Clip:
    """A video of grey images."""

    has_images, still = True, False

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def images(self, most: float | None = None):  # type: ignore[no-untyped-def]
        return (Image(np.full((60, 80, 3), 128, np.uint8), at / 8) for at in range(max(1, round(self.seconds * 8))))


def sound(*speech: tuple[float, float], seconds: float = 8.0) -> Audio:
    samples = np.full(round(16_000 * seconds), 1e-4, np.float32)
    for start, end in speech:
        at = np.arange(round(start * 16_000), round(end * 16_000))
        samples[at] = 0.5 * np.sin(at * 0.1)
    return Audio(samples, 16_000)


def run(audio: Audio | None, video: Clip | None, thumb: int = 0) -> tuple[list[Event], Timeline]:
    views = Views()
    listener = Listener(ListenerConfig(partial_every=0.0, zeros=0.0), Loud(), Recogniser()) if audio else None
    models = Models(Deliberator(), Belief(), whole.create(), listener, views, views, views if video else None)
    line = Timeline(models, Recording(Input(audio, video)), thumb)  # type: ignore[arg-type]
    return list(line.events()), line


def test_events_come_in_order_and_know_nothing_of_what_comes_later() -> None:
    events, _ = run(sound((1.0, 2.5), (5.0, 6.0)), Clip(8.0))
    assert [event.t for event in events] == sorted(event.t for event in events)
    assert all(0 <= event.start <= event.end <= event.t + 1e-9 and event.t <= 8.0 for event in events)
    spoken = [event for event in events if event.text is not None]
    assert [event.view for event in spoken] == [*ORDER, *ORDER]
    assert [round(event.start) for event in spoken[::len(ORDER)]] == [1, 5]
    seconds = [event for event in events if event.view == 'face' and event.text is None]
    assert [event.end for event in seconds] == pytest.approx(range(1, 9))
    assert [event.start for event in seconds] == pytest.approx(range(8))


def test_json_has_the_names_of_turn_json() -> None:
    events, _ = run(sound((1.0, 2.5)), Clip(5.0))
    for event in events:
        entry = json.loads(json.dumps(event.as_json(), allow_nan=False))
        assert entry['view'] in ORDER and ('reasons' in entry) == (entry['view'] == 'arbiter')
        if entry['view'] != 'arbiter' and entry['abstains']:
            assert entry['label'] is None and entry['distribution'] is None and entry['confidence'] == 0
            assert entry['reason']
        else:
            assert list(entry['distribution']) == list(LABELS)
            assert sum(entry['distribution'].values()) == pytest.approx(1, abs=1e-3)
        assert entry.get('text') in (None, 'I lost my keys.')


@pytest.mark.parametrize(('audio', 'video'), [(None, Clip(3.0)), (None, Clip(0.0)), (sound(seconds=3.0), None),
                                              (sound((1.0, 2.0), seconds=2.05), None)])
def test_every_view_speaks_or_says_why_not(audio: Audio | None, video: Clip | None) -> None:
    events, line = run(audio, video)
    assert {event.view for event in events} == set(ORDER)
    assert all(event.why for event in events if event.abstains)
    assert [event.t for event in events] == sorted(event.t for event in events)
    drawn = picture.draw(events, line.source.seconds, 'some.wav')
    assert drawn.dtype == np.uint8 and drawn.shape[2] == 3
    assert list(timeline.summary(events, line.source.seconds))


@pytest.mark.parametrize('strokes', [False, True])
def test_the_picture_shows_each_view_in_its_colour(strokes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if strokes:
        monkeypatch.setattr(lettering, 'typeface', lambda: None)
    events, line = run(sound((1.0, 2.5), (5.0, 6.0)), Clip(8.0), thumb=200)
    drawn = picture.draw(events, line.source.seconds, 'Überraschung – 驚き.mp4', line.shown)
    happy, sad = (picture._shade(Event(0, 0, 1, 'face', found('face', name))) for name in ('happy', 'sad'))
    for colour, least in ((happy, 40 * 150), (sad, 40 * 100), (picture.HATCH, 2000)):
        assert (drawn == np.array(colour, np.uint8)).all(axis=2).sum() > least, colour
    assert (drawn == 128).all(axis=2).sum() > 5000, 'no images along the top'
    assert len(COLOURS) == len(set(COLOURS.values())) and set(COLOURS) == {*LABELS, UNSURE}


def test_a_long_recording_is_a_picture_that_can_be_opened() -> None:
    one = run(sound((1.0, 2.5)), Clip(8.0))[0]
    many = [replace(event, t=event.t + at, start=event.start + at, end=event.end + at)
            for at in range(0, 600, 8) for event in one]
    assert max(picture.draw(many, 600.0, 'x' * 300).shape) < 16_000


@pytest.mark.parametrize('strokes', [False, True])
def test_lines_fit_their_room(strokes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if strokes:
        monkeypatch.setattr(lettering, 'typeface', lambda: None)
    text = 'Größe, naïve words and a Donaudampfschifffahrtsgesellschaftskapitänsmützenband'
    for room in (80, 200, 400):
        lines = lettering.fold(text, 17, room, 3)
        assert 1 <= len(lines) <= 3 and all(lettering.width(line, 17) <= room for line in lines)
    assert lettering.fold(text, 17, 5000, 3)[0] == text
    assert lettering.fold('', 17, 100, 3) == lettering.fold(text, 17, 3, 3) == []
    assert lettering.plain('Grüße – “né” 驚') == 'Gruesse - "ne" ?'


@pytest.mark.parametrize(('name', 'out'), [('none.mp4', 'a.png'), ('text.wav', 'a.png'), ('text.wav', ''),
                                           ('good.png', 'a.txt'), ('good.png', 'none/a.png'), ('good.png', '.'),
                                           ('good.png', './good.png')])
def test_bad_input_is_one_sentence_and_leaves_nothing(name: str, out: str, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch,
                                                      capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path('text.wav').write_text('no sound at all\n' * 50)
    assert cv2.imwrite('good.png', np.zeros((64, 64, 3), np.uint8))
    monkeypatch.setattr(timeline, 'load', lambda *_: pytest.fail('models were loaded'))
    before = sorted(tmp_path.iterdir())
    assert cli.main(['perceive', name, *(['--out', out] if out else ['--events'])]) == 2
    said = capfd.readouterr()
    assert said.out == '' and said.err.count('\n') == 1 and 'Traceback' not in said.err
    assert sorted(tmp_path.iterdir()) == before


def test_a_line_ends_where_nobody_speaks() -> None:
    said = [Event(end + 0.5, start, end, 'words', found('words', 'sad'), 'Hm.') for start, end in
            ((5.0, 7.0), (24.0, 27.0), (40.0, 41.0))]
    cuts = picture._cuts(said, 50.0)
    assert cuts[0] == 0 and cuts[-1] == 50 and cuts == sorted(cuts) and len(cuts) == 4
    assert not any(event.start < cut < event.end for event in said for cut in cuts)
    assert picture._cuts([], 0.0) == [0.0, 0.0] and picture._cuts([], 7.5) == [0.0, 7.5]


def test_an_utterance_of_a_whole_minute_is_drawn_on_every_line_it_lasts() -> None:
    events = [Event(60.0, 0.0, 60.0, view, found('voice', 'sad'), 'So long.') for view in ('words', 'voice')]
    drawn = picture.draw(events, 60.0, 'long')
    sad = (drawn == np.array(picture._shade(events[0]), np.uint8)).all(axis=2)
    assert (sad.sum(axis=1) > 1500).sum() > 2 * 3 * 20


def test_a_model_that_takes_for_ever_is_not_waited_for() -> None:
    loading, go_on = Loading(), threading.Event()
    loading.start('face', lambda: go_on.wait(20))
    with pytest.raises(Unavailable, match='face is not loaded'):
        loading.get('face', patience=0.01)
    go_on.set()
    assert loading.get('face', patience=20)
