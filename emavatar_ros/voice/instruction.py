"""An expressive instruction in words ("speak with a soothing, slow-paced tone") as a Delivery.

Each emotion has its own manner; words of a small lexicon move it further, in octaves of rate, pitch, range and pause
and in dB. `very` and `slightly` strengthen and weaken the word behind them, `not`, `without`, `less` turn it round.
A word that is not in the lexicon changes nothing. The figures are steps a listener notices: about a semitone of pitch,
8 to 15 percent of rate, 2 to 3 dB.
"""

from __future__ import annotations

import math
import re
from typing import Final

from emavatar_ros.emotion.delivery import Delivery

MANNER: Final[dict[str, Delivery]] = {
    'angry': Delivery(1.05, 1.0, 1.2, 2.0, 0.9), 'contempt': Delivery(0.94, 0.95, 0.85, 0.0, 1.1),
    'disgusted': Delivery(0.95, 0.96, 0.95, 0.0, 1.1), 'fear': Delivery(1.07, 1.08, 0.9, -1.0, 1.1),
    'happy': Delivery(1.06, 1.08, 1.3, 1.0, 0.9), 'neutral': Delivery(), 'sad': Delivery(0.9, 0.94, 0.8, -2.0, 1.3),
    'surprised': Delivery(1.05, 1.1, 1.4, 1.0, 0.9), 'concern': Delivery(0.92, 0.96, 0.9, -1.5, 1.25),
    'calm': Delivery(0.93, 0.96, 0.8, -1.0, 1.2), 'interest': Delivery(1.02, 1.05, 1.2, 0.5, 1.0),
    'warm': Delivery(0.97, 1.0, 1.1, -0.5, 1.1), 'thinking': Delivery(0.94, 0.98, 0.9, -1.0, 1.3)}
"""How a beat is said for the expression it is shown with, before the instruction's words."""

_Step = tuple[float, float, float, float, float]  # rate, pitch, range: octaves; gain: dB; pause: octaves
_LEXICON: Final[dict[str, _Step]] = {}


def _enter(step: _Step, stems: str) -> None:
    _LEXICON.update(dict.fromkeys(stems.split(), step))


_enter((-0.14, -0.07, -0.15, -2.0, 0.3), 'sooth calm relax peace tranquil serene reassur consol comfort seren tranquil')
_enter((-0.24, 0, 0, 0, 0.35), 'slow unhurried patient leisure drawn measured deliberat lent langsam despacio')
_enter((0.2, 0, 0, 0, -0.3), 'quick fast brisk rapid swift hurr rush rápid schnell urgen')
_enter((-0.05, -0.04, -0.05, -3.0, 0.1), 'soft gentl quiet hush tender delicat suave leise sanft low-volume subdued')
_enter((-0.1, -0.06, -0.25, -5.0, 0.15), 'whisper murmur breath')
_enter((0.05, 0.13, 0.3, 1.0, -0.1), 'bright cheer joy happ upbeat sunny merry alegr fröhlich delight glad celebrat')
_enter((0.12, 0.13, 0.4, 2.0, -0.2), 'excit energ enthusias livel vibrant thrill eager dynamic')
_enter((-0.05, -0.02, 0.1, -1.0, 0.1), 'warm kind friend caring empath sympath compassion heartfelt welcom affection '
       'cálid')
_enter((0.02, -0.06, -0.1, 2.0, 0.0), 'firm confiden assertive decisive strong resolute bold authorit')
_enter((0.0, 0.0, 0.0, 3.5, 0.0), 'loud louder powerful project forceful')
_enter((-0.12, -0.1, -0.2, -2.0, 0.3), 'sad somber sombre melanchol mourn sorrow solemn grave regretful')
_enter((-0.06, -0.07, -0.15, 0.0, 0.15), 'serious earnest sincere sober formal grounded steady stead')
_enter((0.03, 0.06, 0.2, 0.0, 0.0), 'light play curious interest wonder encourag hopeful optimis positiv amus teas')
_enter((0.05, 0.15, 0.4, 1.0, 0.0), 'surpris amaz astonish')
_enter((0.0, -0.15, 0.0, 0.0, 0.0), 'deep')
_enter((0.0, 0.0, -0.6, 0.0, 0.0), 'monoton flat evenly deadpan')
_enter((0.0, 0.0, 0.4, 0.5, 0.0), 'express animat melodi varied dramatic singsong')
_enter((0.05, 0.1, 0.1, -1.0, 0.1), 'anxious nervous fear worr tens')
_enter((-0.1, 0.0, -0.05, -1.5, 0.35), 'hesita thoughtful pensive reflective cautious careful')
_enter((0.0, 0.0, 0.0, 0.0, 0.4), 'paus')
_NOT: Final = frozenset({'not', 'without', 'no', 'less', 'never', 'avoid', 'avoiding',
                         'non', 'nor', 'don', 't', 'sin', 'ohne'})
