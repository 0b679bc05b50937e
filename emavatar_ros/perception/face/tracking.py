"""Who is who from one picture to the next: regions that follow faces, and ids that stay.

No model in here: the caller says what it found where. A face keeps its id while its region holds a face; lost for
a moment (a hand, a blink of the camera) it is taken up again when a face appears near where it was. Ids are never
given twice.
"""

from __future__ import annotations

import itertools
import math
import random
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from emavatar_ros.perception.face.landmarks import Region
from emavatar_ros.settings import setting


@dataclass(frozen=True)
class Tracking:
    """When to look for new faces, and how long a lost one is remembered."""

    people: int = setting(4, 'faces followed at once; the largest come first', low=1, high=16)
    search: float = setting(0.5, 'time between two searches of the whole picture while a face is followed', unit='s',
                            low=0.0, high=10.0)
    resume: float = setting(3.0, 'a face lost for less than this, and back near its place, keeps its id', unit='s',
                            low=0.0, high=60.0)
    overlap: float = setting(0.3, 'regions that overlap more than this are one face', low=0.05, high=0.95)
    counted_ids: bool = setting(False, 'ids are f1, f2, ... instead of random letters (for tests and recordings)')


@dataclass(frozen=True)
class Track:
    """One face: its id, where to look for it next, when it was first and last seen (s)."""

    id: str
    region: Region
    first: float
    last: float


class Tracker:
    """The faces in view. Call `tracks`, then `seen` or `lost` for each, then `found` after a search."""

    def __init__(self, config: Tracking | None = None) -> None:
        self._config = config or Tracking()
        self._ids = identifiers(self._config.counted_ids)
        self._tracks: dict[str, Track] = {}
        self._lost: dict[str, Track] = {}
        self._searched: float | None = None

    @property
    def tracks(self) -> tuple[Track, ...]:
        """The faces in view, the largest first; of equals the one seen first."""
        return tuple(sorted(self._tracks.values(), key=lambda track: (-track.region.side, track.first, track.id)))

    @property
    def known(self) -> frozenset[str]:
        """Ids in view or lost but still remembered."""
        return frozenset(self._tracks) | frozenset(self._lost)

    def wants_search(self, stamp: float) -> bool:
        """True when the whole picture should be searched: nobody in view, somebody just lost, or it is time again."""
        return (not self._tracks or self._searched is None or stamp < self._searched
                or stamp - self._searched >= self._config.search
                or any(track.last >= self._searched for track in self._lost.values()))

    def seen(self, id: str, region: Region, stamp: float) -> bool:
        """The face `id` is there, at `region`. False when that is another's place: then this one is dropped."""
        elder = [other for other in self._tracks.values() if other.id != id and other.first <= self._tracks[id].first]
        if any(other.region.overlap(region) > self._config.overlap for other in elder):
            self.lost(id)
            return False
        self._tracks[id] = replace(self._tracks[id], region=region, last=stamp)
        return True

    def lost(self, id: str) -> None:
        """The region of `id` holds no face any more."""
        self._lost[id] = self._tracks.pop(id)

    def unknown(self, regions: Sequence[Region]) -> list[Region]:
        """Of the regions a search found, those that are none of the faces in view, as many as may still be followed."""
        fresh: list[Region] = []
        for region in sorted(regions, key=lambda region: -region.side):
            known = [track.region for track in self._tracks.values()] + fresh
            if all(region.overlap(other) <= self._config.overlap for other in known):
                fresh.append(region)
        return fresh[:max(self._config.people - len(self._tracks), 0)]

    def found(self, regions: Sequence[Region], stamp: float) -> tuple[Track, ...]:
        """Follow the faces a search found (see `unknown`); those lost near there keep their ids."""
        self._searched = stamp
        self._lost = {id: track for id, track in self._lost.items() if 0 <= stamp - track.last <= self._config.resume}
        new = []
        for region in regions:
            near = [track for track in self._lost.values() if _near(track.region, region)]
            if near:
                old = max(near, key=lambda track: track.region.overlap(region))
                del self._lost[old.id]
                track = replace(old, region=region, last=stamp)
            else:
                track = Track(next(self._ids), region, stamp, stamp)
            self._tracks[track.id] = track
            new.append(track)
        return tuple(new)

    def forget(self) -> None:
        """Drop everybody. Ids go on: nobody later is mistaken for somebody earlier."""
        self._tracks.clear()
        self._lost.clear()
        self._searched = None


def identifiers(counted: bool) -> Iterator[str]:
    """Endless face ids as REP-155 wants them: short, unique, starting with a letter."""
    if counted:
        yield from (f'f{i}' for i in itertools.count(1))
    used: set[str] = set()
    source = random.SystemRandom()
    while True:
        id = ''.join(source.choices(string.ascii_lowercase, k=5))
        if id not in used:
            used.add(id)
            yield id


def parts_of(high: int, wide: int) -> list[tuple[int, int, int]]:
    """Overlapping squares of a picture, as left, top, side in px: of the short side, then of six tenths of it."""
    squares = []
    for side in (min(high, wide), round(0.6 * min(high, wide))):
        down, across = (math.ceil((length - side) / (0.6 * side)) + 1 for length in (high, wide))
        squares += [(round((wide - side) * i / max(across - 1, 1)), round((high - side) * j / max(down - 1, 1)), side)
                    for j in range(down) for i in range(across)]
    return [square for square in squares if square[2] >= 64 and square[2] < max(high, wide)]


def _near(old: Region, new: Region) -> bool:
    """Could be the same person a moment later: within one side of the old place and of like size."""
    apart = ((old.x - new.x) ** 2 + (old.y - new.y) ** 2) ** 0.5
    return apart < old.side and 0.5 < new.side / old.side < 2.0
