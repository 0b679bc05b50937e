"""The face view: who is in the picture, what their faces show, and what the partner's face showed in an utterance.

Faces followed take turns: the landmark network and the 52 face units for each in turn (the whole picture is searched
only when somebody may be new), and a few times a second the expression networks. What they say is softened, nudged by
what the units show and smoothed per person. A face that is too small, too dark, turned away or hidden by sunglasses or
a mask is reported with a reason and no emotion; nothing seen is never called neutral.

Threading: one thread. Time is the picture's stamp in seconds. Nothing seen is kept beyond `Config.memory`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.emotion.smoothing import Smoother, Smoothing
from emavatar_ros.errors import BadInput
from emavatar_ros.face.units import Units
from emavatar_ros.perception.face import VIEW, ExpressionNetworks, signs
from emavatar_ros.perception.face.attention import Engagement, Lips
from emavatar_ros.perception.face.crop import cut, evened, placed
from emavatar_ros.perception.face.faces import Face, ranked
from emavatar_ros.perception.face.hidden import Hidden, hidden
from emavatar_ros.perception.face.landmarks import Landmarker, Pixels, Points, Region, gaze_of, head_of, region_of
from emavatar_ros.perception.face.reading import judge
from emavatar_ros.perception.face.tracking import Track, Tracker, Tracking, parts_of
from emavatar_ros.settings import setting

_FACE = 1 / 1.5
"""Side of the face itself in a region's side."""
UPRIGHT: Final = 0.97
"""A face that is the right way up is surer than this."""
SMILE: Final = 0.25
"""From this measure on, the corners of the mouth make a smile."""
SLACK: Final = 0.25
"""An utterance's face is looked for this much (s) before and after its sound."""

@dataclass(frozen=True)
class Config:
    """Settings of the face view."""

    tracking: Tracking = field(default_factory=Tracking)
    smoothing: Smoothing = field(default_factory=Smoothing)
    smallest: int = setting(50, 'a face smaller than this is not read', unit='px', low=20, high=1000)
    darkest: float = setting(16.0, 'a face of less mean brightness (0 to 255) is not read', low=0.0, high=255.0)
    profile: float = setting(0.8, 'a head turned further than this is not read', unit='rad', low=0.1, high=1.6)
    read_every: float = setting(0.3, 'time between two readings of one face by the expression networks', unit='s',
                                low=0.0, high=5.0)
    look_every: float = setting(0.1, 'time between two looks at the partner while others are there; they share half '
                                'as many', unit='s', low=0.0, high=1.0)
    memory: float = setting(60.0, 'how long readings are kept for `candidate`', unit='s', low=1.0, high=600.0)
    least: float = setting(0.3, 'an utterance whose likeliest emotion is below this has no face candidate', low=0.0,
                           high=1.0)


class Landmarks(Protocol):
    """What the view needs of a landmark model; `Landmarker` is the one there is."""

    def detect(self, rgb: Pixels, threshold: float = ...) -> list[Region]: ...
    def landmarks(self, rgb: Pixels, region: Region) -> tuple[Points, float]: ...
    def units(self, points: Points) -> Units: ...


class _Person:
    """What is known of one face besides where it is."""

    def __init__(self, smoothing: Smoothing) -> None:
        self.smoother = Smoother(smoothing)
        self.baseline = signs.Baseline()
        self.engagement = Engagement()
        self.lips = Lips()
        self.hidden = Hidden()
        self.scores: NDArray[np.float64] | None = None
        self.read = -np.inf
        self.dark = False
        self.face: Face | None = None


@dataclass(frozen=True)
class _Reading:
    """One face in one picture, before smoothing: what it shows or why it shows nothing."""

    id: str
    distribution: Distribution | None
    above: Units
    reason: str
    looks_here: bool


