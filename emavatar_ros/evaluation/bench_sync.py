"""`emavatar bench sync`: how far lips and sound are apart, on the stage itself, at several image rates.

The project's own voice speaks, the stage plays it in real time into its virtual speaker and draws the face with all
that belongs to it (a face that runs ahead, the drawing's own pace), and records what was shown and heard; the offset
is then measured on the recording (`sync.py`).
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np

from emavatar_ros import avatars
from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.errors import Missing, Unavailable
from emavatar_ros.evaluation.sync import offsets
from emavatar_ros.stage.drawing import Drawing
from emavatar_ros.stage.follower import Follower
from emavatar_ros.stage.playout import Chunk, Floor
from emavatar_ros.stage.quality import QualityConfig
from emavatar_ros.stage.settings import StageConfig
from emavatar_ros.stage.stage import Stage
from emavatar_ros.voice.speech import Speech

RATES: Final = (10, 15, 20, 30)
AHEAD: Final = 0.12
"""How long before they are seen the face states are made, as in the graph, s."""
STEP: Final = 1 / 60
TEXT: Final = ('My father told me about a boat by the harbour. We bought apples, and a bag of popcorn. '
               'Maybe somebody will open the window a bit. Tomorrow morning we all go home.')


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of contracts' `sync`; raises Missing when no voice can speak."""
    speech = list(_speech())
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for rate in RATES:
            file = Path(folder) / f'{rate}.mp4'
            perform(speech, file, rate)
            found[rate] = offsets(file)
    if not any(len(each) for each in found.values()):
        raise Unavailable('no offset could be measured: the machine is too busy to draw the face')
    return {
        'offset_p95_s': {str(rate): float(np.percentile(np.abs(each), 95)) if len(each) else None
                         for rate, each in found.items()},
        'offset_median_s': {str(rate): float(np.median(each)) if len(each) else None for rate, each in found.items()},
        'windows': {str(rate): len(each) for rate, each in found.items()},
    }


def perform(speech: Iterable[Speech], file: Path, rate: float, width: int = 640, height: int = 360) -> None:
    """Speak on a stage of our own at `rate` pictures a second and write the recording to `file`."""
    config = StageConfig(speaker='none', screen='none', width=width, height=height, record=str(file),
                         quality=QualityConfig(rate=rate, samples=0, adapt=False))
    stage, follower = Stage(config, time.monotonic), Follower()
    drawing = Drawing(config, stage, avatars.load(config.avatar), lambda: False, lambda *_: None)
    try:
        _follow(stage, follower, list(speech))
    finally:
        drawing.close()
        stage.close()
    if drawing.problem:
        raise Unavailable(drawing.problem)


def _follow(stage: Stage, follower: Follower, speech: list[Speech]) -> None:
    """Play it all, and steer the face as the graph's face node does."""
    stage.turn(1, Floor.AVATAR)
    follower.turn(1, Floor.AVATAR, stage.clock())
    for number, piece in enumerate(speech):
        chunk = Chunk(1, 'turn-1', number, number == len(speech) - 1, piece.audio, piece.phonemes, piece.text)
        stage.chunk(chunk)
        follower.chunk(chunk, stage.clock())
    end = stage.clock() + sum(piece.seconds for piece in speech) + 1.5
    pause = threading.Event()
    while stage.clock() < end:
        t = stage.clock()
        if follower.playback(stage.status(), t):
            for ahead in np.arange(STEP, AHEAD, STEP):
                stage.face(t + ahead, follower.at(t + ahead))
        stage.face(t + AHEAD, follower.at(t + AHEAD))
        pause.wait(STEP)


def _speech() -> Iterable[Speech]:
    """The text in the best voice there is."""
    avatar = avatars.load('mira')
    try:
        from emavatar_ros.voice import kokoro
        yield from kokoro.create(kokoro.Config(), avatar).speak(TEXT, Delivery(), 'en')
    except Missing:
        from emavatar_ros.voice import espeak
        yield from espeak.create(espeak.Config(), avatar).speak(TEXT, Delivery(), 'en')