_VERY: Final = frozenset({'very', 'extremely', 'really', 'truly', 'deeply', 'highly', 'much',
                          'muy', 'sehr', 'especially'})
_BIT: Final = frozenset({'slightly', 'little', 'bit', 'somewhat', 'mildly', 'touch', 'hint',
                         'faintly', 'un', 'poco', 'etwas', 'moderately'})
_AIMS: Final[dict[str, _Step]] = {  # what "higher" and "lower" may be about
    'volume': (0, 0, 0, 3.0, 0), 'loudness': (0, 0, 0, 3.0, 0), 'level': (0, 0, 0, 3.0, 0),
    'pace': (0.2, 0, 0, 0, -0.2), 'speed': (0.2, 0, 0, 0, -0.2), 'tempo': (0.2, 0, 0, 0, -0.2),
    'rate': (0.2, 0, 0, 0, -0.2), 'energy': (0.08, 0.08, 0.3, 2.0, -0.1), 'intensity': (0.05, 0.05, 0.3, 2.0, 0),
    'range': (0, 0, 0.4, 0, 0), 'pitch': (0, 0.15, 0, 0, 0)}
_LONGEST_STEM: Final = max(map(len, _LEXICON))
_LOW: Final = (0.6, 0.75, 0.4, -9.0, 0.5)
_HIGH: Final = (1.5, 1.35, 1.8, 6.0, 2.5)


def _step(words: list[str], place: int) -> _Step | None:
    """What one word moves, None when it is not in the lexicon."""
    word = words[place]
    for stem, sign in (('high', 1.0), ('low', -1.0), ('rais', 1.0), ('reduc', -1.0), ('increas', 1.0)):
        if word.startswith(stem):
            aim = next((w for w in words[place + 1:place + 4] if w in _AIMS), None)
            if aim is None and stem not in ('high', 'low'):
                return None
            r, p, s, g, q = _AIMS[aim or 'pitch']
            return sign * r, sign * p, sign * s, sign * g, sign * q
    if word in _VERY:
        return None  # deeply moved says nothing of a deep voice
    for length in range(min(len(word), _LONGEST_STEM), 2, -1):
        if word[:length] in _LEXICON:
            return _LEXICON[word[:length]]
    return None


def delivery(instruction: str, label: str) -> Delivery:
    """The delivery that an instruction asks for, on top of the manner of an expression.

    label: one of the eight emotions or another name of MANNER, as the beat's expression; any other has no manner of
    its own. Words may be English, a few Spanish and German ones are known too. Every value is within Delivery's range.
    """
    words = re.findall(r'\w+', instruction.lower().replace('-', ' '))
    moved = [0.0] * 5
    for place in range(len(words)):
        step = _step(words, place)
        if step is None:
            continue
        before = words[max(0, place - 2):place]
        weight = 1.5 if _VERY.intersection(before) else 0.5 if _BIT.intersection(before) else 1.0
        if _NOT.intersection(words[max(0, place - 3):place]):
            weight = -0.4
        moved = [old + weight * new for old, new in zip(moved, step, strict=True)]
    # Words that say the same thing twice ("soft, slow, soothing") add up less and less.
    moved = [most * math.tanh(step / most) for step, most in zip(moved, (0.35, 0.35, 0.7, 7.0, 0.7), strict=True)]
    base = MANNER.get(label, Delivery())
    values = (base.rate * 2 ** moved[0], base.pitch * 2 ** moved[1], base.range * 2 ** moved[2],
              base.gain + moved[3], base.pause * 2 ** moved[4])
    rate, pitch, spread, gain, pause = (min(max(value, low), high)
                                        for value, low, high in zip(values, _LOW, _HIGH, strict=True))
    return Delivery(rate, pitch, spread, gain, pause)
