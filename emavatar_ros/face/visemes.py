"""What the mouth does for each phoneme, and how neighbouring phonemes shape each other.

Every phoneme has a target for the mouth's face units and, per group of units, a say in how far it insists on it
(the dominance model of Cohen and Massaro): /u/ insists on rounding, /t/ hardly does, so the lips stay rounded through
"too". The mouth at a moment is the mean of the targets near it in time, weighted by dominance, which falls off before
and behind each phoneme: anticipation and decay. Two rules stand above the mean, because a watcher sees at once when
they are broken: /p b m/ always close the lips, and the jaw never moves faster than a jaw can. In a pause the mouth is
closed. The whole clause is worked out once, at RATE, when its phonemes are known; showing it is interpolation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.face.units import INDEX, UNITS, Units, units
from emavatar_ros.voice.speech import Phoneme

RATE: Final = 100
"""Steps per second of a mouth track."""
JAW_SPEED: Final = 8.0
"""Fastest change of jawOpen, 1/s: a jaw opens for a stressed /a/ in about a tenth of a second."""
LEAD: Final = 0.055
"""Time constant of anticipation before a phoneme's core, s; the lips start for a sound before it is heard."""
LAG: Final = 0.045
"""Time constant of decay behind a phoneme's core, s."""

VISEMES: Final[dict[str, dict[str, float]]] = {
    'silence': {},
    'open': {'jawOpen': 0.55, 'mouthLowerDown': 0.32, 'mouthUpperUp': 0.2},
    'mid': {'jawOpen': 0.34, 'mouthLowerDown': 0.32, 'mouthUpperUp': 0.22, 'mouthStretch': 0.25, 'mouthSmile': 0.12},
    'central': {'jawOpen': 0.28, 'mouthLowerDown': 0.25, 'mouthUpperUp': 0.15, 'mouthStretch': 0.08},
    'spread': {'jawOpen': 0.15, 'mouthStretch': 0.42, 'mouthSmile': 0.15, 'mouthLowerDown': 0.38, 'mouthUpperUp': 0.28},
    'round': {'jawOpen': 0.36, 'mouthFunnel': 0.75, 'mouthPucker': 0.28, 'mouthLowerDown': 0.08},
    'pucker': {'jawOpen': 0.14, 'mouthFunnel': 0.4, 'mouthPucker': 0.75},
    'lips': {'mouthPress': 0.5, 'mouthRollLower': 0.3, 'mouthRollUpper': 0.3},
    'lip_teeth': {'jawOpen': 0.06, 'mouthRollLower': 0.6, 'mouthUpperUp': 0.3},
    'tongue_teeth': {'jawOpen': 0.17, 'tongueOut': 0.35, 'mouthLowerDown': 0.28, 'mouthUpperUp': 0.16},
    'ridge': {'jawOpen': 0.14, 'mouthLowerDown': 0.28, 'mouthUpperUp': 0.15, 'mouthStretch': 0.12},
    'hiss': {'jawOpen': 0.05, 'mouthLowerDown': 0.4, 'mouthUpperUp': 0.24, 'mouthStretch': 0.3},
    'hush': {'jawOpen': 0.1, 'mouthFunnel': 0.6, 'mouthPucker': 0.15, 'mouthLowerDown': 0.25, 'mouthUpperUp': 0.2},
    'r': {'jawOpen': 0.17, 'mouthFunnel': 0.35, 'mouthPucker': 0.25, 'mouthLowerDown': 0.15},
    'back': {'jawOpen': 0.22, 'mouthLowerDown': 0.18, 'mouthUpperUp': 0.08},
    'palatal': {'jawOpen': 0.13, 'mouthStretch': 0.35, 'mouthSmile': 0.15, 'mouthLowerDown': 0.3, 'mouthUpperUp': 0.2},
    'breath': {'jawOpen': 0.25, 'mouthLowerDown': 0.2, 'mouthUpperUp': 0.1},
}
"""Mouth shapes by name: weights of face units, a name without Left/Right for both sides."""

_LETTERS: Final = {
    'open': 'aɑæɐɶ', 'mid': 'eɛɜɝœ', 'central': 'əʌɚᵊɘɵɤɪᵻɨɯ', 'spread': 'i', 'round': 'ɔoɒ', 'pucker': 'uʊwʍyøɥʏʉ',
    'lips': 'pbmɓ', 'lip_teeth': 'fvʋɱɸβ', 'tongue_teeth': 'θð', 'ridge': 'tdnlɾrɫɬɮɺʈɖɳɭɽ', 'hiss': 'szɕʑʦʣʂʐ',
    'hush': 'ʃʒʧʤʨʥ', 'r': 'ɹɻ', 'back': 'kɡgŋxɣχʁqɢɴʀʟɰ', 'palatal': 'jɲʎçʝɟc', 'breath': 'hɦʔħʕ'}
