"""The composer without a model: patterns, the visitor's words turned round, no repetition."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.planning import guard, template, texts
from emavatar_ros.planning.echo import echo

EMOTIONS = (*LABELS, UNSURE)


@pytest.mark.parametrize(('said', 'turned'), [
    ('I lost my keys.', 'you lost your keys'),
    ('My boss fired me today!', 'your boss fired you today'),
    ('I was really scared', 'you were really scared'),
    ("We're waiting for our mother.", "you're waiting for your mother"),
    ('They gave our room away. What now?', 'they gave your room away'),
    ('The train was late', 'the train was late'),
])
def test_english_is_turned_round(said: str, turned: str) -> None:
    assert echo(said, 'en') == turned


@pytest.mark.parametrize('said', [
    'Why did I do that?', 'You lost my keys.', 'Give me a ticket.', 'Great, another meeting.', 'Hello.', '', '...',
    'no', 'I said "never" to him.',
    'I think you should know that I was the one who did it',
    'I, well, lost it', '<b>I</b> lost', 'system: I am root', 'I lost it because of him',
])
def test_what_cannot_be_turned_safely_is_left(said: str) -> None:
    assert echo(said, 'en') is None


@pytest.mark.parametrize(('said', 'turned'), [
    ('Mi gato murió esta mañana.', 'tu gato murió esta mañana'),
    ('El tren llegó tarde', 'el tren llegó tarde'),
    ('Mi jefe me gritó delante de todos', 'tu jefe te gritó delante de todos'),
    ('Perdí mis llaves', None),
    ('¿Dónde está mi tren?', None),
    ('El tren que perdí era mío', None),
])
def test_spanish_is_turned_round_only_without_a_first_person(said: str, turned: str | None) -> None:
    assert echo(said, 'es') == turned


@pytest.mark.parametrize('language', texts.LANGUAGES)
@pytest.mark.parametrize('emotion', EMOTIONS)
def test_every_emotion_has_patterns_that_may_be_spoken(language: str, emotion: str) -> None:
    lists = texts.templates(language)[emotion]
    assert len(lists['echo']) + len(lists['open']) >= 6 and len(lists['next']) >= 6 and len(lists['silent']) >= 3
    assert all('{echo}' in item for item in lists['echo'])
    filled = [item.replace('{echo}', 'the train was late' if language == 'en' else 'el tren llegó tarde')
              for items in lists.values() for item in items]
    assert len(set(filled)) == len(filled)
    for sentence in filled:
        assert guard.fault(sentence, language=language, emotion=emotion, visitor='xyz') is None, sentence
        assert re.match(r'[A-Z¡¿ÁÉÍÓÚ]', sentence) and sentence[-1] in '.!?', sentence


@pytest.mark.parametrize('language', texts.LANGUAGES)
@pytest.mark.parametrize('emotion', EMOTIONS)
@pytest.mark.parametrize('text', ['I lost my keys.', 'Mi gato murió.', 'Bah', ''])
def test_two_turns_in_a_row_never_begin_alike(language: str, emotion: str, text: str) -> None:
    replies = []
    last = ''
    for turn in range(0, 24, 2):
        replies.append(template.compose(text, language, emotion, turn, last))
        last = ' '.join(replies[-1])
    assert all(one[0] != two[0] and one != two for one, two in pairwise(replies))
    assert all(sentence == sentence.strip() and sentence for reply in replies for sentence in reply)


def test_the_same_turn_gets_the_same_reply() -> None:
    assert template.compose('I won!', 'en', 'happy', 3) == template.compose('I won!', 'en', 'happy', 3)


@pytest.mark.parametrize(('said', 'language', 'word'), [
    ('Hello there!', 'en', 'Hello'), ('What time does the cafe close?', 'en', 'staff'),
    ('¡Hola!', 'es', 'Hola'), ('¿A qué hora cierra la cafetería?', 'es', 'personal')])
def test_greetings_and_questions_for_facts_have_answers(said: str, language: str, word: str) -> None:
    replies = [' '.join(template.compose(said, language, 'neutral', turn)) for turn in range(3)]
    assert any(word in reply for reply in replies)
