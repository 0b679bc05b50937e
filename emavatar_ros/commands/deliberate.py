"""`emavatar deliberate`: cases of given candidates and evidence, decided."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from emavatar_ros.commands import Commands, add_profile, command

MORE = """\
CASES.jsonl has one case a line: {"id", "text", "history": [{"role", "text"}], "candidates": [{"view", "label",
"confidence", "distribution"}], "evidence": [{"source", "measure", "value", "unit", "sentence"}]}; - is standard input.
The arbiter sees of the evidence only what its questions ask for. --json prints {"id", "emotion"} for each, in order,
"emotion" as in turn.json; a bad case gives {"id" or "line", "error"}, and the exit code is 2 in the end."""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'deliberate', 'what a visitor feels, given what each view says and what was measured',
                     run, MORE)
    parser.add_argument('cases', type=Path, metavar='CASES.jsonl', help='the cases, one a line')
    parser.add_argument('--json', action='store_true', help='one JSON object a line on standard output')
    parser.add_argument('--seed', type=int, default=0, metavar='N',
                        help='for backends that draw; the measured one draws nothing and is the same for every seed')
    add_profile(parser)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros import avatars, profiles
    from emavatar_ros.commands import AVATAR
    from emavatar_ros.deliberation import cases
    from emavatar_ros.emotion.record import emotion_json
    from emavatar_ros.errors import BadInput
    from emavatar_ros.rooms import Rooms
    from emavatar_ros.textfile import read_lines

    lines = read_lines(args.cases)
    arbiter = Rooms(profiles.load(args.profile), avatars.load(AVATAR)).arbiter()
    bad = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            given = cases.parse(line, f'line {number}')
        except BadInput as error:
            bad += 1
            print(json.dumps({'line': number, 'error': str(error)}) if args.json else f'{error}', flush=True)
            continue
        estimate = arbiter.decide(given.case)
        if args.json:
            print(json.dumps({'id': given.id, 'emotion': emotion_json(estimate)}, ensure_ascii=False), flush=True)
        else:
            print(f'{given.id}: {estimate.label} {estimate.confidence:.0%}  {estimate.reasons[0]}', flush=True)
            for asked in estimate.questions:
                print(f'    {asked.question} {asked.answer}', flush=True)
    if bad:
        print(f'emavatar: {bad} of the cases can\'t be used; see "error"', file=sys.stderr)
    return 2 if bad else 0
