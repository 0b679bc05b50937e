"""What the views made of a recording as one picture: one row a view, time to the right, going on below as text does.

Colour is the emotion, with its name in it; the paler, the less sure. Grey hatching: the view abstains, and why. What
was said stands under the words, what was seen along the top.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from emavatar_ros.emotion.colours import COLOURS, Colour
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.media.files import Image
from emavatar_ros.media.lettering import Pixels, fold, shorten, width, write
from emavatar_ros.timeline import ARBITER, Event

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
WIDEST: Final = 2048
"""The picture's width: so many px a second, between these."""
LINE_SECONDS: Final = (20.0, 30.0)
"""A longer recording goes on below, as text does: the length of a line, and that of one beyond LONG, in seconds."""
LONG: Final = 120.0
MARGIN: Final = 36
GUTTER: Final = 150
"""Room for the rows' names, px."""
HEAD: Final = 100
TOP: Final = 18
CELL: Final = 58
GAP: Final = 20
THUMB: Final = 104
"""Height of the images along the top, px."""
STILL: Final = 260
"""Height of a still picture, px."""
LINES: Final = 3
SIZES: Final = (19, 17, 15, 13)
"""Letter sizes of an emotion's name, the largest that fits, px."""
STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120)
"""Seconds between two marks of the time axis."""


def check_path(path: Path, source: Path) -> None:
    """Make sure that a picture of `source` can be written to `path`; raises BadInput in one sentence."""
    if path.suffix.lower() != '.png':
        raise BadInput(f'{path} is no name for the picture: it must end in .png')
    if path.is_dir() or not path.parent.is_dir():
        raise BadInput(f'{path} can\'t be written: ' + ('it is a folder' if path.is_dir() else 'its folder is missing'))
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise BadInput(f'{path} can\'t be written (the folder is read-only): name another with --out')
    if path.exists() and source.exists() and path.samefile(source):
        raise BadInput(f'{path} is the recording itself: name another picture with --out')


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
    told = {row: _told(row, [event for event in events if event.view == row], seconds) for row in ROWS}
    said = _spoken(events)
    cuts = _cuts(said, seconds)
    length = max(end - start for start, end in pairwise(cuts))
    wide = int(np.clip(length * PER_SECOND + MARGIN + GUTTER + MARGIN, NARROWEST, WIDEST))
    scale = (wide - MARGIN - GUTTER - MARGIN) / length if seconds else 0.0
    lines = [_Line(told, said, seen, start, end, scale, wide).picture for start, end in pairwise(cuts)]
    return np.asarray(np.vstack([_head(title, seconds, len(said), wide), *lines, _legend(wide)]), np.uint8)


def _cuts(said: Sequence[Event], seconds: float) -> list[float]:
    """Where lines begin and end: evenly, but not in the middle of what somebody says where that can be helped."""
    most = LINE_SECONDS[seconds > LONG]
    count = max(1, int(np.ceil(seconds / most)))
    cuts = [0.0]
    for number in range(1, count):
        cut = seconds * number / count
        within = next((event for event in said if event.start - 0.1 < cut < event.end + 0.3), None)
        if within is not None and within.start - 0.1 > cuts[-1] + most / 3:
            cut = within.start - 0.1
        cuts.append(cut)
    return [*cuts, seconds]


def _head(title: str, seconds: float, said: int, wide: int) -> Pixels:
    part: Pixels = np.full((HEAD, wide, 3), PAPER, np.uint8)
    what = ('a still picture' if not seconds else
            f'{seconds:.1f} s, ' + ('nothing said' if not said else f'{said} utterance{"s"[:said > 1]}'))
    write(part, shorten(title, 30, wide - 2 * MARGIN, bold=True), MARGIN, 58, 30, INK, bold=True)
    write(part, what, MARGIN, 86, 17, SOFT)
    return part


def _legend(wide: int) -> Pixels:
    part: Pixels = np.full((52, wide, 3), PAPER, np.uint8)
    x, y = MARGIN, 22
    for label in (*LABELS, 'unsure'):
        cv2.rectangle(part, (x, y - 14), (x + 16, y + 2), COLOURS[label], -1)
        write(part, label, x + 22, y, 15, SOFT)
        x += 22 + width(label, 15) + 20
    _hatch(part[y - 14:y + 3, x:x + 17], 0, 6, SOFT)
    write(part, 'abstains', x + 22, y, 15, SOFT)
    write(part, 'the paler, the less sure', x + 22 + width('abstains', 15) + 28, y, 15, SOFT)
    return part


def _hatch(part: Pixels, shift: int, every: int, colour: Colour) -> None:
    """Slanting strokes; `shift`: where this part lies, so that neighbours' strokes join."""
    rows, columns = np.mgrid[0:part.shape[0], shift:shift + part.shape[1]]
    part[:] = BAND
    part[(rows + columns) % every < 2] = colour