_CLASS: Final = {letter: name for name, letters in _LETTERS.items() for letter in letters}
_VOWELS: Final = frozenset('aɑæɐɶeɛɜɝœəʌɚᵊɘɵɤɪᵻɨɯiɔoɒuʊyøʏʉ')

# How far each shape insists on (jaw, rounding, spreading, everything else); 0 leaves it to the neighbours.
_SAY: Final[dict[str, tuple[float, float, float, float]]] = {
    'silence': (0.6, 0.35, 0.5, 0.6), 'open': (1.7, 0.5, 0.5, 1.0), 'mid': (1.4, 0.6, 0.7, 1.0),
    'central': (0.8, 0.25, 0.3, 0.5), 'spread': (0.8, 0.9, 0.9, 0.8), 'round': (1.4, 1.0, 0.8, 0.8),
    'pucker': (0.8, 1.2, 0.9, 0.8), 'lips': (1.2, 0.2, 0.15, 1.3), 'lip_teeth': (1.1, 0.3, 0.3, 1.3),
    'tongue_teeth': (0.7, 0.25, 0.3, 1.0), 'ridge': (0.55, 0.12, 0.2, 0.5), 'hiss': (1.0, 0.35, 0.5, 0.7),
    'hush': (0.9, 0.9, 0.5, 0.7), 'r': (0.5, 0.7, 0.4, 0.5), 'back': (0.3, 0.08, 0.12, 0.3),
    'palatal': (0.7, 0.6, 0.6, 0.6), 'breath': (0.12, 0.03, 0.05, 0.1)}
_JAW: Final = INDEX['jawOpen']


def _group(name: str) -> int:
    stem = name.removesuffix('Left').removesuffix('Right')
    if stem == 'jawOpen':
        return 0
    if stem in ('mouthFunnel', 'mouthPucker'):
        return 1
    return 2 if stem in ('mouthStretch', 'mouthSmile') else 3


_GROUPS: Final = np.array([_group(name) for name in UNITS])
_PARTING: Final = [INDEX[name] for name in UNITS if name.startswith((
    'jawOpen', 'mouthFunnel', 'mouthLowerDown', 'mouthUpperUp', 'tongueOut', 'mouthStretch'))]
_TARGETS: Final = {name: units(shape) for name, shape in VISEMES.items()}
_SAYS: Final = {name: np.asarray(say, dtype=np.float32)[_GROUPS] for name, say in _SAY.items()}
_LIPS: Final = _TARGETS['lips']


def shapes(symbol: str) -> tuple[str, ...]:
    """The viseme names of one IPA phoneme: one, or two for a diphthong or affricate; unknown letters give ().

    Stress, length and other marks are looked through: `ˈeɪ` gives ('mid', 'central').
    """
    letters = unicodedata.normalize('NFD', symbol)
    found = [(letter, _CLASS[letter]) for letter in letters if letter in _CLASS]
    if len(found) > 1 and found[0][0] not in _VOWELS and found[1][0] not in _VOWELS:
        return (found[-1][1],)  # an affricate such as tʃ looks like its second half
    names: list[str] = []
    for _, name in found[:2]:
        if not names or names[-1] != name:
            names.append(name)
    return tuple(names)


def vowel(symbol: str) -> bool:
    """Whether a phoneme is a vowel or diphthong."""
    return any(letter in _VOWELS for letter in unicodedata.normalize('NFD', symbol))


def viseme(symbol: str, stress: float = 1.0) -> Units:
    """Face units of one phoneme said alone and held, float32 [52]; `stress` scales the opening (0.8 to 1.2 is usual).

    An unknown symbol, and silence, give the closed resting mouth (all zero).
    """
    names = shapes(symbol)
    target: Units = np.array(_TARGETS[names[0] if names else 'silence'])
    target[_PARTING] *= stress
    return target


