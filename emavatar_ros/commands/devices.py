"""`emavatar devices`: the cameras, microphones, speakers and screens of this machine."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from emavatar_ros.commands import Commands, command


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'devices', 'the cameras, microphones, speakers and screens of this machine', run,
                     'Settings take a name or a part of it: numbers change when something is plugged in.')
    parser.add_argument('--json', action='store_true', help='one JSON object')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros import devices

    found = {'cameras': devices.cameras(), 'microphones': devices.microphones(), 'speakers': devices.speakers(),
             'screens': devices.screens()}
    if args.json:
        print(json.dumps({kind: [asdict(device) for device in those] for kind, those in found.items()}, indent=1))
    else:
        for kind, those in found.items():
            print(f'{kind}:' + ('' if those else ' none'))
            for device in those:
                detail = f'  ({device.detail})' if device.detail else ''
                print(f'  {device.index:>3}  {device.name}{detail}{"  default" if device.default else ""}')
    if problem := devices.sound_problem():
        print(problem, file=sys.stderr)
    return 0
