#!/usr/bin/env python3
"""Re-estimates how each view errs (config/reliability.yaml) from labelled data.

    tools/estimate_reliability.py --data DIR [--keep 30] [--out reliability.yaml]

DIR is laid out as for `emavatar bench perception`; faces/labels.csv is where recordings of your own visitors go. For
each view that has data, what it said is counted by the true emotion (row) and what it named (column). --keep readings a
row of the present table are mixed in, so that an emotion with few or no examples keeps what was believed of it; views
without data keep their rows. The result is a whole file: read it, then put it in place.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import yaml

from emavatar_ros import avatars, profiles
from emavatar_ros.deliberation import reliability
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.evaluation import bench_perception
from emavatar_ros.places import share
from emavatar_ros.rooms import Rooms


def counts(told: bench_perception.Told) -> np.ndarray:
    """How often each true emotion (row) was named each (column), float [8, 8]; abstentions are left out."""
    found = np.zeros((len(LABELS), len(LABELS)))
    for truth, said in zip(told.truth, told.said, strict=True):
        if said:
            found[LABELS.index(truth), LABELS.index(said)] += 1
    return found


def main() -> None:
    """Measure, mix, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').splitlines()[0])
    parser.add_argument('--data', type=Path, required=True, help='folder with goemotions, emodb or faces')
    parser.add_argument('--keep', type=float, default=30.0, help='readings a row that the present table counts for')
    parser.add_argument('--profile', default='embedded', help='which backends are measured')
    parser.add_argument('--out', type=Path, help='file to write (default: standard output)')
    args = parser.parse_args()
    rooms = Rooms(profiles.load(args.profile), avatars.load('mira'))
    present = reliability.load()
    content = yaml.safe_load(share('config/reliability.yaml').read_text(encoding='utf-8'))
    for view, told in bench_perception.told(rooms, args.data).items():
        if not told.truth:
            continue
        found = counts(told)
        rows = found + args.keep * present.views[view].confusion
        content['views'][view]['rows'] = {label: [round(float(value), 1) for value in row]
                                          for label, row in zip(LABELS, rows, strict=True)}
        content['views'][view]['source'] = (
            f'measured on {int(found.sum())} labelled readings, mixed with {args.keep:g} a row of what was believed')
        print(f'{view}: {int(found.sum())} readings, right {np.trace(found) / found.sum():.2f}', file=sys.stderr)
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=118)
    if args.out:
        args.out.write_text(text, encoding='utf-8')
    else:
        print(text, end='')


if __name__ == '__main__':
    main()
