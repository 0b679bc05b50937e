"""`emavatar demo`: a visitor meets the avatar, through the real graph."""

from __future__ import annotations

import argparse
from pathlib import Path

from emavatar_ros.commands import Commands, add_avatar, add_profile, command


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'demo', 'a visitor meets the avatar: the real graph, played or live', run,
                     'Without an option the visitor is one of our own faces, saying "Great, another meeting" and\n'
                     'looking miserable. DIR gets visitor.mp4, reply.mp4 and turn.json.')
    parser.add_argument('--live', action='store_true', help='use the camera, microphone and speaker of this machine')
    parser.add_argument('--video', type=Path, metavar='FILE', help='a recording of a visitor: its face, and its sound')
    parser.add_argument('--audio', type=Path, metavar='FILE', help="a recording of a visitor's voice")
    parser.add_argument('--text', metavar='TEXT', help='a line a visitor types')
    add_avatar(parser)
    add_profile(parser)
    parser.add_argument('--out', type=Path, default=Path('demo_output'), metavar='DIR',
                        help='folder for the results (default: demo_output)')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros import demo

    return demo.run(args)
