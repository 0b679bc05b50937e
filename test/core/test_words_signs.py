"""Countable cues of words: found where they are, silent where they are not."""

import pytest

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.history import Line
from emavatar_ros.perception.words.signs import asks, ironic, measures


@pytest.mark.parametrize('text', [
    'Great, another meeting',
    'Oh great, the train is late again.', 'Wonderful... one more form.', 'Just what I needed.',
    'Thanks for nothing!',
    'Lovely, my flight got cancelled', 'Oh please, as if her opinion mattered.',
    'I just love it when my bus is late'])
def test_irony_is_noticed(text: str) -> None:
    assert measures(text)['sarcasm_frame'] == 1


@pytest.mark.parametrize('text', [
    'So nice to see you again!', 'Great, the meeting went well.',
    'It looks as if we win.', 'Another coffee, please.', 'What a lovely surprise, thank you!',
    'Perfect, that is not broken.', 'I love being here', 'The train is late again.'])
def test_what_is_meant_is_not_taken_for_irony(text: str) -> None:
    assert measures(text)['sarcasm_frame'] == 0


def test_counts() -> None:
    found = measures("Sorry, I don't know. Never ever! That's so very damn odd, haha, isn't it?")
    assert (found['negation'], found['intensifier'], found['apology'], found['swear'], found['laughter'],
            found['question']) == (3, 2, 1, 1, 1, 1)


def test_contradiction_with_what_was_felt_before() -> None:
    history = (Line('visitor', 'My dog died.', 'sad'), Line('avatar', 'I am sorry.', 'sad'))
    assert measures('Everything is wonderful', history, 'happy')['contradiction_with_history'] == 1
    assert measures('I miss him', history, 'sad')['contradiction_with_history'] == 0
    assert measures('Everything is wonderful', (), 'happy')['contradiction_with_history'] == 0


@pytest.mark.parametrize(('text', 'practical'), [
    ('Where can I pay?', True), ('Hello, could you help me?', True), ('My feet hurt. Where is the lift?', True),
    ('What?!', False), ('You did that?', False), ('I know where it is.', False), ('Why would you do that?', False)])
def test_practical_questions(text: str, practical: bool) -> None:
    assert asks(text) is practical


def test_irony_only_takes_certainty_away() -> None:
    before = Distribution.from_mapping({'happy': 0.8, 'neutral': 0.2})
    after = ironic(before)
    assert after['happy'] == pytest.approx(0.4) and after['angry'] > after['sad'] > 0
    assert after['neutral'] == pytest.approx(before['neutral'])
