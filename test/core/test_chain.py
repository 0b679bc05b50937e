"""The chain of empathy by rules: events and causes in the visitor's own words."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator

import pytest

from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.errors import Unavailable
from emavatar_ros.history import Line
from emavatar_ros.models.llm import Limits, Request
from emavatar_ros.planning import chain
from emavatar_ros.planning.manner import MANNERS


def feels(label: str, conflict: bool = False) -> Estimate:
    return Estimate(label, .7, Distribution.uniform(), 0.0, 0.0, conflict)


@pytest.mark.parametrize(('text', 'cause'), [
    ("I'm so upset because they gave my room away.", 'they gave my room away'),
    ('Since nobody told me, I came for nothing.', 'nobody told me, I came for nothing'),
    ('I have been waiting since Monday.', 'I have been waiting since Monday'),
    ('My bus was cancelled, so I missed the interview.', 'My bus was cancelled'),
    ('I quit singing after my mother died.', 'my mother died'),
    ('They found my purse after two weeks!', 'They found my purse after two weeks'),
    ("I'm worried about the operation.", 'the operation'),
    ('Hello. My cat died.', 'My cat died'), ('Well, they cancelled my flight!', 'they cancelled my flight'),
    ('He was my best friend. He died in May.', 'He died in May'),
    ('I talked to the clerk and the clerk laughed at me.', 'the clerk laughed at me'),
    ('The letter says I have to leave.', 'The letter says I have to leave'),
    ('Estoy harta porque nadie me escucha.', 'nadie me escucha'),
    ('Tengo miedo de la operación.', 'la operación'), ('Me han cancelado el vuelo.', 'Me han cancelado el vuelo'),
    ('Perdí el tren, así que no llego.', 'Perdí el tren'), ('Mi perro se murió ayer.', 'Mi perro se murió ayer'),
    ('Hay una rata en la cocina.', 'Hay una rata en la cocina.'),
])
def test_the_cause_is_found_in_the_words(text: str, cause: str) -> None:
    found = chain.chain(text, feels('sad'))
    assert found.emotion_cause == cause
    assert found.user_emotion == 'sad' and found.goal_to_response == MANNERS['sad'].goal


@pytest.mark.parametrize(('text', 'event'), [
    ('Oh no! Good morning. My cat died. Can you believe it?', 'My cat died.'),
    ("I'm so sad. They closed the school.", 'They closed the school.'),
    ('My wife loved this hall. She died in March.', 'My wife loved this hall. She died in March.'),
    ('Hello.', 'Hello.'), ('', chain.NOTHING), ('I am sad.', 'I am sad.')])
def test_the_event_is_more_than_a_greeting(text: str, event: str) -> None:
    assert chain.chain(text, feels('sad')).event_scenario == event


@pytest.mark.parametrize('text', ['', 'Hi!', "I'm so sad.", 'Estoy triste.', '?!'])
def test_what_is_not_told_is_not_made_up(text: str) -> None:
    assert chain.chain(text, feels('sad')).emotion_cause in (chain.UNTOLD, text)


def test_a_bare_feeling_has_its_cause_in_what_was_said_before() -> None:
    history = (Line('visitor', 'They cancelled my trip.'), Line('avatar', 'Because of the snow?'),
               Line('visitor', 'Yes.'), Line('avatar', 'I see.'))
    found = chain.chain("I'm so sad.", feels('sad'), history)
    assert (found.event_scenario, found.emotion_cause) == ('They cancelled my trip.', 'They cancelled my trip')
    assert chain.chain('My dog is ill.', feels('sad'), history).emotion_cause == 'My dog is ill'


def test_the_goal_fits_what_is_asked_and_what_lies_beneath() -> None:
    assert chain.chain('Where is the lift?', feels('neutral')).goal_to_response.startswith('meet the question')
    assert chain.chain('Where is the lift?', feels('neutral')).emotion_cause == chain.UNTOLD
    beneath = chain.chain('Great, another form.', feels('angry', conflict=True)).goal_to_response
    assert 'beneath the words' in beneath and MANNERS['angry'].goal in beneath


@pytest.mark.parametrize('label', [*LABELS, UNSURE])
@pytest.mark.parametrize('text', ['x' * 2000, 'I ' * 900, 'they just ' * 200, 'my ' * 600, '¿¡…', '<cause> \\1 {0}'])
def test_any_text_gives_a_short_chain_soon(text: str, label: str) -> None:
    chain.chain('warm', feels(label))
    began = time.process_time()
    found = chain.chain(text, feels(label))
    assert time.process_time() - began < 0.25
    assert all(found.as_json().values()) and max(map(len, found.as_json().values())) <= chain.LONGEST


class Teller:
    """A language model that gives one answer."""

    name = 'teller'
    resumes = False

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer

    def stream(self, request: Request, limits: Limits) -> Generator[str, None, None]:
        assert limits.whole == 2.0
        if isinstance(self.answer, Exception):
            raise self.answer
        yield from self.answer


@pytest.mark.parametrize(('answer', 'cause', 'outcome'), [
    ('Sure: {"event_scenario": "a cat died", "emotion_cause": "the loss", "goal_to_response": "comfort"}', 'the loss',
     'read'),
    ('{"emotion_cause": "' + 'long ' * 100 + '"}', 'long', 'read'),
    ('{"emotion_cause": 3, "user_emotion": "happy"}', 'My cat died', 'unreadable'),
    ('I cannot.', 'My cat died', 'unreadable'), (Unavailable('gone'), 'My cat died', 'unavailable')])
def test_a_model_may_tell_it_better(answer: str | Exception, cause: str, outcome: str) -> None:
    counts: Counter[str] = Counter()
    known = chain.chain('My cat died.', feels('sad'))
    found = chain.ask(Teller(answer), known, 'My cat died.', 'Oh no.', 2.0, counts)  # type: ignore[arg-type]
    assert found.emotion_cause.startswith(cause) and len(found.emotion_cause) <= chain.LONGEST
    assert found.user_emotion == 'sad' and counts == {f'chain: {outcome}': 1}
