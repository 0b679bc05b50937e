"""The composite script as a value and as JSON; care answers."""

from __future__ import annotations

import pytest

from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.planning.care import concern
from emavatar_ros.planning.manner import MANNERS, hint
from emavatar_ros.planning.script import Beat, ChainOfEmpathy, Script

CHAIN = ChainOfEmpathy('the cat died', 'sad', 'the cat died', 'leave room')


def test_json_has_what_turn_json_promises() -> None:
    script = Script((Beat('Oh no.', 'speak softly', 'sad'), Beat('Tell me.', 'speak warmly', 'neutral')), 'sad', 'en',
                    'llm', CHAIN)
    assert script.as_json() == {
        'text': 'Oh no. Tell me.', 'instruction': 'speak softly', 'emotion': 'sad', 'language': 'en', 'composer': 'llm',
        'iterations': 0, 'scores': {'coherence': None, 'empathy': None, 'feasibility': None, 'alignment': None},
        'beats': [{'text': 'Oh no.', 'instruction': 'speak softly', 'expression': 'sad'},
                  {'text': 'Tell me.', 'instruction': 'speak warmly', 'expression': 'neutral'}],
        'chain_of_empathy': {'event_scenario': 'the cat died', 'user_emotion': 'sad', 'emotion_cause': 'the cat died',
                             'goal_to_response': 'leave room'}}


def test_an_empty_script_has_empty_texts() -> None:
    script = Script((), UNSURE, 'en', 'template', CHAIN)
    assert (script.text, script.instruction) == ('', '')


def test_every_emotion_has_a_manner_with_faces_that_exist() -> None:
    assert set(MANNERS) == {*LABELS, UNSURE}
    for manner in MANNERS.values():
        assert set(manner.faces) <= set(LABELS)
        assert manner.opening.startswith('speak ') and manner.following.startswith('speak ')
    assert 'angry' not in MANNERS['angry'].faces, 'anger is not mirrored'


def test_the_hint_tells_of_conflict() -> None:
    def estimate(label: str, conflict: bool) -> Estimate:
        return Estimate(label, .7, Distribution.uniform(), 0, 0, conflict)

    assert hint(estimate('sad', False), 'en') == 'sad'
    assert hint(estimate('angry', True), 'en') != hint(estimate('angry', False), 'en')
    assert hint(estimate('happy', True), 'en') == 'happy'
    assert hint(estimate(UNSURE, True), 'es') == 'no está claro'


@pytest.mark.parametrize(('text', 'kind'), [
    ('I want to die', 'self_harm'), ("I don't want to live any more.", 'self_harm'), ('Me quiero morir', 'self_harm'),
    ('no quiero vivir más', 'self_harm'), ("I can't breathe", 'medical'), ('I can’t breathe!', 'medical'),
    ('No puedo respirar', 'medical'), ('My husband hit me last night', 'abuse'), ('mi novio me pega', 'abuse'),
    ('My chest hurts and I want to die', 'medical'),
])
def test_danger_is_seen(text: str, kind: str) -> None:
    found = concern(text, 'en')
    assert found is not None and found.kind == kind


@pytest.mark.parametrize('text', [
    'I want to die laughing', 'This queue is killing me', "I'm dying to see it", 'estoy muerto de risa', '',
    'We want to end it with a nice dinner', 'He never hits me up', 'My phone died', 'Quiero morir de risa',
])
def test_ways_of_speaking_are_no_danger(text: str) -> None:
    assert concern(text, 'en') is None


def test_the_answer_is_in_the_visitors_language_with_the_operators_line() -> None:
    found = concern('no puedo respirar', 'es-MX', 'Llama al 112.')
    assert found is not None and found.language == 'es' and 'Llama al 112.' in found.text and '{' not in found.text
    other = concern("I can't breathe", 'de')
    assert other is not None and other.language == 'en' and 'emergency number' in other.text