@dataclass(frozen=True)
class _Look:
    """What one picture gave: its mean brightness, how much each face in it counts, the faces read in it, and whether
    there was one of which eyes, nose and mouth could not be found."""

    stamp: float
    brightness: float
    weights: dict[str, float]
    readings: tuple[_Reading, ...]
    veiled: bool


class FaceView:
    """Sees faces picture by picture and sums up an utterance."""

    def __init__(self, config: Config, landmarker: Landmarks, networks: ExpressionNetworks,
                 hides: Callable[[Pixels, Points], str] = hidden) -> None:
        """hides: what hides a cut face, or '' (see hidden.py)."""
        self._config = config
        self._landmarker = landmarker
        self._networks = networks
        self._hides = hides
        self.model = f'face-landmarker + {networks.name}'
        self._tracker = Tracker(config.tracking)
        self._people: dict[str, _Person] = {}
        self._seen: deque[_Look] = deque()
        self._fresh, self._turn = True, 0
        self._partner: str | None = None
        self._voice: bool | None = None
        self._veiled = False

    def hear(self, voice: bool | None) -> None:
        """Tell whether a voice is heard from now on; None: not known, then lips alone tell who speaks."""
        self._voice = voice

    def see(self, rgb: Pixels, stamp: float) -> tuple[Face, ...]:
        """The faces in one picture, uint8 [h, w, 3] RGB taken at `stamp` (s); the partner first, then by size."""
        if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8 or min(rgb.shape[:2]) < 2:
            raise BadInput('a picture must be uint8 [h, w, 3] of at least 2x2 pixels, '
                           f'not {rgb.dtype} {list(rgb.shape)}')
        places = self._follow(rgb, stamp)
        self._people = {id: person for id, person in self._people.items() if id in self._tracker.known}
        faces, readings = [], []
        for id, points in places:
            face, reading = self._read(rgb, id, points, stamp)
            faces.append(face)
            readings.append(reading)
        shown = {face.id for face in faces}
        # Faces not looked at in this picture are still there: they are reported as last seen.
        for track in self._tracker.tracks:
            person = self._people.get(track.id)
            if track.id not in shown and person is not None and person.face is not None:
                faces.append(person.face)
        ordered = ranked(faces, self._partner)
        self._partner = ordered[0].id if ordered else None
        weights = {face.id: face.weight for face in faces}
        self._seen.append(_Look(stamp, float(rgb[::16, ::16].mean()), weights, tuple(readings),
                                self._veiled))
        while not 0 <= stamp - self._seen[0].stamp <= self._config.memory:
            self._seen.popleft()
        return ordered

    def candidate(self, start: float, end: float) -> Candidate:
        """What the partner's face showed from `start` to `end` (s), or why nothing was seen."""
        looks = self._between(start, end)
        if not looks:
            return Candidate.abstain(VIEW, self.model, 'no picture was seen')
        partner = self.partner(start, end)
        if partner is None:
            dark = np.median([look.brightness for look in looks]) < self._config.darkest
            veiled = sum(look.veiled for look in looks) > len(looks) / 2
            reason = ('the picture is too dark to see a face' if dark else
                      'a face is there, but hidden or turned away' if veiled else 'no face was in the picture')
            return Candidate.abstain(VIEW, self.model, reason)
        mine = [reading for look in looks for reading in look.readings if reading.id == partner]
        if not mine:
            return Candidate.abstain(VIEW, self.model, 'the face was not looked at')
        readable = [reading for reading in mine if reading.distribution is not None]
        if not readable:
            return Candidate.abstain(VIEW, self.model, Counter(reading.reason for reading in mine).most_common(1)[0][0])
        # A moment of clear expression says more than a moment of rest between words.
        parts = [(0.5 + 1 - reading.distribution['neutral'], reading.distribution) for reading in readable
                 if reading.distribution is not None]
        mean = Distribution.mix(parts)
        if mean.confidence < self._config.least:
            return Candidate.abstain(VIEW, self.model, 'the face showed nothing clear', self.measures(start, end))
        label = LABELS.index(mean.label)
        weights = np.array([part.p[label] for _, part in parts])
        shown = np.stack([reading.above for reading in readable])
        above = np.average(shown, axis=0, weights=weights).astype(np.float32)
        seen = len(readable) / len(mine)
        return Candidate.of(VIEW, self.model, mean, signs.sentence(signs.measures(above), mean.label),
                            affect=signs.affect(mean, above), confidence=mean.confidence * (0.5 + 0.5 * seen),
                            measures=self.measures(start, end))

    def measures(self, start: float, end: float) -> dict[str, float]:
        """What could be measured on the partner's face from `start` to `end`: means of the units above rest, by the
        names of config/cues.yaml, gaze_away_share, and smile_onset_s where there was a smile; empty when no face could
        be read."""
        partner = self.partner(start, end)
        mine = [(look.stamp, reading) for look in self._between(start, end) for reading in look.readings
                if reading.id == partner and reading.distribution is not None]
        if not mine:
            return {}
        found = signs.measures(np.mean([reading.above for _, reading in mine], axis=0, dtype=np.float32))
        found['gaze_away_share'] = 1 - sum(reading.looks_here for _, reading in mine) / len(mine)
        smiles = [stamp for stamp, reading in mine if signs.measures(reading.above)['mouth_smile'] >= SMILE]
        if smiles and end > start:
            found['smile_onset_s'] = max(smiles[0] - start, 0.0)
        return found

    def partner(self, start: float, end: float) -> str | None:
        """Id of the face that was the one talked with from `start` to `end`: that spoke, or else was largest, most
        central and most engaged; None when there was none."""
        total: dict[str, float] = {}
        for look in self._between(start, end):
            for id, weight in look.weights.items():
                total[id] = total.get(id, 0.0) + weight
        return max(total, key=lambda id: total[id]) if total else None

    def forget(self) -> None:
        """The visitor has left: nothing of anybody seen so far is kept."""
        self._tracker.forget()
        self._people.clear()
        self._seen.clear()
        self._fresh = True
        self._partner = None

    def _between(self, start: float, end: float) -> list[_Look]:
        return [look for look in self._seen if start - SLACK <= look.stamp <= end + SLACK]

    def _follow(self, rgb: Pixels, stamp: float) -> list[tuple[str, Points]]:
        """Landmarks of every face looked at in this picture, the largest first."""
        places = []
        tracks = self._tracker.tracks
        wait = self._config.look_every
        for track in tracks:
            partner = track.id == self._partner or len(tracks) == 1
            mine = (wait if len(tracks) > 1 else 0.0) if partner else wait * len(tracks)
            if 0 <= stamp - track.last < mine:
                continue
            points = self._look(rgb, track.region)
            if points is None:
                self._tracker.lost(track.id)
            elif self._tracker.seen(track.id, region_of(points), stamp):
                places.append((track.id, points))
        self._veiled = False
        if self._tracker.wants_search(stamp):
            new: list[tuple[Region, Points]] = []
            for region in self._tracker.unknown(self._search(rgb)):
                # A region from the detector is rough: the landmarks found there give a better one to look at.
                rough = self._look(rgb, region)
                points = None if rough is None else self._upright(rgb, region_of(rough))
                self._veiled |= points is None
                if points is not None and all(region_of(points).overlap(other) <= self._config.tracking.overlap
                                              for other, _ in new):
                    new.append((region_of(points), points))
            found: tuple[Track, ...] = self._tracker.found([region for region, _ in new], stamp)
            places += [(track.id, points) for track, (_, points) in zip(found, new, strict=True)]
        return places

    def _search(self, rgb: Pixels) -> list[Region]:
        """Faces in the whole picture, and in one of its parts in turn, where smaller ones are found; in all parts when
        nobody was searched for before."""
        found = self._landmarker.detect(rgb)
        parts = parts_of(*rgb.shape[:2])
        if parts and not self._fresh:
            parts = [parts[self._turn % len(parts)]]
        elif found:
            parts = []
        self._fresh = False
        self._turn += 1
        for left, top, side in parts:
            found += [replace(region, x=region.x + left, y=region.y + top)
                      for region in self._landmarker.detect(rgb[top:top + side, left:left + side])]
        return found

    def _look(self, rgb: Pixels, region: Region) -> Points | None:
        points, presence = self._landmarker.landmarks(rgb, region)
        return points if presence >= 0.5 else None

    def _upright(self, rgb: Pixels, region: Region) -> Points | None:
        """Landmarks of a new face, which may be upside down where the camera is: then the network sees a face in it all
        the same, but is surer of it turned round."""
        points, presence = self._landmarker.landmarks(rgb, region)
        if presence < UPRIGHT:
            turned, other = self._landmarker.landmarks(rgb, replace(region, angle=region.angle + np.pi))
            if other > max(presence, UPRIGHT):
                return turned
        return points if presence >= 0.5 else None

    def _read(self, rgb: Pixels, id: str, points: Points, stamp: float) -> tuple[Face, _Reading]:
        person = self._people.setdefault(id, _Person(self._config.smoothing))
        high, wide = rgb.shape[:2]
        region = region_of(points)
        box = Region(region.x, region.y, region.side * _FACE, region.angle)
        units = self._landmarker.units(points)
        head = head_of(points)
        reason = self._unreadable(box, head)
        if reason:
            person.read = -np.inf
        elif not 0 <= stamp - person.read < self._config.read_every * (1 if id == self._partner else 1.5):
            crop = cut(rgb, box)
            person.read = stamp
            person.hidden.update(self._hides(crop, placed(points, box)), stamp)
            person.dark = crop.mean() < self._config.darkest
            person.scores = None if person.dark else self._networks.scores([evened(crop)])[0]
        if not reason:
            reason = 'the face is too dark to read' if person.dark else person.hidden.reason
        above = person.baseline.update(units, stamp) if not reason else np.zeros_like(units)
        reading = None
        if not reason and person.scores is not None:
            reading = judge(person.scores, above, head[2], person.baseline.known)
        left, top = np.clip(points[:, :2].min(axis=0), 0, (wide - 1, high - 1))
        right, bottom = np.clip(points[:, :2].max(axis=0), 0, (wide - 1, high - 1))
        x, y = 2 * region.x / wide - 1, 2 * region.y / high - 1
        roi = (int(left), int(top), int(right - left) + 1, int(bottom - top) + 1)
        face = Face(id, stamp, roi, float(np.clip(x, -1, 1)), float(np.clip(y, -1, 1)), box.side / high, points, units,
                    head, gaze_of(units), reason=reason)
        lips = person.lips.update(points, stamp)
        face = replace(face, engagement=person.engagement.update(face.looks_here, face.size, stamp),
                       speaking=0.0 if self._voice is False else lips)
        if reading is not None:
            smooth, label = person.smoother.update(reading, stamp)
            valence, arousal = signs.affect(smooth, above)
            sure = 0.0 if label == UNSURE else smooth[label]
            face = replace(face, distribution=smooth, label=label, confidence=sure, valence=valence, arousal=arousal)
        person.face = face
        return face, _Reading(id, reading, above, reason, face.looks_here)

    def _unreadable(self, box: Region, head: tuple[float, float, float]) -> str:
        if box.side < self._config.smallest:
            return f'the face is too small to read ({box.side:.0f} pixels)'
        if abs(head[2]) > self._config.profile:
            return 'the face is turned away'
        return ''


def create(config: Config | None = None, networks: ExpressionNetworks | None = None) -> FaceView:
    """The face view with its landmark model from the model store and the expression networks given (or small.py's)."""
    from emavatar_ros.models.store import Store
    from emavatar_ros.perception.face import small
    task = Store().path('face-landmarker') / 'face_landmarker.task'
    return FaceView(config or Config(), Landmarker(task), networks or small.create())
