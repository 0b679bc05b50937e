"""The mouth: closed where it must be, open where it must be, never faster than a jaw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emavatar_ros.errors import BadInput
from emavatar_ros.face import visemes
from emavatar_ros.face.expression import EXPRESSIONS, answer, expression, speaking
from emavatar_ros.face.units import INDEX, UNITS
from emavatar_ros.voice.speech import Phoneme

JAW = INDEX['jawOpen']
PARTING = [JAW, *(INDEX[f'mouth{name}{side}'] for name in ('LowerDown', 'UpperUp') for side in ('Left', 'Right'))]
SOUNDS = ['p', 'b', 'm', 'ˈɑː', 'ə', 'ˈiː', 'uː', 'ˈaɪ', 'oʊ', 's', 't', 'k', 'f', 'θ', 'ʃ', 'tʃ', 'ɹ', 'h', 'l']


def phrase(symbols: list[str], length: float = 0.09, start: float = 0.05) -> tuple[list[Phoneme], float]:
    made = [Phoneme(symbol, start + k * length, length) for k, symbol in enumerate(symbols)]
    return made, start + len(symbols) * length + 0.2


@given(st.lists(st.sampled_from(SOUNDS), min_size=1, max_size=30), st.floats(0.03, 0.2))
@settings(max_examples=60, deadline=None)
def test_rules_that_hold_for_every_phrase(symbols: list[str], length: float) -> None:
    phonemes, seconds = phrase(symbols, length)
    track = visemes.track(phonemes, seconds)
    assert np.isfinite(track.units).all() and track.units.min() >= 0 and track.units.max() <= 1.5
    assert np.abs(np.diff(track.units[:, JAW])).max() * visemes.RATE <= visemes.JAW_SPEED + 1e-4
    assert not track.units[0].any() and track.units[-2:].max() < 1e-3
    for phoneme in phonemes:
        if phoneme.symbol in 'pbm':
            units, closed = track.at(phoneme.start + phoneme.duration / 2)
            assert closed > 0.8 and units[PARTING].max() < 0.06


def test_a_pause_closes_the_mouth_and_a_vowel_opens_it() -> None:
    phonemes = [Phoneme('ˈɑː', 0.1, 0.2), Phoneme('ˈɑː', 1.0, 0.2)]
    track = visemes.track(phonemes, 1.4)
    assert track.at(0.2)[0][JAW] > 0.4 and track.at(1.1)[0][JAW] > 0.4
    assert track.at(0.65)[0].max() < 0.02
    assert not track.at(-1)[0].any() and not track.at(9)[0].any()


def test_stress_opens_wider_and_rounding_is_anticipated() -> None:
    weak, strong = (visemes.track([Phoneme(s, 0.1, 0.2)], 0.5).at(0.2)[0][JAW] for s in ('ɑ', 'ˈɑ'))
    assert strong > weak * 1.2
    funnel = INDEX['mouthPucker']
    too, tea = (visemes.track(*phrase(['t', vowel], 0.1)).at(0.1)[0][funnel] for vowel in ('uː', 'iː'))
    assert too > tea + 0.1  # in "too" the lips are round already during the t


@pytest.mark.parametrize('symbol, names', [
    ('ˈeɪ', ('mid', 'central')), ('tʃ', ('hush',)), ('ŋ', ('back',)), ('ã', ('open',)), ('iː', ('spread',)),
    ('', ()), ('7', ()), ('ˈ', ())])
def test_shapes_by_symbol(symbol: str, names: tuple[str, ...]) -> None:
    assert visemes.shapes(symbol) == names
    assert visemes.viseme(symbol).any() == bool(names)


def test_every_shape_uses_face_units_and_every_expression_reads_apart() -> None:
    vectors = [expression(name) for name in EXPRESSIONS]
    for k, vector in enumerate(vectors):
        assert vector.shape == (52,) and vector.min() >= 0 and vector.max() <= 1.5
        assert all(np.abs(vector - other).max() > 0.1 for other in vectors[:k])
    left, right = (expression('contempt')[INDEX[f'mouthSmile{side}']] for side in ('Left', 'Right'))
    assert left > 0.5 and right == 0  # one-sided


def test_speaking_leaves_the_mouth_to_the_words() -> None:
    lips = [INDEX[name] for name in UNITS if name.startswith(('jaw', 'mouthPress', 'mouthRoll', 'mouthFunnel'))]
    for name in EXPRESSIONS:
        assert not speaking(name)[lips].any()
        assert (speaking(name) <= expression(name) + 1e-6).all()
    assert speaking('happy')[INDEX['mouthSmileLeft']] > 0.2


def test_a_listener_answers_and_does_not_copy() -> None:
    assert answer('sad')[0] == 'concern' and answer('angry')[0] == 'calm' and answer('fear')[0] == 'concern'
    assert answer('sad', 0.2)[1] < answer('sad', 0.9)[1]
    for call in (lambda: answer('bored'), lambda: expression('bored')):
        with pytest.raises(BadInput, match='bored'):
            call()