class _Line:
    """The part of the picture that shows the time from `start` to `end`, drawn from top to bottom."""

    def __init__(self, told: Mapping[str, Sequence[Event]], said: Sequence[Event], seen: Sequence[Image],
                 start: float, end: float, scale: float, wide: int) -> None:
        """scale: px a second, 0 for a still picture, which fills the row."""
        self.start, self.end, self.scale = start, end, scale
        self.left = MARGIN + GUTTER
        self.right = round(self.left + (end - start) * scale) if scale else wide - MARGIN
        self.said = [event for event in said if start <= event.start < end or not scale]
        self.thumb = STILL if not scale else THUMB
        written = self._written()
        words = max((len(lines) for _, lines in written), default=0)
        y = TOP + (self.thumb + GAP if seen else 0)
        places = {}
        for row in ROWS:
            places[row] = y
            y += CELL + GAP + (words * 22 + 6 if row == 'words' and words else 0)
        self.bottom = y - GAP + 8
        self.picture: Pixels = np.full((self.bottom + 40, wide, 3), PAPER, np.uint8)
        self._axis()
        self._images(seen)
        for row in ROWS:
            self._row(row, places[row], _within(told[row], start, end) if scale else told[row])
        for event, lines in written:
            for number, line in enumerate(lines):
                write(self.picture, line, self._x(event.start) + 2, places['words'] + CELL + 22 + 22 * number, 17, INK)

    def _x(self, t: float) -> int:
        """Where a time is, px."""
        return round(self.left + (min(max(t, self.start), self.end) - self.start) * self.scale)

    def _span(self, event: Event) -> tuple[int, int]:
        return (self._x(event.start), self._x(event.end)) if self.scale else (self.left, self.right)

    def _axis(self) -> None:
        if not self.scale:
            return
        step = next((step for step in STEPS if step * self.scale >= 56), STEPS[-1])
        for t in range(int(np.ceil(self.start / step)) * step, int(self.end) + 1, step):
            x = self._x(t)
            cv2.line(self.picture, (x, TOP - 8), (x, self.bottom), LINE, 1)
            name = f'{t} s' if t < 60 else f'{t // 60}:{t % 60:02d}'
            write(self.picture, name, x - width(name, 15) / 2, self.bottom + 20, 15, SOFT)

    def _images(self, seen: Sequence[Image]) -> None:
        """As many images as fit side by side, each the one nearest to the middle of its place."""
        if not seen:
            return
        high, wide = seen[0].pixels.shape[:2]
        each = max(1, round(self.thumb * wide / high))
        count = max(1, (self.right - self.left + 4) // (each + 4)) if self.scale else 1
        pitch = (self.right - self.left - each) / max(count - 1, 1)
        for number in range(count):
            x = round(self.left + number * pitch)
            middle = self.start + (x + each / 2 - self.left) / self.scale if self.scale else 0.0
            image = min(seen, key=lambda image: abs(image.stamp - middle))
            size = (max(1, min(each, self.right - x)), self.thumb)
            tile = cv2.resize(image.pixels, size, interpolation=cv2.INTER_AREA)
            self.picture[TOP:TOP + self.thumb, x:x + size[0]] = tile

    def _row(self, row: str, y: int, events: Sequence[Event]) -> None:
        name, what = TITLES[row]
        write(self.picture, name, MARGIN, y + 27, 21, INK, bold=True)
        write(self.picture, what, MARGIN, y + 48, 15, SOFT)
        cv2.rectangle(self.picture, (self.left, y), (self.right, y + CELL), BAND, -1)
        for run in _runs(events):
            for event in run:
                self._cell(event, y)
            self._name(run, y)

    def _cell(self, event: Event, y: int) -> None:
        x0, x1 = self._span(event)
        if event.abstains:
            _hatch(self.picture[y:y + CELL + 1, x0:max(x1, x0 + 1)], x0, 10, HATCH)
            return
        cv2.rectangle(self.picture, (x0, y), (max(x1 - 1, x0), y + CELL), _shade(event), -1)

    def _name(self, run: Sequence[Event], y: int) -> None:
        """The emotion's name and how sure it is, or why there is none, where there is room for it."""
        x0, x1 = self._span(run[0])[0], self._span(run[-1])[1]
        cv2.line(self.picture, (x1 - 1, y), (x1 - 1, y + CELL), PAPER, 2)
        room = x1 - x0 - 18
        first = run[0]
        if first.abstains:
            lines = fold(first.why, 15, room, 2) if room >= 50 else []
            for number, line in enumerate(lines):
                base = y + CELL // 2 + 5 + round((number - (len(lines) - 1) / 2) * 20)
                cv2.rectangle(self.picture, (x0 + 6, base - 15), (x0 + 14 + width(line, 15), base + 5), BAND, -1)
                write(self.picture, line, x0 + 10, base, 15, SOFT)
            return
        sure = float(np.average([event.said.confidence for event in run],
                                weights=[event.end - event.start + 1e-6 for event in run]))
        # The letters' colour is chosen by the cell they mostly lie on.
        colour = _ink(_shade(next((event for event in run if self._span(event)[1] > x0 + 30), run[-1])))
        label = str(first.said.label)
        size = next((size for size in SIZES if width(label, size, bold=True) <= room), 0)
        if size:
            write(self.picture, label, x0 + 9, y + 27, size, colour, bold=True)
            write(self.picture, f'{sure:.0%}', x0 + 9, y + 47, 15, colour)
        else:
            write(self.picture, shorten(label, 14, x1 - x0 - 8), x0 + 4, y + CELL // 2 + 5, 14, colour)

    def _written(self) -> list[tuple[Event, list[str]]]:
        """What was said, each utterance in the room up to the next one."""
        ends = [self._x(event.start) for event in self.said[1:]] + [self.right]
        return [(event, fold(event.text or '', 17, end - self._x(event.start) - 12, LINES))
                for event, end in zip(self.said, ends)]


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


def _within(events: Sequence[Event], start: float, end: float) -> list[Event]:
    """The parts of events that lie between `start` and `end`."""
    return [replace(event, start=max(event.start, start), end=min(event.end, end)) for event in events
            if event.start < end and event.end > start]


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
