"""Visitors of our own making: one of the project's faces and voices says a line in a mood, as a movie file.

The demo and the turn bench need somebody to talk to. They are performed with the avatars' own parts, so they are
easier to hear and to read than a real person in a real hall: what is measured with them are times, not accuracies.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from emavatar_ros import avatars
from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.face.animator import Animator
from emavatar_ros.face.expression import expression
from emavatar_ros.face.renderer import Renderer
from emavatar_ros.face.units import HIGHEST, UNITS, FaceState
from emavatar_ros.reply import MP4, Performance
from emavatar_ros.reply import Line as Said

SIZE = (640, 480)
UPPER = np.array([not name.startswith(('jaw', 'mouth', 'tongue')) for name in UNITS])
MOODS: dict[str, Delivery] = {
    'angry': Delivery(1.12, 1.12, 1.4, 4.0, 0.8),
    'disgusted': Delivery(0.95, 0.95, 1.1),
    'fear': Delivery(1.1, 1.15, 1.2, -2.0),
    'happy': Delivery(1.1, 1.15, 1.4, 2.0),
    'neutral': Delivery(),
    'sad': Delivery(0.85, 0.88, 0.5, -4.0, 1.5),
    'surprised': Delivery(1.05, 1.2, 1.6, 2.0),
}
"""How a mood sounds."""


@dataclass(frozen=True)
class Line:
    """What a visitor says, in which mood (one of MOODS), and whose face and voice it is said with."""

    text: str
    mood: str
    avatar: str
    language: str = 'en-us'


class Acting(Animator):
    """An animator whose face wears one expression throughout, however the words move the mouth."""

    def __init__(self, mood: str, seed: int) -> None:
        super().__init__(seed)
        self._worn = expression(mood)

    def at(self, t: float) -> FaceState:
        """As Animator.at; brows, eyes and cheeks show the mood in full, the mouth even more,
        because the words take some of it away."""
        state = super().at(t)
        worn = np.where(UPPER, np.maximum(state.units, self._worn), state.units + 1.2 * self._worn)
        return FaceState(np.clip(worn, 0, HIGHEST).astype(np.float32), state.head, state.gaze, state.breath)


def record(line: Line, path: Path, seed: int = 7) -> Path:
    """Write the visitor's movie (H.264 and AAC); raises Missing when a model isn't there."""
    from emavatar_ros.voice import kokoro

    avatar = avatars.load(line.avatar)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        performance = Performance(Path(folder), lambda: kokoro.create(kokoro.Config(), avatar),
                                  lambda: Renderer(avatar, *SIZE, samples=0), Acting(line.mood, seed))
        performance.say(Said(line.text, MOODS[line.mood], 'neutral', line.language))
        performance.finish()
        (Path(folder) / MP4).replace(path)
    return path
