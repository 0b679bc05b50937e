"""`emavatar bench planner`: how soon the reply's first words are there, how varied replies are, how many are repaired.

Asked are 200 lines of the project's own (planner_inputs.tsv: 25 an emotion, said at receptions, stations, shops,
schools, banks and museums, a fifth of them Spanish), each as a visitor's first, the feeling as told. Backends:
template, and the profile's language model where it has one, with the bounds of its settings. A model on a processor
needs seconds for each, so it gets only some of the lines (`--most`), evenly spread and always the same. With `--face`
the real stage draws and records the avatar's face meanwhile, as fast as this machine can, as on a kiosk.

first_beat_s, whole_script_s: medians, from the final transcript and feeling. dist1, dist2: different words, pairs of
words, by all: of all replies together (corpus), and as the mean over replies (sentence). repaired: share of replies
that were written again or cut and rounded off. refused: share whose words the guard or the refiner refused for good.
fallbacks: share that the template answered for the model, those refused among them. Beyond contracts: in_time, the
share whose first beat was there within IN_TIME and wasn't a fallback; care, the share of fixed answers; the refiner's
mean scores; and how often what happened.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from emavatar_ros import avatars, profiles
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.launching import Choices, keep_apart
from emavatar_ros.plan import estimate
from emavatar_ros.planning import planner as planners
from emavatar_ros.planning.planner import Planner
from emavatar_ros.planning.rules import WORD
from emavatar_ros.planning.script import Script
from emavatar_ros.rooms import Rooms
from emavatar_ros.up import Graph
from emavatar_ros.voice.instruction import delivery

INPUTS: Final = 'planner_inputs.tsv'
STAGE: Final = ('face', 'stage')
"""The nodes that show a face."""
READY_S: Final = 60.0
IN_TIME: Final = 2.0
"""Seconds within which the model's first beat is wanted."""
MOST: Final = 40
"""Lines that a model on this computer's processor is asked."""
UNREPLACED: Final = frozenset(('the template composer is chosen', 'no language model'))
"""Why the template answers where nobody else was to."""
NOT_REFUSED: Final = frozenset(('late', 'unavailable', 'empty', 'nothing was said', 'the words give orders'))
"""Why the template answers for a model whose words nobody found bad."""


@dataclass(frozen=True)
class Answered:
    """One reply and how soon its first beat and its last were there, in seconds."""

    script: Script
    first_beat: float
    whole: float


@dataclass(frozen=True)
class Said:
    """One line of a visitor's. language: as a recogniser hears it, BCP 47."""

    emotion: str
    language: str
    text: str


def inputs() -> list[Said]:
    """The lines."""
    content = (files('emavatar_ros.evaluation') / INPUTS).read_text(encoding='utf-8')
    return [Said(*line.split('\t')) for line in content.splitlines() if line]


