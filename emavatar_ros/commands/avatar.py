"""`emavatar avatar`: who there is, and a sheet of their faces."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from emavatar_ros.commands import Commands, command
from emavatar_ros.errors import BadInput


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'avatar', 'list the avatars, or draw a sheet of one', run)
    actions = parser.add_subparsers(title='actions', metavar='ACTION', required=True, dest='action')
    actions.add_parser('list', help='the avatars that can be used: name, languages, title',
                       description='The avatars that can be used: name, languages, title.')
    sheet = actions.add_parser('sheet', help='a picture of all expressions and mouth shapes',
                               description='Draw all expressions and mouth shapes of an avatar into one picture.')
    sheet.add_argument('name', metavar='NAME', help='a name from "emavatar avatar list", or a folder')
    sheet.add_argument('--out', type=Path, required=True, metavar='F.png', help='the picture to write')
    sheet.add_argument('--size', type=int, default=480, metavar='PX', help='size of one face in px (default: 480)')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros import avatars

    if args.action == 'list':
        known = [avatars.load(name) for name in avatars.names()]
        width = max((len(avatar.name) for avatar in known), default=0)
        for avatar in known:
            print(f'{avatar.name:{width}}  {", ".join(avatar.languages):8}  {avatar.title}')
        return 0
    if not 64 <= args.size <= 2048:
        raise BadInput(f'--size must be between 64 and 2048 px, not {args.size}')
    from emavatar_ros.face.sheet import sheet

    sheet(args.name, args.out, args.size)
    print(f'{args.out} written', file=sys.stderr)
    return 0
