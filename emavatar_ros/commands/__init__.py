"""The commands of `emavatar`, one file each: `add(commands)` declares the arguments, `run(args)` does it.

A command's own imports are inside `run`, so that `emavatar --help` needs none of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Commands = argparse._SubParsersAction

PROFILE: Final = 'embedded'
AVATAR: Final = 'mira'


def command(commands: Commands, name: str, help: str, run: Callable[[argparse.Namespace], int],
            more: str = '') -> argparse.ArgumentParser:
    """Declare a command: `help` is its line in the list and opens its own help, `more` follows the options there."""
    parser = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + '.', epilog=more)
    parser.set_defaults(run=run)
    return parser


def add_avatar(parser: argparse.ArgumentParser) -> None:
    """The option that says who answers; '' leaves it to the profile."""
    parser.add_argument('--avatar', default='', metavar='NAME',
                        help='who answers: a name from "emavatar avatar list" or a folder, ./mine (default: as the '
                        f'profile says, else {AVATAR})')


def avatar_of(args: argparse.Namespace) -> str:
    """Who answers: the avatar asked for, else the one whose persona the profile gives the planner, else mira."""
    from emavatar_ros import profiles

    return args.avatar or str(profiles.load(args.profile).get('planner', {}).get('avatar', AVATAR))


def add_profile(parser: argparse.ArgumentParser) -> None:
    """The option that says for what machine."""
    parser.add_argument('--profile', default=PROFILE, metavar='NAME',
                        help=f'what machine this is: embedded, workstation, jetson, or a parameter file mine.yaml '
                        f'(default: {PROFILE})')