def some(lines: Sequence[Said], most: int) -> list[Said]:
    """At most so many of the lines, evenly spread over each emotion's."""
    by = [[line for line in lines if line.emotion == label] for label in LABELS]
    each = [max(1, most // len(LABELS)) + (number < most % len(LABELS) and most >= len(LABELS)) for number in
            range(len(LABELS))]
    counts = [min(count, len(group)) for count, group in zip(each, by, strict=True)]
    chosen = [group[step * len(group) // count] for group, count in zip(by, counts, strict=True)
              for step in range(count)]
    return chosen[:most]


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of contracts' `planner`, by backend."""
    if args.most is not None and args.most < 1:
        raise BadInput('--most must be at least 1')
    settings = profiles.load(args.profile)
    who = avatars.load('mira')
    rooms = Rooms(settings, who)
    config = rooms.config('planner')
    lines = inputs()
    figures = {'template': measure(planners.create(planners.Config(composer='template'), who.persona, None, delivery),
                                   lines)}
    if config.composer == 'llm':
        llm = rooms.llm()
        try:
            made = planners.create(config, who.persona, llm, delivery)
            made.warm_up(who.languages)
            most = args.most or (MOST if llm.resumes else len(lines))
            if most < len(lines):
                print(f'{llm.name}: {most} of the {len(lines)} lines; --most {len(lines)} asks all', file=sys.stderr)
            with face(args.profile) if args.face else nullcontext():
                figures[llm.name] = measure(made, some(lines, most), told=True)
        finally:
            llm.close()
    return figures


@contextmanager
def face(profile: str) -> Iterator[None]:
    """The face on a stage of its own while this lasts; raises Unavailable when it doesn't come up."""
    from emavatar_ros.nodes.visitor import Visitor

    keep_apart()
    with tempfile.TemporaryDirectory() as folder:
        choices = Choices(profile, record=str(Path(folder) / 'face.mp4'), speaker='none', screen='none')
        with Graph(choices, STAGE, log_level='warn'), Visitor() as visitor:
            visitor.wait_ready(STAGE, READY_S)
            yield
            if visitor.avatar is not None:
                print(f'meanwhile {visitor.avatar.images_per_s:.0f} images of the face a second were drawn',
                      file=sys.stderr)


def measure(planner: Planner, lines: Sequence[Said], told: bool = False) -> dict[str, Any]:
    """The figures of one planner over these lines. told: say on standard error how it gets on."""
    planner.counts.clear()
    answered = []
    for number, line in enumerate(lines, 1):
        answered.append(answer(planner, line))
        if told and sys.stderr.isatty():
            print(f'\r{number} of {len(lines)}', end='' if number < len(lines) else '\n', file=sys.stderr, flush=True)
    scripts = [entry.script for entry in answered]
    fallbacks = [script.fallback for script in scripts if script.composer == 'template' and not script.care
                 and script.fallback not in UNREPLACED]
    mended = sum(script.composer == 'llm' and bool(script.iterations or script.fallback) for script in scripts)
    replies = [tokens(script.text) for script in scripts]
    whys = Counter(fallbacks)
    return {
        'first_beat_s': statistics.median(entry.first_beat for entry in answered),
        'whole_script_s': statistics.median(entry.whole for entry in answered),
        'dist1_corpus': distinct(replies, 1), 'dist2_corpus': distinct(replies, 2),
        'dist1_sentence': statistics.mean(distinct([reply], 1) for reply in replies),
        'dist2_sentence': statistics.mean(distinct([reply], 2) for reply in replies),
        'repaired': mended / len(scripts),
        'refused': sum(count for why, count in whys.items()
                       if why not in NOT_REFUSED and not why.startswith('the model is not asked')) / len(scripts),
        'fallbacks': len(fallbacks) / len(scripts),
        'in_time': sum(entry.first_beat <= IN_TIME and entry.script.fallback not in whys for entry in answered)
        / len(scripts),
        'lines': len(scripts),
        'care': sum(bool(script.care) for script in scripts) / len(scripts),
        'scores': means(scripts), 'reasons': dict(sorted(planner.counts.items()))}


def answer(planner: Planner, line: Said) -> Answered:
    """One line answered as fast as the planner can."""
    planner.visit.forget()
    began = time.perf_counter()
    with closing(planner.plan(line.text, line.language, estimate(line.emotion))) as growing:
        script = next(growing)
        first = time.perf_counter() - began
        for script in growing:  # noqa: B007 (the last counts)
            pass
    return Answered(script, first, time.perf_counter() - began)


def tokens(text: str) -> list[str]:
    """The words of a reply in lower case, punctuation left out."""
    return [word.lower() for word in WORD.findall(text)]


def distinct(replies: Sequence[Sequence[str]], n: int) -> float:
    """Dist-n: different runs of n words among all of them, in [0, 1]; 0 without any."""
    runs = [run for reply in replies for run in _runs(reply, n)]
    return len(set(runs)) / len(runs) if runs else 0.0


def _runs(reply: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    yield from ((word,) for word in reply) if n == 1 else pairwise(reply)


def means(scripts: Sequence[Script]) -> dict[str, float | None]:
    """Each score's mean over the scripts that were judged."""
    found: dict[str, float | None] = {}
    for name in scripts[0].scores:
        told = [score for script in scripts if (score := script.scores[name]) is not None]
        found[name] = round(statistics.mean(told), 3) if told else None
    return found
