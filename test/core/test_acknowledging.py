"""The sound that tells a visitor at once that they were heard."""

from __future__ import annotations

from itertools import pairwise

import pytest

from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.planning import guard, texts
from emavatar_ros.planning.acknowledging import Acknowledging, phrases, unsaid
from emavatar_ros.voice.text import speakable

TOLD = 'I failed my test again'


def test_it_fits_the_feeling_and_is_never_the_same_twice() -> None:
    chooser = Acknowledging(1.5)
    said = [chooser.choose(TOLD, 'en-GB', emotion) for emotion in ('sad', 'sad', 'sad', 'happy', 'surprised', 'fear')]
    assert said[0] is not None and said[0].expression == 'sad'
    assert all(beat is not None for beat in said)
    assert all(a.text != b.text for a, b in pairwise(said) if a and b)


@pytest.mark.parametrize(('text', 'language'), [('Yes', 'en'), ('Oh well', 'en'), ('', 'en'), (TOLD, 'ja')])
def test_none_in_quick_exchanges_nor_in_a_language_without_any(text: str, language: str) -> None:
    assert Acknowledging(1.5).choose(text, language, 'sad') is None


def test_none_when_the_reply_comes_soon() -> None:
    chooser = Acknowledging(1.5)
    for _ in range(5):
        chooser.waited(0.8)
    assert chooser.choose(TOLD, 'en', 'sad') is None
    for _ in range(3):
        chooser.waited(4.0)
    assert chooser.choose(TOLD, 'en', 'sad') is not None


@pytest.mark.parametrize('language', texts.LANGUAGES)
def test_all_can_be_said(language: str) -> None:
    all_of_them = list(phrases([language, f'{language}-x']))
    assert len(all_of_them) == 2 * (len(LABELS) + 1), 'two a feeling, so that none comes twice in a row'
    assert set(texts.acknowledgements(language)) == {*LABELS, UNSURE}
    for beat, spoken in all_of_them:
        assert spoken == language
        assert speakable(beat.text, language).strip('¡!.') == beat.text.strip('¡!.')
        assert guard.fault(beat.text, language=language, emotion='sad', visitor=TOLD) is None


@pytest.mark.parametrize(('part', 'said', 'left'), [
    ('Oh no, your cat.', 'Oh.', 'No, your cat.'), ('Wow, a win!', 'Wow!', 'A win!'), ('Okay.', 'Okay.', 'Okay.'),
    ('Ohio is far away.', 'Oh.', 'Ohio is far away.'), ('Vaya, qué pena.', 'Vaya.', 'Qué pena.'),
    ('¡Anda, ya era hora!', '¡Anda!', 'Ya era hora!'), ('That hurts.', '', 'That hurts.')])
def test_the_reply_does_not_say_it_again(part: str, said: str, left: str) -> None:
    assert unsaid(part, said) == left


