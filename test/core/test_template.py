"""The composer without a model: patterns, no repetition, nothing the kiosk can't keep."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest

from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.planning import guard, template, texts

EMOTIONS = (*LABELS, UNSURE)
SAID = {
    'en': ('I lost my keys.', 'My boss fired me today because I was late', 'My exam was so', 'Why is that?', 'Bah',
    'Yes.',
           'They cancelled our flight, and we wait here since noon.', 'Great, another meeting.', ''),
    'es': ('Perdí mis llaves.', 'Estoy así porque mi jefe me gritó', 'Mi examen de hoy', '¿Por qué?', 'Bah', 'Sí.',
           'Me robaron la cartera en el metro.', 'Vaya, otra reunión.', ''),
}


@pytest.mark.parametrize('language', texts.LANGUAGES)
@pytest.mark.parametrize('emotion', EMOTIONS)
def test_every_emotion_has_patterns_that_may_be_spoken(language: str, emotion: str) -> None:
    patterns = texts.templates(language)
    lists = patterns[emotion]
    assert len(lists['open']) >= 12 and len(lists['next']) >= 12
    assert len(lists['echo']) >= 6 and len(lists['silent']) >= 3
    assert not any('?' in item for item in lists['open'] + lists['echo']), 'the next step alone may ask'
    words = {'echo': 'the train was late', 'topic': 'your exam'} if language == 'en' else {
        'echo': 'el tren llegó tarde', 'topic': 'tu examen'}
    words |= {name.capitalize(): text.capitalize() for name, text in words.items()}
    own = [*lists['echo'], *lists['open'], *lists['next'], *lists.get('event', ()), *lists['silent']]
    assert len(set(own)) == len(own)
    frames = [*lists['echo'], *patterns['heard']['echo'], *patterns['about']['echo']]
    assert all(len(re.findall(r'\{(?:echo|topic)\}', item, re.IGNORECASE)) == 1 for item in frames)
    filled = [item.format(**words) for item in [*own, *frames, *patterns['question']['open'],
              *patterns['brief']['open']]]
    for sentence in filled:
        assert guard.fault(sentence, language=language, emotion=emotion, visitor='xyz') is None, sentence
        assert re.match(r'[A-Z¡¿ÁÉÍÓÚ]', sentence) and sentence[-1] in '.!?' and sentence.count('?') <= 1, sentence


@pytest.mark.parametrize('language', texts.LANGUAGES)
def test_fixed_answers_may_be_spoken(language: str) -> None:
    for kind in (*template.ALWAYS, *template.CALM):
        for answer in texts.templates(language)[kind]['open']:
            assert guard.fault(answer, language=language, emotion='neutral', visitor='') is None, answer
            assert answer.count('?') <= 1, answer


@pytest.mark.parametrize('language', texts.LANGUAGES)
@pytest.mark.parametrize('emotion', EMOTIONS)
def test_two_turns_in_a_row_neither_begin_nor_end_alike(language: str, emotion: str) -> None:
    for text in SAID[language]:
        replies = []
        last = ''
        for turn in range(0, 24, 2):
            replies.append(template.compose(text, language, emotion, turn, last))
            last = ' '.join(replies[-1])
            assert last.count('?') <= 1 and 1 <= len(replies[-1]) <= 3 and len(last.split()) <= 40
        assert all(one[0] != two[0] and one[-1] != two[-1] for one, two in pairwise(replies)), replies
        assert all(sentence == sentence.strip() and sentence for reply in replies for sentence in reply)


def test_the_same_turn_gets_the_same_reply() -> None:
    assert template.compose('I won!', 'en', 'happy', 3) == template.compose('I won!', 'en', 'happy', 3)


@pytest.mark.parametrize(('text', 'language', 'words'), [
    ('I am so angry because they cancelled my flight', 'en', 'they cancelled your flight'),
    ('Estoy fatal porque me robaron la cartera', 'es', 'te robaron la cartera'),
    ('Is it my exam that you want to hear about', 'en', 'your exam')])
def test_most_replies_use_the_visitors_own_words(text: str, language: str, words: str) -> None:
    replies = [' '.join(template.compose(text, language, 'angry', turn)).lower() for turn in range(40)]
    assert sum(words in reply for reply in replies) >= 26


def test_a_known_cause_goes_first() -> None:
    replies = [' '.join(template.compose('I feel awful.', 'en', 'sad', turn,
               cause='my dog died')) for turn in range(20)]
    assert sum('our dog died' in reply for reply in replies) >= 12


def test_irony_is_not_said_back_as_meant() -> None:
    replies = [' '.join(template.compose('I love waiting for hours.', 'en', 'angry', turn)) for turn in range(20)]
    assert not any('love' in reply for reply in replies)


def test_replies_vary() -> None:
    said = [f'{text} {k}' for k in range(6) for text in SAID['en']]
    words = [re.findall(r"[\w']+", ' '.join(template.compose(text, 'en', EMOTIONS[k % 9], 0)).lower())
             for k, text in enumerate(said)]
    pairs = [pair for reply in words for pair in pairwise(reply)]
    assert len(set(pairs)) / len(pairs) > 0.5


def test_a_whole_script_takes_milliseconds() -> None:
    template.warm_up()
    begun = time.thread_time()
    for turn in range(100):
        template.compose(SAID['en'][turn % 7], 'en', EMOTIONS[turn % 9], turn)
    assert (time.thread_time() - begun) / 100 < 0.05


@pytest.mark.parametrize(('said', 'language', 'word'), [
    ('Hello there!', 'en', 'Hello'), ('What time does the cafe close?', 'en', 'staff'), ('Thank you very much!', 'en',
    'welcome'),
    ('Are you a real person?', 'en', 'program'), ('Can you help me?', 'en', 'listen'), ('I have to go now.', 'en',
    'Goodbye'),
    ('How are you?', 'en', 'screen'),
    ('¡Hola!', 'es', 'Hola'), ('¿A qué hora cierra la cafetería?', 'es', 'personal'), ('¿Eres un robot?', 'es',
    'programa'),
    ('¿Me puedes ayudar?', 'es', 'escuchar'), ('¡Muchas gracias!', 'es', 'De nada'), ('¿Cómo estás?', 'es',
    'pantalla')])
def test_what_has_an_answer_of_its_own_gets_it(said: str, language: str, word: str) -> None:
    replies = [' '.join(template.compose(said, language, 'neutral', turn)) for turn in range(3)]
    assert any(word in reply for reply in replies)
