"""`emavatar demo`: a visitor meets the avatar through the real graph, and what happened is left in a folder.

The visitor is a recording (ours, or the user's), a typed line, or with --live whoever stands before this machine.
Separate processes and DDS as on a kiosk; the recording takes the place of camera and microphone on their topics.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from emavatar_ros import avatars, up
from emavatar_ros.commands import avatar_of
from emavatar_ros.devices import speakers
from emavatar_ros.errors import BadInput, Unavailable
from emavatar_ros.evaluation.visitors import Line, record
from emavatar_ros.graph import NODES
from emavatar_ros.launching import Choices, keep_apart
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import open_video, read_audio
from emavatar_ros.media.movie import Movie
from emavatar_ros.output import output_folder
from emavatar_ros.reply import MP4, WAV, Performed, write_wav
from emavatar_ros.senses import Perceived
from emavatar_ros.turn import turn
from emavatar_ros.turn_input import check
from emavatar_ros.turn_record import TurnRecord

if TYPE_CHECKING:
    from emavatar_ros.nodes.visitor import Seen

DEFAULT: Final = Line('Great, another meeting.', 'sad', 'tomas')
"""A real conflict: the words praise, the face and the voice do not."""
READY_S: Final = 180.0
ANSWER_S: Final = 90.0
"""Longest waits: for the models, and for the reply."""
CARD: Final = (640, 480)


def run(args: argparse.Namespace) -> int:
    """One visit; writes visitor.mp4, reply.mp4, reply.wav and turn.json to args.out, or runs live until Ctrl-C."""
    windowed = bool(os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY'))
    if args.live:
        if args.video or args.audio or args.text:
            raise BadInput('--live uses this machine\'s camera and microphone: leave out --video, --audio and --text')
        _tell('live: speak to the camera; Ctrl-C ends it')
        return up.run(Choices(args.profile, args.avatar, screen='window' if windowed else 'none'))
    if args.text is not None and (args.video or args.audio):
        raise BadInput('give either --text or a recording')
    Choices(args.profile, args.avatar).settings()  # a wrong name is told before a visitor is made
    with output_folder(args.out) as folder:
        audio, video = _visitor(args, folder / 'visitor.mp4')
        choices = Choices(args.profile, args.avatar, screen='window' if windowed else 'none',
                          speaker='' if windowed and speakers() else 'none', record=str(folder / MP4))
        seen = _meet(choices, audio, video, args.text, avatars.load(avatar_of(args)).languages[0])
        told = _record(seen, folder) if seen is not None else _without_words(args, folder)
        (folder / 'turn.json').write_text(told.dumps(), encoding='utf-8')
    if seen is None:
        _tell(told.summary(args.out))
    else:
        _report(seen, args.out)
    return 0


def _visitor(args: argparse.Namespace, movie: Path) -> tuple[Audio | None, Path | None]:
    """The visitor's sound and picture file; visitor.mp4 shows both."""
    if args.text is not None:
        if not args.text.strip() or len(args.text) > 2000:
            raise BadInput('--text needs 1 to 2,000 characters')
        _card(movie, args.text, Audio(np.zeros(2 * 24_000, np.float32), 24_000))
        return None, None
    if args.video is None and args.audio is None:
        _tell('making a visitor who says: ' + DEFAULT.text)
        record(DEFAULT, movie)
        return read_audio(movie), movie
    video = open_video(args.video) if args.video is not None else None
    if video is not None and not video.has_images:
        video, args.audio = None, args.audio or args.video
    if args.audio is not None:
        audio = read_audio(args.audio)
    elif video is not None and video.has_audio:
        audio = read_audio(args.video)
    else:
        raise BadInput(f'{args.video} has no sound, and nobody answers a silent visitor: add --audio or use --text')
    if video is None:
        _card(movie, 'a voice', audio)
        return audio, None
    _copy(args.video, audio, movie)
    return audio, args.video


def _meet(choices: Choices, audio: Audio | None, video: Path | None, text: str | None, language: str) -> Seen | None:
    """What the graph made of the visitor; None when it heard nobody speak. language: what a typed text is in, unless
    it looks like another."""
    from emavatar_ros.nodes.visitor import Unheard, Visitor

    keep_apart()
    nodes = [name for name in NODES if name not in ('camera', 'microphone')]
    with up.Graph(choices, nodes, log_level='warn'), Visitor() as visitor:
        _tell('starting the graph and loading the models')
        visitor.wait_ready(nodes, READY_S)
        _tell('the visitor speaks')
        try:
            seen = visitor.type(text, ANSWER_S, language) if text is not None else \
                visitor.play(audio, video, ANSWER_S)[0]
        except Unheard:
            return None
        seen.renderer = visitor.avatar.renderer if visitor.avatar is not None else ''
    if text is None and seen.dropped and seen.script is None:
        return None
    lost = [name for name in ('transcript', 'emotion', 'script', 'speech') if not getattr(seen, name)]
    if lost:
        raise Unavailable(f'the reply is not whole, there is no {lost[0]}: look at the log above, then try again')
    return seen


