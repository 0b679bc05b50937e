"""Every voice keeps the same promises: Kokoro (where its model is in the store) and the espeak-ng program."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import numpy as np
import pytest

from emavatar_ros import avatars
from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.models.store import Store
from emavatar_ros.voice import espeak, graphemes, kokoro
from emavatar_ros.voice.speech import Speech, Voice

TEXT = 'Hello there, it is good to see you. *smiles* Shall we go in?'


@pytest.fixture(scope='module', params=['espeak', 'kokoro'])
def voice(request: pytest.FixtureRequest) -> Iterator[Voice]:
    if not shutil.which(graphemes.PROGRAM):
        pytest.skip('no espeak-ng here: apt install espeak-ng')
    avatar = avatars.load('mira')
    if request.param == 'espeak':
        yield espeak.create(espeak.Config(), avatar)
    else:
        if not (Store().cached('kokoro') and Store().cached('kokoro-voices')):
            pytest.skip('no Kokoro in the store: emavatar models pull kokoro kokoro-voices')
        yield kokoro.create(kokoro.Config(), avatar)


@pytest.fixture(scope='module')
def said(voice: Voice) -> tuple[Speech, ...]:
    voice.warm_up()
    return tuple(voice.speak(TEXT, Delivery(), 'en'))


def test_it_speaks_clause_by_clause_and_only_what_is_speech(voice: Voice, said: tuple[Speech, ...]) -> None:
    assert len(said) >= 2 and voice.name
    assert ' '.join(part.text for part in said) == 'Hello there, it is good to see you. Shall we go in?'
    assert said[0].seconds < 3.5


def test_sound_is_mono_float_at_its_rate_and_neither_silent_nor_clipped(voice: Voice, said: tuple[Speech, ...]) -> None:
    for part in said:
        samples = part.audio.samples
        assert part.audio.rate == voice.rate and samples.dtype == np.float32 and samples.ndim == 1
        assert 0.1 < np.abs(samples).max() < 1 and np.isfinite(samples).all()


def test_pieces_join_without_a_click_and_start_without_waiting(said: tuple[Speech, ...]) -> None:
    for part in said:
        samples, rate = np.abs(part.audio.samples), part.audio.rate
        assert samples[0] < 1e-3 and samples[-1] < 1e-3
        assert np.argmax(samples > 0.02) < 0.12 * rate  # speech begins within 0.12 s of the piece


def test_phonemes_lie_in_order_inside_the_sound_and_where_it_is_loud(said: tuple[Speech, ...]) -> None:
    for part in said:
        assert len(part.phonemes) >= 6
        now = 0.0
        for phoneme in part.phonemes:
            assert phoneme.symbol and phoneme.duration > 0 and phoneme.start >= now - 1e-6
            now = phoneme.end
        assert now <= part.seconds + 1e-6
        rate = part.audio.rate
        inside = np.zeros(len(part.audio.samples), dtype=bool)
        for phoneme in part.phonemes:
            inside[int(phoneme.start * rate):int(phoneme.end * rate)] = True
        power = part.audio.samples ** 2
        assert power[inside].sum() > 0.85 * power.sum()
    assert any('ˈ' in phoneme.symbol for phoneme in said[0].phonemes)


def test_a_delivery_changes_length_and_level(voice: Voice) -> None:
    plain, slow, loud = (next(iter(voice.speak('We are open all day.', delivery, 'en')))
                         for delivery in (Delivery(), Delivery(rate=0.7, pause=0.5), Delivery(gain=4)))
    assert slow.phonemes[-1].end > 1.2 * plain.phonemes[-1].end
    level = [float(np.sqrt(np.mean(part.audio.samples ** 2))) for part in (plain, loud)]
    assert 1.3 < level[1] / level[0] < 1.9


def test_nothing_to_say_gives_nothing(voice: Voice) -> None:
    for text in ('', '...', '😀', '*smiles*', '<think>hm</think>', '?!'):
        assert list(voice.speak(text, Delivery(), 'en')) == []


def test_it_stops_when_closed(voice: Voice) -> None:
    stream = voice.speak('One moment please. ' * 50, Delivery(), 'en')
    assert next(iter(stream)).seconds > 0
    stream.close()  # type: ignore[attr-defined]
    assert list(stream) == []


@pytest.mark.parametrize('language', ['es', 'es-MX', 'de', 'en-GB', 'EN_us'])
def test_other_languages_are_spoken_at_the_same_rate(voice: Voice, language: str) -> None:
    text = {'es': 'Hola, buenos días.', 'de': 'Guten Tag.'}.get(language[:2], 'Good day.')
    parts = list(voice.speak(text, Delivery(), language))
    assert parts and all(part.audio.rate == voice.rate and part.phonemes for part in parts)


@pytest.mark.parametrize('language', ['tlh-xx', '', '../etc', '--version'])
def test_a_language_no_one_speaks_is_bad_input(voice: Voice, language: str) -> None:
    with pytest.raises(BadInput, match='no voice speaks'):
        list(voice.speak('Hello.', Delivery(), language))


@pytest.mark.parametrize('text', ['x' * 150, '-v de', '<speak> & </speak> a < b', '\x00\ud800 Hello', '１２３',
                                  '🏳️‍🌈 flag'])
def test_odd_text_is_spoken_or_left_out(voice: Voice, text: str) -> None:
    stream = voice.speak(text, Delivery(), 'en')
    for part, _ in zip(stream, range(2)):
        assert part.seconds > 0


def test_without_the_program_the_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('PATH', '/nonexistent')
    with pytest.raises(Missing, match='apt install espeak-ng'):
        espeak.create(espeak.Config(), avatars.load('mira'))
