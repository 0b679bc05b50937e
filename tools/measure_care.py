"""How much danger is heard, and how often for nothing: python tools/measure_care.py [FILE ...] [--data FOLDER].

FILE is a file of sentences as in test/data/care (its README says how they look; the language is the end of the name);
without any, all of that folder are taken. FOLDER holds GoEmotions, whose test.tsv is read: comments that are almost
never about danger. For each file, with the patterns alone and with the classifier beside them: recall, of that how
often kind and person were right, recall by kind and person; or the share of alarms. Nothing is trained or written.

`--list` shows what was missed or gave an alarm; `--json` prints the figures for a program.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from emavatar_ros.errors import EmavatarError
from emavatar_ros.models.store import Store
from emavatar_ros.perception.words.embedding import Embedding
from emavatar_ros.planning import danger
from emavatar_ros.planning.danger import Danger
from emavatar_ros.planning.danger_head import DangerHead

CARE: Final = Path(__file__).parents[1] / 'test' / 'data' / 'care'


class Told(NamedTuple):
    """A sentence; kind '': no danger."""

    text: str
    kind: str = ''
    about: str = ''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('files', type=Path, nargs='*', help='files of sentences (default: test/data/care)')
    parser.add_argument('--data', type=Path, help='folder with GoEmotions: test.tsv')
    parser.add_argument('--list', action='store_true', help='show what was missed or gave an alarm')
    parser.add_argument('--json', action='store_true', help='figures for a program')
    options = parser.parse_args()
    files = options.files or [path for path in sorted(CARE.glob('*.tsv')) if 'injection' not in path.stem]
    told = {path.stem: sentences(path) for path in files}
    if options.data:
        lines = (options.data / 'test.tsv').read_text(encoding='utf-8').splitlines()
        told['goemotions'] = [Told(line.split('\t')[0]) for line in lines]
    finders: dict[str, Callable[[str], Danger | None]] = {'patterns': danger.find}
    try:
        head = DangerHead(Embedding(Store().path('minilm')))
        finders['patterns and classifier'] = lambda text: danger.find(text) or head.find(text)
    except EmavatarError as error:
        print(f'without the classifier: {error}', file=sys.stderr)
    figures = {name: {way: measured(rows, [find(row.text) for row in rows]) for way, find in finders.items()}
               for name, rows in told.items()}
    if not options.list:
        for ways in figures.values():
            for result in ways.values():
                del result['wrong']
    if options.json:
        print(json.dumps(figures, indent=1, ensure_ascii=False))
        return
    for name, ways in figures.items():
        for way, result in ways.items():
            wrong = result.pop('wrong', [])
            print(f'{name}, {way}: ' + ', '.join(f'{what} {value}' for what, value in result.items()))
            print(''.join(f'    {text}\n' for text in wrong), end='')


def sentences(path: Path) -> list[Told]:
    """The rows of a file, in either of its forms."""
    rows = [line.split('\t') for line in path.read_text(encoding='utf-8').splitlines()[1:]]
    return [Told(row[-1], *row[:-1]) for row in rows]


def measured(rows: list[Told], found: list[Danger | None]) -> dict[str, Any]:
    """Counts and shares of one file, and the sentences that were judged wrongly."""
    pairs = list(zip(rows, found, strict=True))
    if not rows[0].kind:
        alarms = [f'{seen.kind} {seen.about}: {row.text}' for row, seen in pairs if seen is not None]
        return {'sentences': len(rows), 'alarms': round(len(alarms) / len(rows), 4), 'wrong': alarms}
    heard = [(row, seen) for row, seen in pairs if seen is not None]
    result: dict[str, Any] = {
        'sentences': len(rows), 'recall': share([seen is not None for seen in found]),
        'kind': share([row.kind == seen.kind for row, seen in heard]),
        'person': share([row.about == seen.about for row, seen in heard])}
    for kind, about in sorted({(row.kind, row.about) for row in rows}):
        result[f'{kind} {about}'] = share([seen is not None for row, seen in pairs if row[1:] == (kind, about)])
    result['wrong'] = [f'{row.kind} {row.about}: {row.text}' for row, seen in pairs if seen is None]
    return result


def share(right: list[bool]) -> float:
    return round(sum(right) / max(1, len(right)), 3)


if __name__ == '__main__':
    main()
