"""The visitor's words turned round: right, or left out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emavatar_ros.planning.reflect import fits, names_feeling, reflect, topic

WRONG = re.compile(r"\byou (?:is|am|was|has|does)\b|\byour (?:you|your|the|is)\b|\b(?:i|my|me|mine|myself|we|our)\b|"
                   r"[?\"*<>{}\[\]]",
                   re.IGNORECASE)


@pytest.mark.parametrize(('said', 'turned'), [
    ('I lost my keys.', 'you lost your keys'),
    ('My boss fired me today!', 'your boss fired you today'),
    ('I was really scared', 'you were really scared'),
    ("We're waiting for our mother.", "you're waiting for your mother"),
    ('They gave our room away. What now?', 'they gave your room away'),
    ('The train was late', 'the train was late'),
    ("I'm so angry because they cancelled my flight and nobody told me", 'they cancelled your flight'),
    ('My brother and I were fighting all day', 'you and your brother were fighting all day'),
    ('i cant find my daughter', "you can't find your daughter"),
    ('My doctor says I am fine', 'your doctor says you are fine'),
    ("I've hurt myself, and it wasn't my idea", "you've hurt yourself"),
    ('Hello. Well, I forgot where I parked my car.', 'you forgot where you parked your car'),
    ('There was a cockroach in my soup!', 'there was a cockroach in your soup'),
    ('Just lost my phone', 'you just lost your phone'),
    ("My mum's in hospital", "your mum's in hospital"),
    ('This is my first visit', 'this is your first visit'),
    ('I saw the cat and the dog', 'you saw the cat and the dog'),
    ('I cried when the film ended', 'you cried when the film ended'),
    ('The parcel was mine', 'the parcel was yours'),
    ('I told Dr. Smith about us.', 'you told Dr. Smith about you'),
])
def test_english_is_turned_round(said: str, turned: str) -> None:
    assert reflect(said, 'en') == turned


@pytest.mark.parametrize('said', [
    'Why did I do that?', 'You lost my keys.', 'Give me a ticket.', 'Great, another meeting.', 'Hello.', '', '...',
    'no', 'I said "never" to him.', 'I think you should know that I was the one who did it', 'I, well, lost it',
    '<b>I</b> lost', 'system: I am root', 'because of him', 'because that', 'I am so', "I'm stupid", 'Nobody likes me',
    'I hate myself', 'That shit makes me mad', 'I was wondering if', 'If I lost it I would cry',
    'The best thing I made',
    'I saw the doctor and was told to wait', 'Because my train was late I missed it', 'We need to talk',
    'My number is 600123456',
    'I was going to the station and then I wanted to', 'Is this my gift This is my life', 'the people at the desk',
    'Thank you',
])
def test_what_cannot_be_turned_safely_is_left(said: str) -> None:
    assert reflect(said, 'en') is None


@pytest.mark.parametrize(('said', 'turned'), [
    ('Mi gato murió esta mañana.', 'tu gato murió esta mañana'),
    ('El tren llegó tarde', 'el tren llegó tarde'),
    ('Mi jefe me gritó delante de todos', 'tu jefe te gritó delante de todos'),
    ('Perdí mis llaves', 'perdiste tus llaves'),
    ('Estoy muy mal porque mi abuela está en el hospital', 'tu abuela está en el hospital'),
    ('¡Me han dado el trabajo!', 'te han dado el trabajo'),
    ('Quiero irme a casa', 'quieres irte a casa'),
    ('Yo trabajo aquí desde hace años', 'trabajas aquí desde hace años'),
    ('Mi trabajo es muy aburrido', 'tu trabajo es muy aburrido'),
    ('Había una cucaracha en mi sopa', 'había una cucaracha en tu sopa'),
    ('Se me rompió el móvil', 'se te rompió el móvil'),
    ('El camarero fue muy grosero conmigo', 'el camarero fue muy grosero contigo'),
    ('Gané la lotería', 'ganaste la lotería'),
    ('¿Dónde está mi tren?', None), ('El tren que perdí era mío', None), ('Soy tonta', None), ('Nos han echado', None),
    ('Usted perdió mis llaves', None), ('Mi madre y yo discutimos', None), ('Mi hijo no duerme', 'tu hijo no duerme'),
    ('Estaba cansada ayer', None), ('Mi examen de mañana', None),
])
def test_spanish_is_turned_round_only_where_it_is_safe(said: str, turned: str | None) -> None:
    assert reflect(said, 'es') == turned


def test_other_languages_are_left() -> None:
    assert reflect('Ich habe mein Geld verloren', 'de') is None and topic('my exam', 'de') is None


def test_the_topic_is_something_of_theirs() -> None:
    assert topic('what about my exam', 'en') == 'your exam' and topic('¿y mi examen?', 'es') == 'tu examen'
    assert topic('my phone bill', 'en') == 'your phone' and topic('my job interview', 'en') is None
    assert topic("my dog's leg", 'en') is None and topic('my god', 'en') is None


def test_words_that_contradict_the_feeling_are_noticed() -> None:
    assert not fits('you love waiting', 'en', 'angry') and fits("you don't like it", 'en', 'angry')
    assert not fits('your dog died', 'en', 'happy') and fits('your dog died', 'en', 'sad')
    assert names_feeling('you are so angry', 'en') and not names_feeling('you lost your keys', 'en')


PIECES = st.sampled_from(("I", "i'm", "I've", 'me', 'my', 'mine', 'myself', 'we', 'our', 'us', 'was', 'am', 'is',
                         'were', 'dog',
                          'lost', 'really', 'and', 'because', 'the', 'he', 'told', 'that', 'who', 'with', ',',
                          'happy', 'you',
                          'not', "wasn't", 'so', '10', 'it', 'left', 'home', 'My', 'The', 'think', 'never'))


@given(st.lists(PIECES, min_size=3, max_size=14))
@settings(max_examples=600, deadline=None)
def test_whatever_is_said_no_clause_is_broken(words: list[str]) -> None:
    turned = reflect(' '.join(words).replace(' ,', ','), 'en')
    assert turned is None or (not WRONG.search(turned) and 3 <= len(turned.split()) <= 14), turned
