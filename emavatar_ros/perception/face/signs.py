"""What the 52 face units of a visitor say: a few named measures, a nudge to the networks, and plain words.

The networks read happiness, surprise, anger and rest well, sadness, disgust and fear badly and contempt not at all;
the units fill those gaps: corners of the mouth, inner brows, nose, and whether the two sides differ. The weights
below are this project's, after the action units usually named for each emotion. They were set by hand, not trained,
for lack of labelled faces that may be used, so they only nudge.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.affect import valence_arousal
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.face.units import INDEX, UNITS, Units, units

REST: Final = units(browInnerUp=0.25, browDown=0.1, browOuterUp=0.12, eyeSquint=0.2, mouthPress=0.1,
                    mouthShrugLower=0.1, mouthRollLower=0.1)
"""What the landmark model gives for many a face at rest; a person's own baseline takes its place."""

_SHARE = 20
"""Percentile of a person's units that counts as their rest."""
_DRIFT: Final = units({name: 0.5 if name.startswith('brow') else 0.25 for name in UNITS})
"""A baseline differs from REST by at most this: somebody sad from the first second on is not at rest. How high brows
sit differs most between people."""
_ENOUGH = 4.0
_EVERY = 0.25
_KEPT = 240
_MOVED = 0.25
"""How much of valence and arousal the units may add."""

_PHRASES: Final = (
    ('mouth_smile', 0.3, 'the mouth corners are up'),
    ('mouth_corner_down', 0.15, 'the mouth corners are down'),
    ('one_sided_smile', 0.3, 'only one side of the mouth is drawn up'),
    ('brow_lower', 0.3, 'the brows are drawn down'),
    ('brow_inner_raise', 0.25, 'the inner brows are raised'),
    ('eye_wide', 0.2, 'the eyes are wide open'),
    ('jaw_drop', 0.3, 'the mouth stands open'),
    ('nose_wrinkle', 0.15, 'the nose is wrinkled'),
    ('upper_lip_raise', 0.25, 'the upper lip is raised'),
    ('mouth_stretch', 0.25, 'the mouth is drawn wide'),
    ('lip_press', 0.3, 'the lips are pressed together'),
    ('cheek_raise', 0.3, 'the cheeks are raised'),
)


class Baseline:
    """A person's face at rest: a low percentile of the last minute, once there is enough of it."""

    def __init__(self) -> None:
        self._kept: deque[tuple[float, Units]] = deque(maxlen=_KEPT)
        self._rest: Units = REST

    @property
    def known(self) -> bool:
        """True once the rest is the person's own."""
        return self._rest is not REST

    @property
    def rest(self) -> Units:
        """Units at rest, float32 [52]."""
        return self._rest

    def update(self, seen: Units, stamp: float) -> Units:
        """Take in what was seen at `stamp` (s); returns the units above rest, float32 [52], at least 0. Inner brows
        below their rest count as lowered ones."""
        if not self._kept or not 0 <= stamp - self._kept[-1][0] < _EVERY:
            self._kept.append((stamp, seen))
            if stamp - self._kept[0][0] >= _ENOUGH:
                low = np.percentile(np.stack([row for _, row in self._kept]), _SHARE, axis=0).astype(np.float32)
                self._rest = np.clip(low, REST - _DRIFT, REST + _DRIFT)
        above: Units = np.maximum(seen - self._rest, 0)
        lowered = max(float(self._rest[INDEX['browInnerUp']] - seen[INDEX['browInnerUp']]) - 0.1, 0.0)
        for side in ('browDownLeft', 'browDownRight'):
            above[INDEX[side]] = min(above[INDEX[side]] + 0.7 * lowered, 1.0)
        return above


def measures(above: Units) -> dict[str, float]:
    """Named measures in about [0, 1] from face units float32 [52]; those of `deliberate`'s evidence and three more."""
    def mean(name: str) -> float:
        return float(above[INDEX[name + 'Left']] + above[INDEX[name + 'Right']]) / 2

    def apart(name: str) -> float:
        return abs(float(above[INDEX[name + 'Left']] - above[INDEX[name + 'Right']]))

    def one(name: str) -> float:
        return float(above[INDEX[name]])

    smile = mean('mouthSmile')
    sided = apart('mouthSmile') + apart('mouthDimple') + abs(one('mouthLeft') - one('mouthRight'))
    return {
        'mouth_smile': smile,
        'cheek_raise': max(mean('cheekSquint'), min(mean('eyeSquint') * 2, smile)),
        'brow_lower': mean('browDown'),
        'brow_inner_raise': one('browInnerUp'),
        'mouth_corner_down': mean('mouthFrown'),
        'nose_wrinkle': mean('noseSneer'),
        'lip_press': max(mean('mouthPress'), one('mouthRollLower')),
        'one_sided_smile': min(sided, 1.0),
        'eye_wide': mean('eyeWide'),
        'jaw_drop': one('jawOpen'),
        'upper_lip_raise': max(one('mouthShrugUpper'), mean('mouthUpperUp') - smile),
        'mouth_stretch': mean('mouthStretch'),
        'chin_raise': one('mouthShrugLower'),
    }


