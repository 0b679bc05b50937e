"""`emavatar perceive`: what the views make of recordings, texts, or of whoever stands before this machine."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any

from emavatar_ros.commands import AVATAR, Commands, add_profile, command
from emavatar_ros.errors import BadInput

MORE = """\
FILE is a video, a sound file or a still picture; each is a visitor of its own, unless --same-visitor.
As it is: a picture of the four views over time (FILE.perceived.png, in this folder), and lines to read.
--json: one object for each input, in order: "path" or "text", then "transcript", "candidates" and "missing" as in
  turn.json; a bad one gives "path" or "text" and "error", and the exit code is 2 in the end.
--events: one object for each thing perceived, as soon as it is known and in order of "t", the second at which it is:
  t, start, end, view (face, words, voice, whole, arbiter), label, confidence, distribution, valence, arousal,
  abstains, reason (of the arbiter: reasons), and as in turn.json; text and language where it is about an utterance.
--live listens and looks until Ctrl-C. Nothing seen or heard is kept or written, unless --out asks for the picture."""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'perceive', 'what words, voice and face in recordings, texts or before the camera show: '
                     'a picture, or JSON lines', run, MORE)
    parser.add_argument('files', type=Path, metavar='FILE', nargs='*', help='any recording')
    parser.add_argument('--texts', type=Path, metavar='FILE', help='a text on each line, or {"text": ..., "history": '
                        '[{"role": "avatar", "text": ...}, ...], "language": "en"}; - for standard input')
    parser.add_argument('--live', action='store_true', help='the camera and the microphone of this machine')
    parser.add_argument('--json', action='store_true', help='one JSON object for each input')
    parser.add_argument('--events', action='store_true', help='one JSON object for each thing perceived, over time')
    parser.add_argument('--out', type=Path, metavar='PICTURE.png', help='the picture to write')
    parser.add_argument('--same-visitor', action='store_true', help='all files show one person, in order: how they '
                        'usually look and sound is learned on the way')
    parser.add_argument('--camera', default='', metavar='NAME', help='with --live: part of its name, its index, a '
                        'file, or none (default: the first)')
    parser.add_argument('--microphone', default='', metavar='NAME', help='with --live: likewise')
    parser.add_argument('--seconds', type=float, default=float('inf'), metavar='S', help='with --live: how long')
    add_profile(parser)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros import avatars, profiles
    from emavatar_ros.rooms import Rooms

    _check(args)
    rooms = Rooms(profiles.load(args.profile), avatars.load(AVATAR))
    if args.live:
        return _live(args, rooms)
    if args.texts is not None or args.json:
        return _each(args, rooms)
    return max(_over_time(args, rooms, path) for path in args.files)


def _check(args: argparse.Namespace) -> None:
    if (bool(args.files) + (args.texts is not None) + args.live) != 1:
        raise BadInput('give one of: FILE..., --texts FILE, --live')
    if args.json and args.events:
        raise BadInput('give --json or --events, not both')
    if args.json and args.live:
        raise BadInput('--json is for files and texts: with --live, use --events')
    if args.texts is not None and (args.events or args.out):
        raise BadInput('texts have no time: use --json, or nothing')
    if args.out is not None and (len(args.files) > 1 or args.json):
        raise BadInput('--out names the picture of one FILE or of --live, without --json')
    if not args.seconds > 0:
        raise BadInput('--seconds must be above 0')


def _each(args: argparse.Namespace, rooms: Any) -> int:
    """One line for each input."""
    from emavatar_ros import perceive
    from emavatar_ros.loading import Loading, Stopwatch
    from emavatar_ros.senses import Senses
    from emavatar_ros.textfile import read_lines

    senses = Senses(rooms, Stopwatch(Loading()))
    made = (perceive.recordings(senses, args.files, args.same_visitor) if args.texts is None
            else perceive.texts(senses, read_lines(args.texts)))
    bad = 0
    for entry in made:
        if args.json:
            print(json.dumps(entry, ensure_ascii=False, allow_nan=False), flush=True)
        else:
            for line in perceive.told(entry):
                print(line, flush=True)
        bad += 'error' in entry
    if bad:
        print(f'emavatar: {bad} of the inputs can\'t be used; see "error"', file=sys.stderr)
    return 2 if bad else 0


def _over_time(args: argparse.Namespace, rooms: Any, path: Path) -> int:
    """The picture, lines or events of one recording."""
    from emavatar_ros import picture, timeline
    from emavatar_ros.turn_input import recording

    out = args.out or (None if args.events else Path(f'{path.name}.perceived.png'))
    if out is not None:
        picture.check_path(out, path)
    try:
        given = recording(path)
    except BadInput as error:
        if len(args.files) == 1:
            raise
        print(f'emavatar: {error}', file=sys.stderr)
        return 2
    source = timeline.Recording(given)
    still = given.video is not None and given.video.still
    thumb = 0 if out is None else 2 * (picture.STILL if still else picture.THUMB)
    line = timeline.Timeline(timeline.load(rooms, source), source, thumb)
    events = list(_printed(line, args.events))
    if not args.events:
        for told in timeline.summary(events, source.seconds):
            print(told)
    if out is not None:
        picture.save(picture.draw(events, source.seconds, path.name, line.shown), out)
        print(f'{out} written', file=sys.stderr)
    return 0


def _live(args: argparse.Namespace, rooms: Any) -> int:
    """Whoever stands here, until Ctrl-C."""
    from emavatar_ros import live, picture, timeline

    def tell(problem: str) -> None:
        print(f'emavatar: {problem}', file=sys.stderr)

    if args.out is not None:
        picture.check_path(args.out, Path())
    source = live.Live(args.camera, args.microphone, args.seconds, tell)
    line = timeline.Timeline(timeline.load(rooms, source), source, 2 * picture.THUMB if args.out else 0)
    print('listening and looking; Ctrl-C ends it', file=sys.stderr)
    events: list[Any] = []
    try:
        with closing(_printed(line, args.events)) as made:
            for event in made:
                if args.out is not None:
                    events.append(event)
                if not args.events and (told := timeline.brief(event)):
                    print(told, flush=True)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    if args.out is not None:
        picture.save(picture.draw(events, source.seconds, 'live', line.shown), args.out)
        print(f'{args.out} written', file=sys.stderr)
    return 0


def _printed(line: Any, as_json: bool) -> Generator[Any, None, None]:
    for event in line.events():
        if as_json:
            print(json.dumps(event.as_json(), ensure_ascii=False, allow_nan=False), flush=True)
        yield event
