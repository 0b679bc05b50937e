"""Many inputs, one after the other: what was said in each, and what the four views make of it. `emavatar perceive`.

Every input is a visitor of its own unless told otherwise: nothing is carried from one to the next. A bad input costs a
line, not the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from emavatar_ros.errors import BadInput
from emavatar_ros.history import lines_of
from emavatar_ros.senses import Input, Senses
from emavatar_ros.turn_input import recording
from emavatar_ros.typed import check_text


def recordings(senses: Senses, paths: Iterable[Path], same_visitor: bool = False) -> Iterator[dict[str, Any]]:
    """One object for each recording: `path` with transcript, candidates and missing, or with `error`."""
    for path in paths:
        try:
            given = recording(path)
            yield {'path': str(path), **senses.perceive(given).as_json()}
        except BadInput as error:
            yield {'path': str(path), 'error': str(error)}
        if not same_visitor:
            senses.forget()


def texts(senses: Senses, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """One object for each line: `text` with transcript, candidates and missing, or with `error`. A line is a text, or a
    JSON object {"text": ..., "history": [...], "language": ...}, of which only `text` is needed."""
    for number, line in enumerate(lines, 1):
        text = line
        try:
            given = _typed(line, f'line {number}')
            text = given.text or ''
            yield {'text': text, **senses.perceive(given).as_json()}
        except BadInput as error:
            yield {'text': text, 'error': str(error)}


def _typed(line: str, where: str) -> Input:
    if not line.lstrip().startswith('{'):
        return Input(text=check_text(line) if line.strip() else '')
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        raise BadInput(f'{where} begins as a JSON object and is none') from None
    text, language = entry.get('text'), entry.get('language', 'en')
    if not isinstance(text, str) or not isinstance(language, str):
        raise BadInput(f'{where}: a JSON line needs "text", and "language" is a BCP 47 tag such as "en"')
    return Input(text=check_text(text) if text.strip() else '', language=language,
                 history=lines_of(entry.get('history', []), where))


def told(entry: dict[str, Any]) -> Iterator[str]:
    """The same object as lines for a person."""
    yield entry.get('path') or entry['text'] or '(nothing)'
    if 'error' in entry:
        yield f'         {entry["error"]}'
        return
    if 'path' in entry and entry['transcript']['text']:
        yield f'         said: {entry["transcript"]["text"]}'
    for candidate in entry['candidates']:
        sure = f'{candidate["label"]:10} {candidate["confidence"]:4.0%}'
        yield f'         {candidate["view"]:8} {sure}  {candidate["evidence"]}'
    for missing in entry['missing']:
        if 'path' in entry or missing['view'] == 'words':
            yield f'         {missing["view"]:8} {"abstains":15}  {missing["reason"]}'
