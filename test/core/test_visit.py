"""What is known of a visitor reaches the language model in the right place, and nothing of it outlasts them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.emotion.affect import CIRCUMPLEX
from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.errors import Missing
from emavatar_ros.history import Line
from emavatar_ros.planning import composer, visit
from emavatar_ros.planning.lasting import Lasting
from emavatar_ros.planning.memory import Config, Memory
from emavatar_ros.planning.planner import NOBODY
from emavatar_ros.planning.script import Beat, ChainOfEmpathy, Script
from emavatar_ros.planning.situation import Situation
from emavatar_ros.planning.summary import Summariser
from emavatar_ros.planning.visit import Visit
from emavatar_ros.settings import build

SEEDS = (Situation('', 'sad', 'My violin is gone', 'the violin is gone', 'A violin is a companion.', 'softly'),
         Situation('', 'angry', 'The queue is a joke', 'the queue is long', 'That is a long wait.', 'calmly'))
PERSONA = 'You are Mira.'


def embed(text: str) -> np.ndarray:
    """Sadness, anger, or neither."""
    vector = np.array(['gone' in text or 'lost' in text, 'queue' in text, 1e-3], dtype=np.float32)
    return vector / np.linalg.norm(vector)


def feels(label: str) -> Estimate:
    return Estimate(label, 0.9, Distribution.from_mapping({label: 1.0}), *CIRCUMPLEX[label])


def visitor(lasting: Lasting | None = None) -> Visit:
    memory = Memory(Config(), embed, SEEDS, np.stack([embed(item.said) for item in SEEDS]), lasting)
    return Visit(remembered=memory, summariser=Summariser())


def script(text: str, emotion: str = 'sad') -> Script:
    chain = ChainOfEmpathy('x', emotion, 'the dog was lost in the park', 'x')
    return Script((Beat(text, 'softly', 'sad'),), emotion, 'en', 'llm', chain, complete=True)


def talk(exchanges: int) -> list[Line]:
    lines = []
    for number in range(exchanges):
        lines += [Line('visitor', f'My sister Rosa waits, part {number}', 'sad'), Line('avatar', f'Go on, {number}.')]
    return lines


def test_examples_come_before_the_conversation_and_the_line_last() -> None:
    known = composer.Known(visitor().examples('I lost my dog here', 'sad', 'en'), '')
    messages = composer.conversation(PERSONA, 'I lost my dog here', 'en', feels('sad'), talk(1), known)
    begin = composer.prefix(PERSONA, 'en')
    assert messages[:len(begin)] == begin
    assert [(message.role, message.content) for message in messages[len(begin):]] == [
        ('user', 'My violin is gone [sad]'), ('assistant', 'A violin is a companion.'),
        ('user', 'My sister Rosa waits, part 0 [sad]'), ('assistant', 'Go on, 0.'),
        ('user', 'I lost my dog here [sad]')]


def test_what_the_model_no_longer_sees_is_summed_up_and_stays_word_for_word() -> None:
    one = visitor()
    history = talk(composer.MOST)
    one.recall(*history)
    assert composer.dropped(history) == 0 and one.summary('en', 0) == ''
    beginnings = []
    for number in range(3):
        more = talk(composer.MOST + 1 + number)
        one.recall(*more[-2:])
        lost = composer.dropped(more)
        assert lost == composer.MOST + 1 - composer.FEWEST
        beginnings.append(composer.beginning(PERSONA, 'en', more, composer.Known((), one.summary('en', lost))))
    told = beginnings[0][len(composer.prefix(PERSONA, 'en'))]
    assert told.role == 'user' and 'people: sister Rosa' in told.content
    shortest: Sequence[object] = beginnings[0]
    assert all(longer[:len(shortest)] == shortest for longer in beginnings), 'what was read need not be read again'


def test_what_helped_is_shown_next_time_and_forgotten_with_the_visitor(tmp_path: Path) -> None:
    one = visitor()
    asked = Line('visitor', 'I lost my dog in the park', 'sad')
    one.felt(feels('sad'))
    one.heard(asked, Line('avatar', 'Your dog knows you.'), feels('sad'), script('Your dog knows you.'))
    one.felt(feels('neutral'))
    assert 'Your dog knows you.' in [item.avatar for item in one.examples('We lost our cat here', 'sad', 'en')]
    one.care.answer('I want to die', 'en')
    one.forget()
    assert 'Your dog knows you.' not in [item.avatar for item in one.examples('We lost our cat here', 'sad', 'en')]
    assert not one.care.on and one.summary('en', 1) == ''


def test_a_care_answer_is_no_example() -> None:
    one = visitor()
    concern = one.care.answer('I want to die, I lost it all', 'en')
    assert concern is not None
    given = Script((Beat(concern.text, 'softly', 'neutral'),), 'sad', 'en', 'template',
                   ChainOfEmpathy('x', 'sad', 'it was all lost here', 'x'), complete=True, care=concern)
    one.heard(Line('visitor', 'I want to die, I lost it all'), Line('avatar', concern.text), feels('sad'), given)
    one.felt(feels('happy'))
    assert concern.text not in [item.avatar for item in one.examples('We lost our cat here', 'sad', 'en')]


def test_without_weights_patterns_work_and_the_log_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    config = build(visit.Config, {'help_line': 'Call 988.'})
    with caplog.at_level(logging.WARNING):
        one = visit.create(config, remember=True)
    assert len(caplog.records) == 1 and 'patterns alone' in caplog.text and 'models pull' in caplog.text
    concern = one.care.answer('I want to die', 'en')
    assert concern is not None and 'Call 988.' in concern.text
    one.felt(NOBODY)
    assert one.examples('We lost our cat here', 'sad', 'en') == ()


def test_a_memory_that_is_to_last_does_not_fail_silently(tmp_path: Path) -> None:
    with pytest.raises(Missing, match='minilm'):
        visit.create(build(visit.Config, {'memory.file': str(tmp_path / 'kept.sqlite')}), remember=False)
