"""Nothing but speech is spoken, however the text arrives; and cuts fall where a speaker would breathe."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emavatar_ros.voice.clauses import clauses, sentences
from emavatar_ros.voice.text import Speakable, speakable

CASES = [
    ("*smiles warmly* I'm **really** sorry 😢 to hear that. (laughs) [sighs] <sad>You</sad> can *always* talk to me.",
     "I'm really sorry to hear that. You can always talk to me."),
    ('<think>the user is sad.\nI should</think>Hello there! :) See [our site](http://x.y).',
     'Hello there! See our site.'),
    ('Before. <think>a. b. c</think> After.', 'Before. After.'),
    ('<think>never closed. Hello', ''),
    ('so the answer is</think>Hello.', 'Hello.'),
    ('Fine. <thinking>never closed', 'Fine.'),
    ('# Welcome\n- one thing\n- two things\n1. three things', 'Welcome. one thing. two things. three things'),
    ('{"text": "I hear you, friend.", "beats": [{"text": "I hear you,"}, {"text": "friend."}]}', 'I hear you, friend.'),
    ('{"reply": "That sounds hard. I a', 'That sounds hard. I a'),
    ('```json\n{"text": "Hi \\"you\\" caf\\u00e9"}\n```', 'Hi you café'),
    ('Emotion: happy\nTone: warm\nGreat to see you!', 'Great to see you!'),
    ('*sighs deeply and looks', ''), ('Well (laughs and', 'Well'), ('👍', ''), ('...', ''), ('', ''), ('   \n ', ''),
    ('*gently* I know. _Really_ I do. *nods*', 'I know. Really I do.'),
    ('[happy] Good {emotion: joy} day <|im_end|>', 'Good day'),
    ('Visit https://a.b/c?d=e now', 'Visit now'), ('Assistant: Hello.', 'Hello.'),
    ('She said "hello" to me — twice… right?!!', 'She said hello to me — twice… right?'),
    ('नमस्ते दोस्त', 'नमस्ते दोस्त'), ('5 * 3', '5 3'),
]


@pytest.mark.parametrize('text, spoken', CASES)
def test_only_speech_is_left(text: str, spoken: str) -> None:
    assert speakable(text) == spoken
    assert speakable(spoken) == spoken


@pytest.mark.parametrize('text, language, spoken', [
    ('It costs $5.20, not €3 or $1.', 'en', 'It costs 5 dollars and 20 cents, not 3 euros or 1 dollar.'),
    ('At 10:30, 9:05 or 12:00.', 'en', "At 10 30, 9 oh 5 or 12 o'clock."),
    ('At 9:00 a.m. Dr. Smith read 3.5 of 1,000 books.', 'en', 'At 9 AM. Doctor Smith read 3.5 of 1,000 books.'),
    ('50% & 20°C, 2-3 days, e.g. today', 'en', '50 percent and 20 degrees Celsius, 2 to 3 days, for example today'),
    ('Cuesta 5,20 € a las 10:30, Sr. López.', 'es', 'Cuesta 5 euros con 20 céntimos a las 10 y 30, señor López.'),
    ('Es kostet 3 € um 10:30 Uhr.', 'ja', 'Es kostet 3 € um 10:30 Uhr.')])
def test_signs_are_written_out(text: str, language: str, spoken: str) -> None:
    assert speakable(text, language) == spoken


@given(st.sampled_from([text for text, _ in CASES]), st.lists(st.integers(1, 9), min_size=1))
@settings(max_examples=150, deadline=None)
def test_pieces_say_what_the_whole_says(text: str, sizes: list[int]) -> None:
    cleaner, said, place, k = Speakable(), [], 0, 0
    while place < len(text):
        size = sizes[k % len(sizes)]
        said.append(cleaner.feed(text[place:place + size]))
        place, k = place + size, k + 1
    said.append(cleaner.close())
    assert ' '.join(part for part in said if part).rstrip('.') == speakable(text).rstrip('.')
    assert cleaner.close() == ''


def test_a_stream_speaks_early_and_forgets_a_thinking_block() -> None:
    cleaner = Speakable()
    assert cleaner.feed('Hello there. How') == 'Hello there.'
    for _ in range(500):
        assert cleaner.feed(' are you <think> ' if _ == 0 else 'secret plan. ') == ''
    assert 'secret' not in cleaner.feed('</thi') + cleaner.feed('nk> today? Yes') + cleaner.close()


@given(st.text(max_size=300))
@settings(deadline=None)
def test_any_text_gives_one_clean_line(text: str) -> None:
    spoken = speakable(text)
    assert not re.search(r'[\n*#<>{}\[\]`|_\\]', spoken) and spoken == spoken.strip()


def test_sentences_survive_abbreviations_and_decimals() -> None:
    text = 'Dr. Smith waited 3.5 hours. J. Doe came at 5 p.m. It was late! "Really?" Yes... no.'
    assert sentences(text) == ['Dr. Smith waited 3.5 hours.', 'J. Doe came at 5 p.m.', 'It was late!', '"Really?"',
                               'Yes... no.']
    assert sentences('こんにちは。元気ですか？') == ['こんにちは。', '元気ですか？'] and sentences(' \n ') == []


@pytest.mark.parametrize('text', [
    "I'm so sorry to hear that, Dr. Smith. It sounds like 3.5 hours of waiting was really hard, and I want you to know "
    'that I am here for you.', 'I understand that losing your keys on the way to the station must have felt awful.',
    'word ' * 60, 'Hi.', 'Oh. I see! Tell me more about what happened today at work, please.', 'x' * 400])
def test_the_first_piece_is_short_and_nothing_is_lost(text: str) -> None:
    pieces = list(clauses(text))
    assert ''.join(' '.join(pieces).split()) == ''.join(text.split())
    assert len(pieces[0].split()) <= 9 and all(len(piece.split()) <= 29 for piece in pieces)