def nudge(found: dict[str, float], turned: float) -> NDArray[np.float64]:
    """Log-odds each emotion gains from the measures, float64 [8]; `turned`: the head's yaw in rad, which makes two
    sides look different that are not."""
    def over(name: str, low: float, high: float) -> float:
        return min(max((found[name] - low) / (high - low), 0.0), 1.0)

    smile = over('mouth_smile', 0.2, 0.65)
    sided = over('one_sided_smile', 0.25, 0.6) * max(1 - abs(turned) / 0.5, 0.0)
    inner, lowered = over('brow_inner_raise', 0.15, 0.5), over('brow_lower', 0.2, 0.5)
    wide, jaw = over('eye_wide', 0.12, 0.35), over('jaw_drop', 0.2, 0.5)
    down = over('mouth_corner_down', 0.1, 0.45)
    nose, lip = over('nose_wrinkle', 0.1, 0.45), over('upper_lip_raise', 0.2, 0.45)
    # Lips pressed in anger are easily taken for a smile: with brows this low they are none.
    smile *= 1 - over('brow_lower', 0.3, 0.6)
    plain = 1 - smile
    gains = {
        'happy': 3 * smile * (1 - 0.95 * sided) * (1 - lowered / 2),
        'sad': plain * (1 - jaw) * (down * (2.0 + inner) * (1 - lowered / 2) + 0.6 * inner * (1 - wide)
                                    + 0.8 * over('chin_raise', 0.1, 0.4) * inner),
        'angry': plain * (1 - 0.6 * max(nose, lip)) * (3.2 * lowered + 0.6 * over('lip_press', 0.2, 0.6) * lowered),
        'disgusted': plain * (1 - jaw) * (2.5 * nose + 3.6 * lip * max(nose, min(1.6 * lowered, 1.0))),
        'surprised': (1 - lowered) * (2.6 * jaw * max(inner, wide) + 0.8 * wide),
        'fear': plain * (1 - jaw / 2) * inner * (2.2 * over('mouth_stretch', 0.1, 0.35) + 1.6 * wide),
        'contempt': 5.5 * sided * (1 - jaw) * (1 - wide),
    }
    gains['neutral'] = -1.1 * max(gains.values())
    return np.array([gains[label] for label in LABELS])


def affect(distribution: Distribution, above: Units) -> tuple[float, float]:
    """Valence and arousal, each in [-1, 1]: what the emotions say, moved a little by what moves in the face."""
    found = measures(above)
    valence, arousal = valence_arousal(distribution)
    pleasant = found['mouth_smile'] - 1.5 * found['mouth_corner_down'] - found['brow_lower'] - found['nose_wrinkle']
    awake = found['jaw_drop'] + 2 * found['eye_wide'] + 0.5 * (found['brow_inner_raise'] + found['mouth_smile'])
    return (float(np.clip(valence + _MOVED * np.clip(pleasant, -1, 1), -1, 1)),
            float(np.clip(arousal + _MOVED * np.clip(awake, 0, 1), -1, 1)))


def sentence(found: dict[str, float], label: str) -> str:
    """What can be seen, in plain words: at most three signs, the strongest first."""
    hidden = {'mouth_smile'} if found['one_sided_smile'] >= 0.3 else set()
    if found['brow_lower'] >= 0.3 and label != 'happy':
        hidden |= {'mouth_smile', 'cheek_raise'}
    signs = [(found[name] / least, phrase) for name, least, phrase in _PHRASES
             if found[name] >= least and name not in hidden]
    signs.sort(key=lambda sign: -sign[0])
    words = [phrase for _, phrase in signs[:3]]
    if not words:
        return 'the face is at rest' if label == 'neutral' else f'the face as a whole looks {_LOOKS[label]}'
    return ', '.join(words[:-1]) + (' and ' if len(words) > 1 else '') + words[-1]


_LOOKS: Final = {'angry': 'angry', 'contempt': 'scornful', 'disgusted': 'disgusted', 'fear': 'afraid', 'happy': 'happy',
                 'neutral': 'calm', 'sad': 'sad', 'surprised': 'surprised'}
assert len(REST) == len(UNITS)
