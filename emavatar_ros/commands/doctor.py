"""`emavatar doctor`: is everything here that a profile needs, and does it fit together?"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from emavatar_ros.commands import Commands, add_profile, command


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'doctor', 'check that everything a profile needs is here and fits together', run,
                     'Ends with 3 when something that is needed is missing.')
    add_profile(parser)
    parser.add_argument('--json', action='store_true', help='one JSON list')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros.doctor import report

    checks = report(args.profile)
    if args.json:
        print(json.dumps([asdict(check) for check in checks], indent=1))
    else:
        for check in checks:
            mark = 'ok' if check.ok else ('FAIL' if check.needed else 'note')
            print(f'{mark:4}  {check.name}: {check.detail}' + (f'; {check.remedy}' if check.remedy else ''))
    return 0 if all(check.ok or not check.needed for check in checks) else 3
