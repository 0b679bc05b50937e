"""What the face view tells of one face in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.face.units import Units
from emavatar_ros.perception.face.attention import INTEREST, Level
from emavatar_ros.perception.face.landmarks import Points

_SPEAKER = 4.0
"""How much likelier than another the one who speaks is the one talked with."""
_STAYS = 1.4
"""The partner stays the partner until somebody else is this much likelier."""


@dataclass(frozen=True)
class Face:
    """One face in one picture.

    id: short, stable, starts with a letter. stamp: the picture's, s. roi: x, y, width, height in px, inside the
    picture. x, y: the face's centre, -1 to 1 from left to right and top to bottom of the picture. size: its height
    as a share of the picture's. points: landmarks float32 [478, 3] in px. units: float32 [52] in [0, 1], ARKit order.
    head: roll, pitch, yaw and gaze: yaw, pitch in rad, signs as in FaceState. distribution, label (one of the eight
    or unsure), confidence, valence, arousal: smoothed; None and 0 when the face can't be read, and `reason` says why.
    engagement: as in REP-155. speaking: how much the lips move as in speech, in [0, 1]; 0 while it is known that no
    voice is heard. partner: the face most likely to be the one talked with: who speaks, else the nearest, most central
    and most engaged one.
    """

    id: str
    stamp: float
    roi: tuple[int, int, int, int]
    x: float
    y: float
    size: float
    points: Points
    units: Units
    head: tuple[float, float, float]
    gaze: tuple[float, float]
    distribution: Distribution | None = None
    label: str | None = None
    confidence: float = 0.0
    valence: float = 0.0
    arousal: float = 0.0
    reason: str = ''
    engagement: Level = Level.UNKNOWN
    speaking: float = 0.0
    partner: bool = False

    @property
    def looks_here(self) -> bool:
        """True when head and eyes together point at the camera, within about 17 degrees."""
        return abs(self.head[2] + self.gaze[0]) < 0.3 and abs(self.gaze[1]) < 0.4

    @property
    def weight(self) -> float:
        """How likely this is the one talked with, relative to others."""
        place = self.size ** 2 * (1 - 0.5 * min(abs(self.x), 1.0))
        return place * INTEREST[self.engagement] * (1 + _SPEAKER * self.speaking)


def ranked(faces: Sequence[Face], before: str | None) -> tuple[Face, ...]:
    """The faces with their partner marked and first, then by weight; `before`: who was the partner."""
    order = sorted(faces, key=lambda face: (-face.weight * (_STAYS if face.id == before else 1), face.id))
    return tuple(replace(face, partner=at == 0) for at, face in enumerate(order))
