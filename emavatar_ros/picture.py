"""What the views made of a recording as one picture: time runs to the right, one row a view.

Colour is the emotion, with its name in it; the paler, the less sure. Grey hatching: the view abstains, and why. What
was said stands under the words, what was seen along the top.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from emavatar_ros.emotion.colours import COLOURS, Colour
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.media.files import Image
from emavatar_ros.media.lettering import Pixels, fold, shorten, width, write
from emavatar_ros.perceive import ARBITER, Event

ROWS: Final = ('face', 'words', 'voice', 'whole', ARBITER)
TITLES: Final = {'face': ('Face', 'what it shows'), 'words': ('Words', 'what they say'),
                 'voice': ('Voice', 'how it sounds'), 'whole': ('Whole', 'all at once'),
                 ARBITER: ('Together', 'what is believed')}
INK: Final = (38, 42, 48)
SOFT: Final = (116, 122, 130)
LINE: Final = (226, 228, 231)
BAND: Final = (247, 247, 248)
PAPER: Final = (255, 255, 255)
HATCH: Final = (214, 216, 220)
PALEST: Final = 0.22
"""How much of its colour a cell keeps when the view is hardly sure at all."""
PER_SECOND: Final = 110
NARROWEST: Final = 1280
WIDEST: Final = 6000
MARGIN: Final = 36
GUTTER: Final = 150
"""Room for the rows' names, px."""
CELL: Final = 58
GAP: Final = 20
THUMB: Final = 104
"""Height of the images along the top, px."""
STILL: Final = 260
"""Height of a still picture, px."""
LINES: Final = 3
STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120)
"""Seconds between two marks of the time axis."""


def picture_path(path: Path) -> Path:
    """`path`, once it is sure that a picture can be written there; raises BadInput in one sentence."""
    if path.suffix.lower() != '.png':
        raise BadInput(f'{path} is no name for the picture: it must end in .png')
    if path.is_dir() or not path.parent.is_dir():
        raise BadInput(f'{path} can\'t be written: ' + ('it is a folder' if path.is_dir() else 'its folder is missing'))
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise BadInput(f'{path} can\'t be written (the folder is read-only): name another with --out')
    return path


def save(picture: Pixels, path: Path) -> None:
    """Write an RGB picture as PNG, whole or not at all."""
    data = cv2.imencode('.png', picture[..., ::-1])[1].tobytes()
    temporary = None
    try:
        number, temporary = tempfile.mkstemp(suffix='.png', prefix='.', dir=path.parent)
        with os.fdopen(number, 'wb') as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise BadInput(f'{path} can\'t be written ({error.strerror}): choose another folder or free some space'
                       ) from None


def draw(events: Sequence[Event], seconds: float, title: str, seen: Sequence[Image] = ()) -> Pixels:
    """The picture, uint8 [h, w, 3] RGB. seconds: the recording's length, 0 for a still picture; seen: images of it."""
    return _Sheet(events, seconds, title, seen).picture