@dataclass(frozen=True)
class MouthTrack:
    """The mouth over one clause. units: float32 [n, 52] at RATE steps a second from the clause's first sample;
    closed: float32 [n] in [0, 1], 1 where the lips must touch (expressions must not part them)."""

    units: NDArray[np.float32]
    closed: NDArray[np.float32]

    def at(self, seconds: float) -> tuple[Units, float]:
        """Mouth units and closure at a time from the clause's start; outside it the resting mouth and 0."""
        place = seconds * RATE
        step = int(np.floor(place))
        if not 0 <= step < len(self.units) - 1:
            return np.zeros(len(UNITS), dtype=np.float32), 0.0
        part = np.float32(place - step)
        mixed = self.units[step] * (1 - part) + self.units[step + 1] * part
        return mixed, float(self.closed[step] * (1 - part) + self.closed[step + 1] * part)


@dataclass(frozen=True)
class _Piece:
    name: str
    start: float
    end: float
    scale: float


def _pieces(phonemes: Sequence[Phoneme], seconds: float) -> list[_Piece]:
    """Phonemes, diphthongs in two, with the pauses between them as pieces of their own."""
    pieces: list[_Piece] = []
    now = 0.0
    for phoneme in phonemes:
        if phoneme.start - now > 0.06:
            pieces.append(_Piece('silence', now, phoneme.start, 1.0))
        now = phoneme.end
        names = shapes(phoneme.symbol)
        if not names:
            continue
        scale = 1.0
        if vowel(phoneme.symbol):
            scale = 1.25 if 'ˈ' in phoneme.symbol else 1.05 if 'ˌ' in phoneme.symbol else 0.85
        middle = phoneme.start + 0.55 * phoneme.duration
        if len(names) == 2:
            pieces.append(_Piece(names[0], phoneme.start, middle, scale))
            pieces.append(_Piece(names[1], middle, phoneme.end, scale * 0.9))
        else:
            pieces.append(_Piece(names[0], phoneme.start, phoneme.end, scale))
    pieces.append(_Piece('silence', now, max(seconds, now) + 0.5, 1.0))
    return pieces


def track(phonemes: Sequence[Phoneme], seconds: float) -> MouthTrack:
    """The mouth over a clause of `seconds`, from its phonemes in order of time; starts and ends closed."""
    steps = int(np.ceil(max(seconds, 0.0) * RATE)) + 2
    times = np.arange(steps) / RATE
    pieces = _pieces(phonemes, seconds)
    start = np.array([piece.start for piece in pieces])
    end = np.array([piece.end for piece in pieces])
    # The core is the middle half of a phoneme; dominance falls off from its edges.
    quarter = np.minimum((end - start) / 4, 0.05)
    before = np.maximum(start + quarter - times[:, None], 0.0) / LEAD
    behind = np.maximum(times[:, None] - (end - quarter), 0.0) / LAG
    dominance = np.exp(-before ** 1.5 - behind ** 1.5).astype(np.float32)
    # Pressed lips come from the closure below alone: a share of them would tense the vowels beside.
    targets = np.stack([_TARGETS['silence' if piece.name == 'lips' else piece.name] for piece in pieces])
    targets[:, _PARTING] *= np.array([[piece.scale] for piece in pieces], dtype=np.float32)
    says = np.stack([_SAYS[piece.name] for piece in pieces])
    mouth = (dominance @ (says * targets)) / (dominance @ says + 1e-6)
    closed = np.zeros(steps, dtype=np.float32)
    for piece in pieces:
        if piece.name == 'lips':
            away = np.abs(times - (piece.start + piece.end) / 2) - max(0.35 * (piece.end - piece.start), 0.015)
            closed = np.maximum(closed, np.clip(1 - away / 0.055, 0, 1).astype(np.float32))
    closed = closed * closed * (3 - 2 * closed)
    mouth = mouth + closed[:, None] * np.maximum(_LIPS - mouth, 0)
    mouth[:, _PARTING] *= (1 - closed)[:, None]
    edge = np.clip(np.minimum(times / 0.04, (seconds - times) / 0.04), 0, 1)  # closed at both ends of the clause
    mouth *= edge[:, None]
    mouth[:, _JAW] = slowed(mouth[:, _JAW], JAW_SPEED / RATE)
    return MouthTrack(mouth.astype(np.float32), (closed * edge).astype(np.float32))


def slowed(values: NDArray[np.floating], most: float) -> NDArray[np.float64]:
    """The largest curve nowhere above `values` whose steps are at most `most`: fast peaks are undershot, zeros kept."""
    ramp = np.arange(len(values)) * most
    forward = np.minimum.accumulate(values - ramp) + ramp
    back: NDArray[np.float64] = (np.minimum.accumulate((forward + ramp)[::-1])[::-1]) - ramp
    return back
