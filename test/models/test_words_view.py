"""The words view with its real model on sentences that no training saw."""

from __future__ import annotations

import statistics
import time

import pytest

from emavatar_ros.errors import BadInput
from emavatar_ros.history import Line
from emavatar_ros.perception.words.head import WordsHead
from emavatar_ros.perception.words.minilm import Words, create

SAID = {
    'angry': ('He lied to me again and I am sick of it!', 'Stop shouting at me, how dare you!',
              'I am furious about this bill.'),
    'contempt': ('What a pathetic little man, he is not worth my time.', 'Those idiots are far beneath me.'),
    'disgusted': ('Yuck, there is mould on this cheese.', 'The stench in there was revolting.'),
    'fear': ('I am terrified of the operation.', 'Somebody is in the house and I am scared.'),
    'happy': ('I am so happy, we won!', 'Thank you, that is wonderful news.', 'We got married last week!'),
    'neutral': ('The meeting is at three on Tuesday.', 'My name is Peter and I live in Leeds.',
                'Where is the nearest bus stop?'),
    'sad': ('My grandfather died and I miss him.', 'I feel so lonely since she left.'),
    'surprised': ('Wow, I did not expect that at all!', 'What? You are his brother?'),
}


@pytest.fixture(scope='module')
def words() -> Words:
    return create()


def test_plain_sentences_are_mostly_read_right(words: Words) -> None:
    right = {text: words.read(text).label == label for label, texts in SAID.items() for text in texts}
    assert sum(right.values()) >= 0.8 * len(right), [text for text, ok in right.items() if not ok]


@pytest.mark.parametrize(('text', 'language', 'reason'), [
    ('', 'en', 'nothing'), ('  ', 'en', 'nothing'), ('... !', 'en', 'nothing'), ('Ich bin traurig', 'de', 'English'),
    ('Hola', 'es-MX', 'English'), ('Hello', '', 'not known')])
def test_it_abstains_with_a_reason(words: Words, text: str, language: str, reason: str) -> None:
    candidate = words.read(text, language)
    assert candidate.abstains and reason in candidate.reason and candidate.confidence == 0


def test_english_by_any_name(words: Words) -> None:
    for language in ('en', 'en-GB', 'en_US', 'EN'):
        assert words.read('I am so happy today!', language).label == 'happy'


def test_the_evidence_quotes_a_telling_word(words: Words) -> None:
    assert 'happy' in words.read('I am so happy today!').evidence


def test_irony_lowers_certainty_and_says_so(words: Words) -> None:
    plain, ironic = words.read('Great, a party!'), words.read('Great, another meeting.')
    assert ironic.distribution is not None and plain.distribution is not None
    assert ironic.distribution['happy'] < plain.distribution['happy'] and 'irony' in ironic.evidence


def test_a_very_short_answer_leans_on_what_was_felt(words: Words) -> None:
    alone, after = words.read('Yes.'), words.read('Yes.', history=[Line('visitor', 'My dog died.', 'sad')])
    assert alone.distribution is not None and after.distribution is not None
    assert after.distribution['sad'] > alone.distribution['sad'] + 0.2


def test_long_and_odd_texts(words: Words) -> None:
    story = 'We took the bus to town. Then we walked along the river. ' * 8 + 'I was terrified when the dog bit me!'
    reading = words.read(story).distribution
    calm = words.read(story[:-37]).distribution
    assert reading is not None and calm is not None and reading['fear'] > calm['fear']
    for text in ('a' * 2000, 'word ' * 400, '😀 hi', 'HELLO!!!', "don't", 'naïve café', '\n\nhm\n'):
        assert not words.read(text).abstains


def test_it_is_quick(words: Words) -> None:
    words.warm_up()
    spent = []
    for texts in SAID.values():
        for text in texts:
            began = time.process_time()
            words.read(text)
            spent.append(time.process_time() - began)
    assert statistics.median(spent) < 0.04


def test_a_file_that_is_no_head_is_refused(tmp_path) -> None:
    path = tmp_path / 'head.npz'
    path.write_bytes(b'nothing of the kind')
    with pytest.raises(BadInput):
        WordsHead(path)
