"""`emavatar perceive`: what the views make of a recording, over its time."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from emavatar_ros.commands import Commands, add_profile, command

MORE = """\
FILE is a video, a sound file or a still picture. The face is judged every second, each utterance by all views together.
--json prints one object per line, as soon as it is known and in order of "t", the second at which it is known:
  t, start, end, view (face, words, voice, whole, arbiter), label, confidence, distribution, valence, arousal,
  abstains, reason (of the arbiter: reasons), and as in turn.json; text and language where it is about an utterance."""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'perceive', 'what face, words and voice in a recording show, over time: a picture, or '
                     'JSON lines', run, MORE)
    parser.add_argument('file', type=Path, metavar='FILE', help='any recording')
    parser.add_argument('--json', action='store_true', help='JSON lines on standard output; no picture without --out')
    parser.add_argument('--out', type=Path, metavar='PICTURE.png',
                        help="the picture to write (default: FILE's name and .perceived.png, in this folder)")
    add_profile(parser)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros import perceive, picture
    from emavatar_ros.turn_input import check

    out = args.out or (None if args.json else Path(f'{args.file.name}.perceived.png'))
    if out is not None:
        picture.check_path(out, args.file)
    request = check(video=args.file, profile=args.profile)
    models = perceive.load(request.rooms, request.audio, request.video)
    still = request.video is not None and request.video.still
    thumb = 0 if out is None else 2 * (picture.STILL if still else picture.THUMB)
    perception = perceive.Perception(models, request.audio, request.video, thumb)
    events = []
    for event in perception.events():
        events.append(event)
        if args.json:
            print(json.dumps(event.as_json(), ensure_ascii=False, allow_nan=False), flush=True)
    if not args.json:
        for line in perceive.summary(events, perception.seconds):
            print(line)
    if out is not None:
        picture.save(picture.draw(events, perception.seconds, args.file.name, perception.seen), out)
        print(f'{out} written', file=sys.stderr)
    return 0