class _Sheet:
    """The picture while it is drawn, from top to bottom."""

    def __init__(self, events: Sequence[Event], seconds: float, title: str, seen: Sequence[Image]) -> None:
        self.seconds = seconds
        self.left, self.right = MARGIN + GUTTER, 0
        wide = int(np.clip(seconds * PER_SECOND + self.left + MARGIN, NARROWEST, WIDEST))
        self.right = wide - MARGIN
        self.said = _spoken(events)
        top = 118
        self.thumb = THUMB if seconds else STILL
        bands = top + (self.thumb + GAP if seen else 0)
        words = max((len(lines) for _, lines in self._lines()), default=0)
        places, y = {}, bands
        for row in ROWS:
            places[row] = y
            y += CELL + GAP + (words * 22 + 6 if row == 'words' and words else 0)
        self.bottom = y - GAP + 8
        self.picture: Pixels = np.full((self.bottom + 92, wide, 3), PAPER, np.uint8)
        self._head(title)
        self._axis(top)
        self._images(seen, top)
        for row in ROWS:
            self._row(row, places[row], [event for event in events if event.view == row])
        for event, lines in self._lines():
            for number, line in enumerate(lines):
                write(self.picture, line, self._x(event.start) + 2, places['words'] + CELL + 22 + 22 * number, 17, INK)
        self._legend()

    def _x(self, t: float) -> int:
        """Where a time is, px; a still picture fills the row."""
        share = t / self.seconds if self.seconds else 0.0
        return round(self.left + (self.right - self.left) * min(max(share, 0.0), 1.0))

    def _span(self, event: Event) -> tuple[int, int]:
        return (self._x(event.start), self._x(event.end)) if self.seconds else (self.left, self.right)

    def _head(self, title: str) -> None:
        said = len(self.said)
        what = ('a still picture' if not self.seconds else
                f'{self.seconds:.1f} s, ' + ('nothing said' if not said else f'{said} utterance{"s"[:said > 1]}'))
        write(self.picture, shorten(title, 30, self.right - MARGIN, bold=True), MARGIN, 58, 30, INK, bold=True)
        write(self.picture, what, MARGIN, 86, 17, SOFT)

    def _axis(self, top: int) -> None:
        if not self.seconds:
            return
        room = (self.right - self.left) / self.seconds
        step = next((step for step in STEPS if step * room >= 56), STEPS[-1])
        for t in range(0, int(self.seconds) + 1, step):
            x = self._x(t)
            cv2.line(self.picture, (x, top - 8), (x, self.bottom), LINE, 1)
            name = f'{t} s' if self.seconds < 90 else f'{t // 60}:{t % 60:02d}'
            write(self.picture, name, x - width(name, 15) / 2, self.bottom + 20, 15, SOFT)

    def _images(self, seen: Sequence[Image], top: int) -> None:
        """As many images as fit side by side, each the one nearest to the middle of its place."""
        if not seen:
            return
        high, wide = seen[0].pixels.shape[:2]
        each = max(1, round(self.thumb * wide / high))
        count = max(1, (self.right - self.left + 4) // (each + 4)) if self.seconds else 1
        pitch = (self.right - self.left - each) / max(count - 1, 1)
        for number in range(count):
            x = round(self.left + number * pitch)
            middle = (x + each / 2 - self.left) / (self.right - self.left) * self.seconds
            image = min(seen, key=lambda image: abs(image.stamp - middle))
            tile = cv2.resize(image.pixels, (min(each, self.right - x), self.thumb), interpolation=cv2.INTER_AREA)
            self.picture[top:top + self.thumb, x:x + tile.shape[1]] = tile

    def _row(self, row: str, y: int, events: Sequence[Event]) -> None:
        name, what = TITLES[row]
        write(self.picture, name, MARGIN, y + 27, 21, INK, bold=True)
        write(self.picture, what, MARGIN, y + 48, 15, SOFT)
        cv2.rectangle(self.picture, (self.left, y), (self.right, y + CELL), BAND, -1)
        for run in _runs(_told(row, events, self.seconds)):
            for event in run:
                self._cell(event, y)
            self._name(run, y)

    def _cell(self, event: Event, y: int) -> None:
        x0, x1 = self._span(event)
        if event.abstains:
            self._hatch(x0, x1, y)
            return
        cv2.rectangle(self.picture, (x0, y), (max(x1 - 1, x0), y + CELL), _shade(event), -1)

    def _hatch(self, x0: int, x1: int, y: int) -> None:
        part = self.picture[y:y + CELL + 1, x0:max(x1, x0 + 1)]
        part[:] = BAND
        rows, columns = np.mgrid[y:y + part.shape[0], x0:x0 + part.shape[1]]
        part[(rows + columns) % 10 < 2] = HATCH  # by place, so that neighbours join

    def _name(self, run: Sequence[Event], y: int) -> None:
        """The emotion's name and how sure it is, or why there is none, where there is room for it."""
        x0, x1 = self._span(run[0])[0], self._span(run[-1])[1]
        cv2.line(self.picture, (x1 - 1, y), (x1 - 1, y + CELL), PAPER, 2)
        room = x1 - x0 - 18
        first = run[0]
        if first.abstains:
            lines = fold(first.why, 15, room, 2)
            for number, line in enumerate(lines):
                base = y + CELL // 2 + 5 + round((number - (len(lines) - 1) / 2) * 20)
                cv2.rectangle(self.picture, (x0 + 6, base - 15), (x0 + 14 + width(line, 15), base + 5), BAND, -1)
                write(self.picture, line, x0 + 10, base, 15, SOFT)
            return
        sure = float(np.average([event.said.confidence for event in run],
                                weights=[event.end - event.start + 1e-6 for event in run]))
        colour = _ink(_shade(run[0]))
        label = str(first.said.label)
        if width(label, 19, bold=True) > room:
            small = shorten(label, 14, room + 10)
            write(self.picture, small, x0 + 4, y + CELL // 2 + 5, 14, colour)
            return
        write(self.picture, label, x0 + 9, y + 27, 19, colour, bold=True)
        write(self.picture, f'{sure:.0%}', x0 + 9, y + 47, 15, colour)

    def _lines(self) -> list[tuple[Event, list[str]]]:
        """What was said, each utterance in the room up to the next one."""
        made = []
        for number, event in enumerate(self.said):
            end = self.said[number + 1].start if number + 1 < len(self.said) else self.seconds
            made.append((event, fold(event.text or '', 17, self._x(end) - self._x(event.start) - 12, LINES)))
        return made

    def _legend(self) -> None:
        x, y = MARGIN, self.bottom + 60
        for label in (*LABELS, 'unsure'):
            cv2.rectangle(self.picture, (x, y - 14), (x + 16, y + 2), COLOURS[label], -1)
            write(self.picture, label, x + 22, y, 15, SOFT)
            x += 22 + width(label, 15) + 20
        self._hatch_chip(x, y)
        write(self.picture, 'abstains', x + 22, y, 15, SOFT)
        write(self.picture, 'the paler, the less sure', x + 22 + width('abstains', 15) + 28, y, 15, SOFT)

    def _hatch_chip(self, x: int, y: int) -> None:
        part = self.picture[y - 14:y + 3, x:x + 17]
        rows, columns = np.mgrid[0:part.shape[0], 0:part.shape[1]]
        part[:] = BAND
        part[(rows + columns) % 6 < 2] = SOFT


def _spoken(events: Sequence[Event]) -> list[Event]:
    """One event of each utterance, in the order spoken."""
    found = {event.start: event for event in events if event.text is not None}
    return [found[start] for start in sorted(found)]


def _told(row: str, events: Sequence[Event], seconds: float) -> list[Event]:
    """What a row shows, in order and without overlap: an utterance's verdict goes before what is told every second,
    except in the face's row, where every second says more."""
    if events and all(event.abstains and event.why == events[0].why for event in events):
        return [replace(events[0], start=0.0, end=seconds)]
    running = [event for event in events if event.text is None]
    spoken = sorted((event for event in events if event.text is not None), key=lambda event: event.start)
    if row == 'face' and running:
        return running
    told = list(spoken)
    for event in running:
        at = event.start
        for verdict in spoken:
            if at < verdict.start < event.end:
                told.append(replace(event, start=at, end=verdict.start))
            if verdict.start < event.end:
                at = max(at, verdict.end)
        if at < event.end or event.start == event.end:
            told.append(replace(event, start=at))
    return sorted(told, key=lambda event: event.start)


def _runs(events: Sequence[Event]) -> list[list[Event]]:
    """Events that follow each other and say the same, together: they share one name."""
    runs: list[list[Event]] = []
    for event in events:
        if runs and _joins(runs[-1][-1], event):
            runs[-1].append(event)
        else:
            runs.append([event])
    return runs


def _joins(first: Event, then: Event) -> bool:
    if first.abstains or then.abstains:
        same = first.abstains and then.abstains and first.why == then.why
    else:
        same = first.said.label == then.said.label
    return same and then.start - first.end < 0.05


def _shade(event: Event) -> Colour:
    """The emotion's colour, the paler the less sure."""
    strength = PALEST + (1 - PALEST) * min(max(event.said.confidence, 0.0), 1.0)
    red, green, blue = (round(255 + (part - 255) * strength) for part in COLOURS[str(event.said.label)])
    return red, green, blue


def _ink(ground: Colour) -> Colour:
    """Letters that can be read on `ground`."""
    red, green, blue = ground
    return PAPER if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else INK
