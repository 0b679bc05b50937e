"""One face over time: what was told to it (speech, feeling, mode, where to look) as the face state of any moment.

Nothing here runs or remembers how it got somewhere: a face state is a function of the seed, the events and the time
asked for, so a face drawn late or twice or at another rate is the same face. Layers, from below: the expression that
mode, feeling and speech ask for, faded from one to the next; the mouth of the clause being heard (visemes.py); life
(life.py). Events may lie in the future, as a clause that is queued does. What is over is dropped as time goes on, so
memory stays flat. Threading: one caller.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import BadInput
from emavatar_ros.face import visemes
from emavatar_ros.face.expression import EXPRESSIONS, answer, expression, speaking
from emavatar_ros.face.life import Life, smooth
from emavatar_ros.face.units import HIGHEST, INDEX, UNITS, FaceState, Units
from emavatar_ros.voice.speech import Speech

MODES: Final = ('idle', 'listening', 'thinking', 'speaking')
FADE: Final = 0.45
"""Seconds one expression takes to become the next."""
CUT: Final = 0.08
"""Seconds the mouth takes to close when speech is cut off."""
KEEP: Final = 60.0
"""Seconds behind the latest moment asked for that can still be asked for."""
_MOST: Final = 2000
_EYE: Final = 0.08
_HEAD: Final = 0.22
"""Time the eyes take to a new target, and time constant with which the head follows, s."""
_TURN: Final = 0.45
"""How much of a look the head takes over from the eyes."""
_POSES: Final = {'concern': (0.06, 0.03, 0.0), 'sad': (0.04, 0.08, 0.0), 'happy': (0.03, -0.02, 0.0),
                 'surprised': (0.0, -0.05, 0.0), 'angry': (0.0, 0.06, 0.0), 'contempt': (0.05, -0.06, 0.05),
                 'disgusted': (0.02, -0.03, -0.07), 'fear': (0.0, -0.05, 0.0), 'interest': (0.035, 0.02, 0.0),
                 'thinking': (0.05, -0.02, 0.04), 'warm': (0.02, 0.0, 0.0)}
"""Roll, pitch, yaw of the head in rad that go with an expression."""
_BLINKS: Final = [INDEX['eyeBlinkLeft'], INDEX['eyeBlinkRight']]
_WIDE: Final = [INDEX['eyeWideLeft'], INDEX['eyeWideRight']]
_SMILE: Final = [INDEX[name] for name in UNITS if name.startswith(('mouthSmile', 'mouthStretch', 'mouthDimple'))]
_ROUND: Final = [INDEX['mouthFunnel'], INDEX['mouthPucker']]
_PARTING: Final = [INDEX[name] for name in UNITS if name.startswith((
    'jawOpen', 'mouthLowerDown', 'mouthUpperUp', 'mouthFunnel'))]
_INNER: Final = INDEX['browInnerUp']
_OUTER: Final = [INDEX['browOuterUpLeft'], INDEX['browOuterUpRight']]

_Vector = NDArray[np.float32]
_Feeling = tuple[str, float]
_Item = TypeVar('_Item', tuple[float, str], tuple[float, _Feeling], tuple[float, float, float])


@dataclass
class _Clause:
    """One clause on the time line; `end` moves forward when it is cut."""

    start: float
    end: float
    label: str
    mouth: visemes.MouthTrack
    stresses: tuple[float, ...]
    cut: bool = False


@lru_cache(maxsize=512)
def _target(mode: str, feeling: _Feeling | None, spoken: str | None) -> _Vector:
    """Units and head pose, float32 [55], that a state asks for: read only."""
    def posed(name: str, intensity: float, units: Units) -> _Vector:
        pose = np.array(_POSES.get(name, (0.0, 0.0, 0.0)), dtype=np.float32) * np.float32(min(intensity, 1.0))
        return np.concatenate([units, pose])

    if spoken is not None:
        return posed(spoken, 0.8, speaking(spoken, 0.9))
    name, intensity = feeling or ('warm', 0.4)
    if mode == 'idle':
        name, intensity = ('warm', 0.4) if feeling is None else (name, intensity * 0.6)
    shown = posed(name, intensity, expression(name, intensity))
    if mode == 'thinking':
        return 0.6 * shown + posed('thinking', 0.7, expression('thinking', 0.7))
    if mode == 'listening':
        return shown + 0.25 * posed('interest', 1.0, expression('interest'))
    return shown


class Animator:
    """The face of one avatar. Times are seconds on one clock, any clock."""

    def __init__(self, seed: int = 0) -> None:
        """seed: gives this face its own blinks, sway and glances."""
        self._life = Life(seed)
        self._modes: list[tuple[float, str]] = []
        self._feelings: list[tuple[float, _Feeling]] = []
        self._looks: list[tuple[float, float, float]] = []
        self._clauses: list[_Clause] = []
        self._latest = -math.inf

    def speak(self, start: float, speech: Speech, label: str) -> None:
        """A clause is heard from `start` on, said with the expression `label` (a name in EXPRESSIONS, else BadInput).

        A clause that overlaps one told before takes its place from its own start.
        """
        if label not in EXPRESSIONS:
            raise BadInput(f'unknown expression {label!r}; known: {", ".join(EXPRESSIONS)}')
        for clause in self._clauses:
            if clause.start < start < clause.end:
                clause.end = start
        self._clauses = [clause for clause in self._clauses if not start <= clause.start < start + speech.seconds]
        stresses = tuple(phoneme.start + phoneme.duration / 2 for phoneme in speech.phonemes if 'ˈ' in phoneme.symbol)
        track = visemes.track(speech.phonemes, speech.seconds)
        bisect.insort(self._clauses, _Clause(start, start + speech.seconds, label, track, stresses),
                      key=lambda clause: clause.start)
        del self._clauses[:-_MOST]

    def silence(self, t: float) -> None:
        """From `t` on nothing is heard: what is being said breaks off, what is queued is dropped."""
        self._clauses = [clause for clause in self._clauses if clause.start < t]
        for clause in self._clauses:
            if clause.end > t:
                clause.end, clause.cut = t, True

    def feel(self, t: float, label: str, confidence: float) -> None:
        """The visitor feels `label` (one of the eight, or unsure) as far as is known at `t`: the face answers it."""
        name, intensity = answer(label, confidence)
        last = self._feelings[-1][1] if self._feelings else None
        if last is None or last[0] != name or abs(last[1] - intensity) > 0.05:
            _insert(self._feelings, (t, (name, round(intensity, 2))))

    def mode(self, t: float, mode: str) -> None:
        """idle, listening, thinking or speaking from `t` on; anything else is BadInput."""
        if mode not in MODES:
            raise BadInput(f'unknown mode {mode!r}; known: {", ".join(MODES)}')
        if not self._modes or self._modes[-1][1] != mode or self._modes[-1][0] > t:
            _insert(self._modes, (t, mode))

    def look_at(self, t: float, yaw: float, pitch: float) -> None:
        """The visitor is in this direction from `t` on: rad, positive to the avatar's own left and down."""
        yaw, pitch = (min(max(angle, -0.8), 0.8) for angle in (yaw, pitch))
        if not self._looks or math.hypot(yaw - self._looks[-1][1], pitch - self._looks[-1][2]) > 0.008:
            _insert(self._looks, (t, yaw, pitch))

    def forget(self, t: float) -> None:
        """Drop what no longer shows at `t` or later. `at` does it by itself, KEEP seconds behind."""
        self._clauses = [clause for clause in self._clauses if clause.end > t - FADE]
        _trim(self._modes, t - FADE)
        _trim(self._feelings, t - FADE)
        _trim(self._looks, t - 12 * _HEAD)

    def reset(self, t: float) -> None:
        """The visitor has left: no speech, no feeling, no direction, idle."""
        self.silence(t)
        self._feelings.clear()
        self._looks.clear()
        self._modes.clear()
        self.mode(t, 'idle')

    @property
    def events(self) -> int:
        """How many events are remembered."""
        return len(self._clauses) + len(self._modes) + len(self._feelings) + len(self._looks)

    def at(self, t: float) -> FaceState:
        """The face at `t`: units in [0, 1.5], angles in rad, breath in [0, 1]. Times more than KEEP behind the latest
        one asked for show what is still remembered."""
        if t > self._latest:
            self._latest = t
            self.forget(t - KEEP)
        state = self._shown(t)
        units, pose = state[:52], state[52:]
        mouth, closed, stress = self._mouth(t)
        units[_PARTING] *= 1 - closed
        units[_SMILE] *= 1 - 0.6 * min(float(mouth[_ROUND].max()), 1.0)
        units += mouth
        units[_INNER] += 0.12 * stress
        units[_OUTER] += 0.1 * stress
        blink = self._life.blink(t, self._mode)
        units[_WIDE] *= 1 - blink
        units[_BLINKS] = np.maximum(units[_BLINKS], blink)
        (yaw, pitch), (head_yaw, head_pitch) = self._look(t)
        stray_yaw, stray_pitch = self._life.restless(t, self._mode)
        roll_sway, pitch_sway, yaw_sway = self._life.sway(t)
        head = (float(pose[0]) + roll_sway,
                float(pose[1]) + pitch_sway + head_pitch + self._life.nod(t, self._mode) + 0.028 * stress,
                float(pose[2]) + yaw_sway + head_yaw + 0.25 * stray_yaw)
        # The eyes stay on the visitor while the head moves beneath them.
        gaze = (_within(yaw + stray_yaw - head[2], 0.6), _within(pitch + stray_pitch - head[1], 0.45))
        return FaceState(np.clip(units, 0, HIGHEST).astype(np.float32), head, gaze, self._life.breath(t))

    def _mode(self, t: float) -> str:
        if any(clause.start <= t < clause.end for clause in self._clauses):
            return 'speaking'
        place = bisect.bisect_right(self._modes, t, key=lambda item: item[0])
        return self._modes[place - 1][1] if place else 'idle'

    def _wanted(self, t: float) -> _Vector:
        place = bisect.bisect_right(self._feelings, t, key=lambda item: item[0])
        feeling = self._feelings[place - 1][1] if place else None
        spoken = next((clause.label for clause in self._clauses if clause.start <= t < clause.end), None)
        return _target(self._mode(t), feeling, spoken)

    def _shown(self, t: float) -> _Vector:
        """Units and pose, [55]: every change of what is wanted in the last FADE seconds, faded in over FADE."""
        since = t - FADE
        changes = {time for time, _ in self._modes if since < time <= t}
        changes |= {time for time, _ in self._feelings if since < time <= t}
        changes |= {time for clause in self._clauses for time in (clause.start, clause.end) if since < time <= t}
        before = self._wanted(since)
        shown: _Vector = before.copy()
        for time in sorted(changes):
            wanted = self._wanted(time)
            if wanted is not before:
                shown += np.float32(smooth((t - time) / FADE)) * (wanted - before)
                before = wanted
        return shown

    def _mouth(self, t: float) -> tuple[Units, float, float]:
        """Mouth units, closure and stress (0 to 1, near a stressed vowel) of the clause heard at `t`."""
        for clause in self._clauses:
            fade = 1.0
            if clause.cut and t >= clause.end:
                fade = 1 - smooth((t - clause.end) / CUT)
            elif not clause.start <= t < clause.end:
                continue
            if t < clause.start or fade <= 0:
                continue
            units, closed = clause.mouth.at(t - clause.start)
            stress = max((1 - abs(t - clause.start - time) / 0.16 for time in clause.stresses), default=0.0)
            return units * np.float32(fade), closed * fade, smooth(stress) * fade
        return np.zeros(len(UNITS), dtype=np.float32), 0.0, 0.0

    def _look(self, t: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Direction of the look, and the head's share of it: yaw, pitch each."""
        eyes, head = [0.0, 0.0], [0.0, 0.0]
        old = (0.0, 0.0)
        for k, (time, yaw, pitch) in enumerate(self._looks):
            if time > t:
                break
            x = (t - time) / _HEAD
            turned = 1.0 if k == 0 and x > 12 else 1 - math.exp(-x) * (1 + x)
            moved = smooth((t - time) / _EYE)
            for axis, step in enumerate((yaw - old[0], pitch - old[1])):
                eyes[axis] += moved * step
                head[axis] += turned * step * _TURN
            old = (yaw, pitch)
        return (eyes[0], eyes[1]), (head[0], head[1])


def _within(value: float, most: float) -> float:
    return min(max(value, -most), most)


def _insert(items: list[_Item], item: _Item) -> None:
    bisect.insort(items, item, key=lambda one: one[0])
    del items[:-_MOST]


def _trim(items: list[_Item], t: float) -> None:
    """Keep the last item at or before `t` and all behind it."""
    place = bisect.bisect_right(items, t, key=lambda item: item[0])
    del items[:max(place - 1, 0)]
