"""`emavatar bench perception --data DIR`: how right, how sure and how fast the views are.

DIR may hold (what is not there is null):
  goemotions/  test.tsv, labels.txt, mapping.json        the words view, over the classes of the mapping
  emodb/       03a01Fa.flac ...                           the voice view
  faces/       labels.csv (path,label) and the pictures   the face view's confidences
The words view has learned from GoEmotions' training part, not from its test part. The voice view has learned from
EMO-DB: each clip is judged by a head that never heard its speaker. How fast faces are seen is measured on two heads of
the project's own in pictures of 640x480, 15 a second.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros import avatars, profiles
from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.labels import LABELS, VIEWS
from emavatar_ros.errors import BadInput
from emavatar_ros.evaluation.calibration import calibration_error, macro_f1, reliability, table
from emavatar_ros.media.files import open_video, read_audio
from emavatar_ros.rooms import Rooms

PER_S: Final = 15.0
"""Pictures a second of a camera."""
WARM: Final = 20
PICTURES: Final = 150
EMODB: Final = {'W': 'angry', 'E': 'disgusted', 'A': 'fear', 'F': 'happy', 'N': 'neutral', 'T': 'sad'}


class Told:
    """What a view said of data whose truth is known."""

    def __init__(self) -> None:
        self.truth: list[str] = []
        self.said: list[str] = []
        self.sure: list[float] = []
        self.seconds: list[float] = []

    def add(self, truth: str, candidate: Candidate, seconds: float = 0.0) -> None:
        """One reading; a view that abstains is not right."""
        self.truth.append(truth)
        self.said.append(candidate.label or '')
        self.sure.append(candidate.confidence)
        self.seconds.append(seconds)

    @property
    def right(self) -> list[bool]:
        """Whether each reading was right."""
        return [truth == said for truth, said in zip(self.truth, self.said, strict=True)]

    @property
    def accuracy(self) -> float | None:
        """Share of right readings; None without any."""
        return sum(self.right) / len(self.right) if self.right else None

    @property
    def error(self) -> float | None:
        """Calibration error of the readings that named an emotion."""
        named = [(sure, right) for sure, right, said in zip(self.sure, self.right, self.said, strict=True) if said]
        return calibration_error([sure for sure, _ in named], [right for _, right in named])


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of contracts' `perception`."""
    data = Path(args.data)
    if not data.is_dir():
        raise BadInput(f'{data} is no folder: give one with goemotions, emodb or faces in it')
    rooms = Rooms(profiles.load(args.profile), avatars.load('mira'))
    found = told(rooms, data)
    words, voice, faces = found['words'], found['voice'], found['face']
    for name, readings in found.items():
        if readings.truth:
            for line in table(name, reliability(readings.sure, readings.right)):
                print(line, file=sys.stderr)
    rate, share = _speed(rooms)
    heard = sorted(set(words.truth), key=LABELS.index)
    ece: dict[str, float | None] = dict.fromkeys(VIEWS)
    ece |= {'words': words.error, 'voice': voice.error, 'face': faces.error}
    return {
        'words_macro_f1': macro_f1(words.truth, words.said, heard) if words.truth else None,
        'words_s': statistics.median(words.seconds) if words.truth else None,
        'voice_accuracy': voice.accuracy, 'voice_s': statistics.median(voice.seconds) if voice.truth else None,
        'face_accuracy': faces.accuracy, 'face_images_per_s': rate, 'face_cpu_share': share, 'ece': ece}


def told(rooms: Rooms, data: Path) -> dict[str, Told]:
    """What each view says of the data there is for it; nothing where there is none."""
    return {'words': _words(rooms, data / 'goemotions'), 'voice': _voice(rooms, data / 'emodb'),
            'face': _faces(rooms, data / 'faces')}


