"""Instructions in words move the delivery the way they say, and only then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.voice.instruction import MANNER, delivery

PLAIN = delivery('', 'neutral')


def test_nothing_asked_is_the_manner_of_the_expression() -> None:
    assert delivery('', 'neutral') == Delivery()
    assert delivery('', 'sad') == MANNER['sad'] and delivery('', 'sad').rate < 1
    assert delivery('', 'no such label') == Delivery()


@pytest.mark.parametrize('words, field, sign', [
    ('speak with a soothing, slow-paced tone', 'rate', -1), ('speak with a soothing, slow-paced tone', 'pitch', -1),
    ('softly', 'gain', -1), ('bright and cheerful', 'pitch', 1), ('Quick!', 'rate', 1), ('a louder voice', 'gain', 1),
    ('calm', 'range', -1), ('in a lower pitch', 'pitch', -1), ('with high energy', 'gain', 1),
    ('lower the volume', 'gain', -1), ('at an increased pace', 'rate', 1), ('expressive', 'range', 1),
    ('monotone', 'range', -1), ('with long pauses', 'pause', 1), ('without rushing', 'rate', -1),
    ('firm', 'gain', 1), ('deep voice', 'pitch', -1)])
def test_words_move_the_delivery_their_way(words: str, field: str, sign: int) -> None:
    change = getattr(delivery(words, 'neutral'), field) - getattr(PLAIN, field)
    assert change * sign > 0


def test_strength_and_negation() -> None:
    slow, very, bit = (delivery(f'{word} slow', 'neutral').rate for word in ('', 'very', 'slightly'))
    assert very < slow < bit < 1
    assert delivery('not slow', 'neutral').rate > 1
    assert delivery('deeply moved', 'neutral') == PLAIN


@pytest.mark.parametrize('words', ['zxcv', 'as if you were at the station', '!!!', '42', 'the event this evening'])
def test_unknown_words_change_nothing(words: str) -> None:
    assert delivery(words, 'neutral') == PLAIN


@given(st.text(max_size=200), st.sampled_from([*MANNER, '']))
def test_any_text_stays_in_range(words: str, label: str) -> None:
    for asked in (delivery(words, label), delivery((words + ' very loud excited fast high pitch ') * 9, label)):
        assert 0.6 <= asked.rate <= 1.5 and 0.75 <= asked.pitch <= 1.35 and 0.4 <= asked.range <= 1.8
        assert -9 <= asked.gain <= 6 and 0.5 <= asked.pause <= 2.5