def _without_words(args: argparse.Namespace, folder: Path) -> TurnRecord:
    """The answer to a recording in which nobody speaks: a listening avatar owes none, one turn of its own gives it."""
    _tell('nobody was heard to speak; answering the recording as `emavatar turn` does')
    movie = folder / 'visitor.mp4'
    for path in set(folder.iterdir()) - {movie}:  # what the stage recorded of the silence
        path.unlink()
    given = args.video or args.audio
    return turn(check(audio=args.audio, video=args.video if given else movie, avatar=avatar_of(args),
                      profile=args.profile), folder)


def _record(seen: Seen, folder: Path) -> TurnRecord:
    """What the topics told, as turn.json has it; also writes reply.wav."""
    from emavatar_ros.nodes import convert
    from emavatar_ros.voice.speech import Phoneme

    assert seen.script is not None and seen.emotion is not None and seen.transcript is not None
    chunks = sorted(seen.speech, key=lambda chunk: chunk.chunk)
    pieces = [convert.speech(chunk) for chunk in chunks]
    rate = pieces[0].audio.rate
    phonemes: list[Phoneme] = []
    at = 0.0
    for piece in pieces:
        phonemes += [Phoneme(p.symbol, p.start + at, p.duration) for p in piece.phonemes]
        at += piece.seconds
    write_wav(folder / WAV, Audio(np.concatenate([piece.audio.samples for piece in pieces]), rate))
    movie = open_video(folder / MP4)
    took = {f'{trace.stage}.{trace.event}': float(trace.seconds) for trace in seen.traces}
    heard = convert.seconds(seen.transcript.end)
    first = seen.first_sample or heard
    timings = {
        'listening': took.get('listening.done', 0.0),
        'perception': max(took.get(f'{view}.done', 0.0) for view in ('words', 'voice', 'face')),
        'deliberation': took.get('deliberation.done', 0.0),
        'planning': took.get('planning.done', took.get('planning.fallback', 0.0)),
        'voice': took.get('speech.done', 0.0), 'face': 0.0,
        'total': (seen.last_sample or first) - heard, 'first_audio': first - heard}
    candidates = tuple(convert.candidate(message) for message in seen.emotion.candidates)
    models = {candidate.view: candidate.model for candidate in candidates if not candidate.abstains}
    planned = [trace.model for trace in seen.traces if trace.stage == 'planning' and trace.model]
    models.update(listening=seen.transcript.model, reply=planned[-1] if planned else seen.script.composer,
                  speech=chunks[0].voice, renderer=seen.renderer)
    performed = Performed(rate, at, tuple(phonemes), round(movie.fps, 2), movie.width, movie.height,
                          movie.count, seen.renderer, timings['voice'], timings['face'], first)
    perceived = Perceived(seen.transcript.text, seen.transcript.language, seen.transcript.confidence, candidates)
    return TurnRecord(perceived, convert.estimate(seen.emotion), convert.script(seen.script), performed, timings,
                      models)


def _copy(source: Path, audio: Audio, movie: Path) -> None:
    """The user's recording as visitor.mp4, upright and of a usual size."""
    video = open_video(source, longest=1280)
    with Movie(movie, video.width, video.height, max(1.0, min(60.0, video.fps or 25.0))) as out:
        for image in video.images():
            out.image(image.pixels, image.stamp)
        out.sound(audio.mono())


def _card(movie: Path, text: str, audio: Audio) -> None:
    """A visitor nobody saw: a calm card with a line of text, and the sound."""
    width, height = CARD
    card = np.full((height, width, 3), (226, 228, 230), np.uint8)
    words, lines = text.split(), ['']
    for word in words:
        if len(lines[-1]) + len(word) > 32:
            lines.append('')
        lines[-1] = f'{lines[-1]} {word}'.strip()
    for number, line in enumerate(lines[:8]):
        (wide, _), _ = cv2.getTextSize(line, cv2.FONT_HERSHEY_SIMPLEX, 0.9, 2)
        place = ((width - wide) // 2, height // 2 + 40 * number - 20 * min(len(lines), 8) + 30)
        cv2.putText(card, line, place, cv2.FONT_HERSHEY_SIMPLEX, 0.9, (70, 74, 80), 2, cv2.LINE_AA)
    with Movie(movie, width, height, 5.0) as out:
        for number in range(max(2, int(audio.seconds * 5))):
            out.image(card, number / 5)
        out.sound(audio.mono())


def _report(seen: Seen, out: Path) -> None:
    assert seen.script is not None and seen.emotion is not None and seen.transcript is not None
    print(f'heard:  {seen.transcript.text}')
    print(f'felt:   {seen.emotion.label} ({seen.emotion.confidence:.2f})'
          + (', the views disagreed' if seen.emotion.conflict else ''))
    for reason in seen.emotion.reasons:
        print(f'        {reason}')
    print(f'answer: {seen.script.text}')
    print(f'see {out}: visitor.mp4, {MP4}, turn.json')


def _tell(message: str) -> None:
    print(message, file=sys.stderr)
