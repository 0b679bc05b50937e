"""`emavatar say`: one avatar says a text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from emavatar_ros.commands import Commands, add_avatar, add_profile, avatar_of, command


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'say', 'an avatar says a text: reply.wav, reply.mp4 and say.json', run,
                     'Example: emavatar say "I am so sorry to hear that." --instruction "softly and slowly" --out said')
    parser.add_argument('text', metavar='TEXT', help='what to say (at most 2,000 characters)')
    parser.add_argument('--instruction', default='', metavar='I', help='how to say it, in words: "cheerful and quick"')
    parser.add_argument('--emotion', default='neutral', metavar='LABEL',
                        help='what the face shows: angry, contempt, disgusted, fear, happy, neutral, sad or surprised '
                        '(default: neutral)')
    parser.add_argument('--language', default='', metavar='TAG',
                        help='BCP 47, such as es (default: what the text seems to be in)')
    add_avatar(parser)
    add_profile(parser)
    parser.add_argument('--out', type=Path, metavar='DIR', required=True, help='folder for the results')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros.output import output_folder
    from emavatar_ros.say import check, say

    request = check(args.text, instruction=args.instruction, emotion=args.emotion, language=args.language,
                    avatar=avatar_of(args), profile=args.profile)
    with output_folder(args.out) as folder:
        seconds = say(request, folder)
    print(f'{args.out}: reply.wav, reply.mp4, say.json ({seconds:.1f} s of speech)', file=sys.stderr)
    return 0
