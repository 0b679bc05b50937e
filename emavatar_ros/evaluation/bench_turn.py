"""`emavatar bench turn`: how long a visitor waits for the avatar, and what it costs.

The real graph in its own processes, real DDS, input in real time, the face drawn, models warm. The visitors are made
here: faces and voices of the project saying lines in several moods. The figures are those of contracts: medians over
the turns, in seconds after the visitor's last voiced sample.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from emavatar_ros.errors import Unavailable
from emavatar_ros.evaluation.sync import offsets
from emavatar_ros.evaluation.visitors import Line, record
from emavatar_ros.graph import NODES
from emavatar_ros.launching import Choices, keep_apart
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import read_audio
from emavatar_ros.up import Graph

READY_S = 180.0
"""Longest wait for all models to be loaded."""
ANSWER_S = 60.0
"""Longest wait for one whole reply."""
VOICED = 0.02
"""Part of a recording's loudest 20 ms above which its sound counts as voiced: the last such sample ends the speech."""

LINES = (
    Line('I failed my driving test again this morning.', 'sad', 'tomas'),
    Line('We just heard that our daughter got the job!', 'happy', 'mira'),
    Line('Great, another meeting.', 'sad', 'tomas'),
    Line('My train is cancelled and nobody tells me anything!', 'angry', 'mira'),
    Line('I have been waiting for my results all week.', 'fear', 'tomas'),
    Line('Where can I find the lift, please?', 'neutral', 'mira'),
    Line('Oh, I did not expect to see a talking face here!', 'surprised', 'tomas'),
    Line('My grandmother died last month and I miss her.', 'sad', 'mira'),
    Line('Someone spilled something horrible in the corridor.', 'disgusted', 'tomas'),
    Line('Today is my birthday, and the whole family is coming.', 'happy', 'mira'),
)


def memory(graph: Graph) -> int:
    """Bytes that the graph's processes hold together (PSS). Looking stops them for some tenths of a second."""
    total = 0
    for pid in graph.pids:
        try:
            total += psutil.Process(pid).memory_full_info().pss
        except psutil.Error:
            continue  # it ended between listing and looking
    return total


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of contracts' `turn`, and those behind them."""
    from emavatar_ros.nodes.visitor import Visitor

    keep_apart()
    with tempfile.TemporaryDirectory() as folder:
        recordings = [record(line, Path(folder) / f'{number}.mp4') for number, line in enumerate(LINES)]
        reply = Path(folder) / 'reply.mp4'
        choices = Choices(args.profile, record=str(reply), speaker='none', screen='none')
        nodes = [name for name in NODES if name not in ('camera', 'microphone')]
        turns, held = [], []
        with Graph(choices, nodes, log_level='warn') as graph, Visitor() as visitor:
            visitor.wait_ready(nodes, READY_S)
            for number, recording in enumerate(recordings):
                try:
                    turns.append(_turn(visitor, recording))
                    held.append(memory(graph))
                except Unavailable as error:
                    print(f'turn {number + 1}: {error}', file=sys.stderr)
                    continue
                print(f'turn {number + 1}: ' + ', '.join(f'{k} {v:.2f}' if isinstance(v, float) else f'{k} {v}'
                                                         for k, v in turns[-1].items()), file=sys.stderr)
            state = visitor.avatar
        if not turns:
            raise Unavailable('no turn was answered: look at the log above')
        composers = [turn['composer'] for turn in turns]
        return {
            'first_sound_s': statistics.median(turn['first_sound_s'] for turn in turns),
            'first_reply_s': statistics.median(turn['first_reply_s'] for turn in turns),
            'whole_turn_s': statistics.median(turn['whole_turn_s'] for turn in turns),
            'offset_p95_s': _offset(reply),
            'memory_bytes': max(held),
            'composer_share': {name: composers.count(name) / len(composers) for name in ('llm', 'template')},
            'turns': len(turns), 'unanswered': len(recordings) - len(turns), 'restarts': graph.restarts,
            'images_per_s': round(float(state.images_per_s), 1) if state else None,
            'size': f'{state.width}x{state.height}' if state else None,
            'renderer': state.renderer if state else None,
        }


def _turn(visitor: Any, recording: Path) -> dict[str, Any]:
    audio = read_audio(recording)
    seen, end = visitor.play(audio, recording, ANSWER_S)
    spoken = end - audio.seconds + voiced_end(audio)
    if seen.first_sample is None:
        raise Unavailable(f'no reply: {seen.dropped}')
    time.sleep(0.5)
    return {
        'first_sound_s': (seen.first_sound or seen.first_sample) - spoken,
        'first_reply_s': seen.first_sample - spoken,
        'whole_turn_s': seen.last_sample - spoken,
        'composer': seen.script.composer,
        'emotion': seen.emotion.label if seen.emotion else '',
        'transcript': seen.transcript is not None,
    }


def _offset(reply: Path) -> float | None:
    found = offsets(reply)
    return float(np.percentile(np.abs(found), 95)) if len(found) else None


def voiced_end(audio: Audio) -> float:
    """Seconds from the start to the last voiced sample."""
    samples = np.abs(audio.mono().samples)
    size = max(1, audio.rate // 50)
    level = samples[:len(samples) // size * size].reshape(-1, size).max(axis=1)
    loud = np.flatnonzero(level > VOICED * max(level.max(), 1e-6))
    return (int(loud[-1]) + 1) * size / audio.rate if len(loud) else audio.seconds
