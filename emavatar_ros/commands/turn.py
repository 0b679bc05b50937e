"""`emavatar turn`: one turn of a conversation from files, without ROS."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from emavatar_ros.commands import Commands, add_avatar, add_profile, avatar_of, command

MORE = """\
Any of --audio, --video and --text may be missing, not all three. A video's own sound is used when there is no
--audio. DIR gets turn.json, reply.wav and reply.mp4, all of them or, on any error, none.
H.json: [{"role": "visitor" or "avatar", "text": "...", "emotion": "sad" or left out}, ...], oldest first."""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'turn', 'one turn from files, without ROS: what the visitor feels, and the answer',
                     run, MORE)
    parser.add_argument('--audio', type=Path, metavar='FILE', help='what the visitor said: wav, flac, mp3, m4a ...')
    parser.add_argument('--video', type=Path, metavar='FILE', help="the visitor's face: a video or a still picture")
    parser.add_argument('--text', metavar='TEXT', help='what the visitor said, in words (at most 2,000 characters)')
    parser.add_argument('--history', type=Path, metavar='H.json', help='what was said before')
    add_avatar(parser)
    add_profile(parser)
    parser.add_argument('--out', type=Path, metavar='DIR', required=True, help='folder for the results')
    parser.add_argument('--json', action='store_true', help='print turn.json to standard output as well')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros.output import output_folder
    from emavatar_ros.turn import turn
    from emavatar_ros.turn_input import check

    request = check(audio=args.audio, video=args.video, text=args.text, history=args.history, avatar=avatar_of(args),
                    profile=args.profile)
    with output_folder(args.out) as folder:
        result = turn(request, folder)
        text = result.dumps()
        (folder / 'turn.json').write_text(text, encoding='utf-8')
    print(result.summary(args.out), file=sys.stderr)
    if args.json:
        sys.stdout.write(text)
    return 0
