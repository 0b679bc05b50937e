"""`emavatar bench`: how fast and how exact it is on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

from emavatar_ros.commands import Commands, add_profile, command

SUBJECTS: Final = {
    'turn': 'how long a visitor waits: the real graph, at least 10 turns, some minutes',
    'render': 'how many images of the face this machine draws in a second',
    'arbiter': 'how often each way to decide between the views is right',
    'perception': 'how right, how sure and how fast the views of a visitor are',
    'planner': 'how soon, how varied and how sound its replies to 200 lines are',
    'sync': 'how far lips and sound are apart in what is recorded',
}


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'bench', 'measure the system on this machine', run)
    subjects = parser.add_subparsers(title='subjects', metavar='SUBJECT', required=True, dest='subject')
    for name, help in SUBJECTS.items():
        subject = subjects.add_parser(name, help=help, description=f'Measure {help}.')
        if name in ('turn', 'perception', 'planner'):
            add_profile(subject)
        if name == 'arbiter':
            subject.add_argument('--scenes', type=Path, metavar='FILE', help='cases with a "truth", one a line')
            subject.add_argument('--seed', type=int, default=0, metavar='N', help='for the sampled cases (default: 0)')
        if name == 'perception':
            subject.add_argument('--data', required=True, metavar='DIR', help='folder with goemotions, emodb or faces '
                                 '(labels.csv: path,label) in it; a part that is not there is left out')
        if name == 'planner':
            subject.add_argument('--most', type=int, metavar='N', help='lines the language model is asked (default: 40 '
                                 'where it runs on this processor and takes seconds for each, else all)')
            subject.add_argument('--face', action='store_true', help='draw the face meanwhile, as on a kiosk')
        subject.add_argument('--json', action='store_true', help='one JSON object on standard output')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    figures = import_module(f'emavatar_ros.evaluation.bench_{args.subject}').run(args)
    if args.json:
        sys.stdout.write(json.dumps(figures, indent=1) + '\n')
    else:
        for name, value in figures.items():
            print(f'{name:24} {value:.3g}' if isinstance(value, float) else f'{name:24} {value}')
    return 0
