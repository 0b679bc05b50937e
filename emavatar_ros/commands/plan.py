"""`emavatar plan`: what the avatar would answer to a line, how it would say it, and why."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from emavatar_ros.commands import Commands, add_avatar, add_profile, avatar_of, command

MORE = """\
Example: emavatar plan "My cat died this morning." --emotion sad
Shows the beats, each with its instruction and face; the chain of empathy; the refiner's scores (1 to 5, 4 is good
enough; - where nobody judged) and what was rewritten; whether text, voice and face agree; and times, with the models
loaded.
H.json: [{"role": "visitor" or "avatar", "text": "...", "emotion": "sad" or left out}, ...], oldest first."""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'plan', 'what the avatar answers to a line: words, instruction, expression, scores', run,
                     MORE)
    parser.add_argument('text', metavar='TEXT', help='what the visitor says (at most 2,000 characters)')
    parser.add_argument('--emotion', default='unsure', metavar='LABEL', help='what the visitor feels: angry, contempt, '
                        'disgusted, fear, happy, neutral, sad, surprised or unsure (default: unsure)')
    parser.add_argument('--conflict', action='store_true', help='the feeling is not what the words say: irony, brave '
                        'words')
    parser.add_argument('--history', type=Path, metavar='H.json', help='what was said before')
    parser.add_argument('--language', default='', metavar='TAG',
                        help='BCP 47, such as es (default: what the text seems to be in)')
    parser.add_argument('--composer', default='', metavar='WHO', help='llm or template (default: as the profile says)')
    add_avatar(parser)
    add_profile(parser)
    parser.add_argument('--json', action='store_true', help='one JSON object')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros import plan

    request = plan.check(args.text, emotion=args.emotion, conflict=args.conflict, history=args.history,
                         language=args.language, composer=args.composer, avatar=avatar_of(args), profile=args.profile)
    planned = plan.plan(request)
    if args.json:
        sys.stdout.write(json.dumps(planned.as_json(), indent=1, ensure_ascii=False, allow_nan=False) + '\n')
    else:
        print('\n'.join(planned.lines()))
    return 0