def _words(rooms: Rooms, folder: Path) -> Told:
    """Every test comment of exactly one of our emotions."""
    told = Told()
    if not (folder / 'test.tsv').is_file():
        return told
    names = (folder / 'labels.txt').read_text(encoding='utf-8').split()
    mapping = json.loads((folder / 'mapping.json').read_text(encoding='utf-8'))
    view = rooms.words()
    for line in (folder / 'test.tsv').read_text(encoding='utf-8').splitlines():
        text, numbers = line.split('\t')[:2]
        meant = {mapping[names[int(number)]] for number in numbers.split(',')}
        if len(meant) == 1:
            began = time.perf_counter()
            candidate = view.read(text, 'en')
            told.add(meant.pop(), candidate, time.perf_counter() - began)
    return told


def _voice(rooms: Rooms, folder: Path) -> Told:
    """Every clip as a stranger's first words, by what never heard this speaker."""
    from emavatar_ros.listening.recording import hear
    from emavatar_ros.perception.voice import encoder

    told = Told()
    clips = [path for path in sorted(folder.glob('*.flac')) if len(path.stem) > 5 and path.stem[5] in EMODB]
    if not clips:
        return told
    recogniser, activity = rooms.recogniser(), rooms.activity()
    views = {speaker: encoder.EncoderVoice(encoder.head() | without(speaker), encoder.Config())
             for speaker in {path.stem[:2] for path in clips}}
    for path in clips:
        view = views[path.stem[:2]]
        view.forget()
        said = hear(read_audio(path), activity, recogniser)
        began = time.perf_counter()
        candidate = (Candidate.abstain('voice', 'none', 'nobody speaks') if said is None
                     else view.hear(said.audio, said.embedding))
        told.add(EMODB[path.stem[5]], candidate, time.perf_counter() - began)
    return told


def without(speaker: str) -> dict[str, NDArray[np.float32]]:
    """The arrays in which a head that never heard this speaker of EMO-DB differs from the one that ships (made with it
    by tools/train_voice.py); none for somebody else, whom neither has heard."""
    with (files('emavatar_ros.evaluation') / 'data' / 'voice_folds.npz').open('rb') as file, \
            np.load(file, allow_pickle=False) as arrays:
        return {name.split('_', 1)[1]: arrays[name].astype(np.float32) for name in arrays
                if name.split('_', 1)[0] == speaker}


def _faces(rooms: Rooms, folder: Path) -> Told:
    """Every picture as somebody seen for the first time."""
    told = Told()
    if not (folder / 'labels.csv').is_file():
        return told
    view = rooms.face_view()
    with (folder / 'labels.csv').open(encoding='utf-8', newline='') as file:
        for row in csv.DictReader(file):
            if row.get('label') not in LABELS or not row.get('path'):
                raise BadInput(f'{folder}/labels.csv needs the columns path and label, and labels out of '
                               f'{", ".join(LABELS)}; not {row}')
            for image in open_video(folder / row['path']).images():
                view.see(image.pixels, image.stamp)
            told.add(row['label'], view.candidate(0.0, 0.0))
            view.forget()
    return told


def _speed(rooms: Rooms) -> tuple[float, float]:
    """Pictures a second that the face view can see, and the share of one core it takes at PER_S."""
    view = rooms.face_view()
    seen = pictures(WARM + PICTURES)
    for number, picture in enumerate(seen[:WARM]):
        view.see(picture, number / PER_S)
    wall, cpu = time.perf_counter(), time.process_time()
    for number, picture in enumerate(seen[WARM:], WARM):
        view.see(picture, number / PER_S)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return PICTURES / wall, cpu / (PICTURES / PER_S)


def pictures(count: int) -> list[NDArray[np.uint8]]:
    """Two heads side by side that live and move about, uint8 [480, 640, 3]."""
    from emavatar_ros.face.animator import Animator
    from emavatar_ros.face.renderer import Renderer

    halves = []
    for seed, name in ((1, 'mira'), (2, 'tomas')):
        # One after the other: a thread has one OpenGL context at a time.
        animator, renderer = Animator(seed), Renderer(avatars.load(name), 320, 480, samples=0)
        try:
            half = []
            for number in range(count):
                renderer.draw(animator.at(number / PER_S))
                half.append(renderer.read())
            halves.append(half)
        finally:
            renderer.close()
    return [np.ascontiguousarray(np.roll(np.hstack(both), round(12 * np.sin(number / 8)), axis=1))
            for number, both in enumerate(zip(*halves, strict=True))]
