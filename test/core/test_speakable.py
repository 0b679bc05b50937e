"""Nothing but speech is spoken, however the text arrives; and cuts fall where a speaker would breathe."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emavatar_ros.planning.clean import beats
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
    ('}, "emotion": "sad"}', ''), ('I hear you.", "emotion": "sad", "tone": "low"}', 'I hear you.'),
    ('["I hear you.", "Tell me more."]', 'I hear you. Tell me more.'), ('She said "yes": it is.',
    'She said yes: it is.'),
    ('You &amp; me&nbsp;today. #sad #hug', 'You and me today.'), ('### Response: I hear you.', 'I hear you.'),
    ('I hear you.<|im_end|><|im_start|>assistant', 'I hear you.'), ('<pensar>no</pensar> Hola.', 'Hola.'),
    ('1. First, breathe. 2. Then tell me.', 'First, breathe. Then tell me.'),
    ('Visit http://a.b/c?d=e. Then write to x.y@z.com. Bye', 'Visit. Then write to. Bye'),
    ('¡¡Hola!! (con voz suave) ¿¿Qué tal?? [risas] *sonríe*', '¡Hola! ¿Qué tal?'), ('Yes. (a b) No.', 'Yes. a b, No.'),
    ("Mr. and Mrs. O'Neil met Dr. Smith, e.g. at 10 a.m. tomorrow.",
     "Mister and Missus O'Neil met Doctor Smith, for example at 10 AM tomorrow."),
    ('No. 5 is in the U.S. Army. No. He is in the U.S. He is.',
     'number 5 is in the US Army. No. He is in the US. He is.'),
    ("We saw St. Mary's on Main St. It is at 5 Oak St. today, Jan. 5.",
     "We saw Saint Mary's on Main Street. It is at 5 Oak Street today, January 5."),
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
    ('Call 911, +1 555 123 4567 or 555-123-4567.', 'en',
     'Call 9 1 1, plus 1, 5 5 5, 1 2 3, 4 5 6 7 or 5 5 5, 1 2 3, 4 5 6 7.'),
    ('On 2026-03-12 or 25/12/2026, not 30/30/2026.', 'en', 'On March 12, 2026 or December 25, 2026, not 30/30/2026.'),
    ('On 03/12/2026.', 'en-GB', 'On 3 December 2026.'), ('On 03/12/2026.', 'en', 'On March 12, 2026.'),
    ('5 km, 1 km, 3.5 kg at 60 km/h, 5 min. later, 2 hrs', 'en',
     '5 kilometres, 1 kilometre, 3.5 kilograms at 60 kilometres per hour, 5 minutes later, 2 hours'),
    ('-5°C, 1/2 cup, 2½ hours, 4/5, 24/7', 'en',
     'minus 5 degrees Celsius, one half cup, 2 and a half hours, 4 out of 5, 24 7'),
    ('$1.2M, $5k, 20 EUR, €0.52, 1,000,000 people in 2019-2024', 'en',
     '1.2 million dollars, 5 thousand dollars, 20 euros, 52 cents, 1,000,000 people in 2019 to 2024'),
    ('10am, 5:30pm, 10:00-12:30', 'en', "10 AM, 5 30 PM, 10 o'clock to 12 30"),
    ('Llama al 112 o al +34 600 123 456.', 'es', 'Llama al 1 1 2 o al más 3 4, 6 0 0, 1 2 3, 4 5 6.'),
    ('El 12/03/2026 a las 10:30 h, a las 8 p. m. y 9 a.m. hoy', 'es',
     'El 12 de marzo de 2026 a las 10 y 30, a las 8 de la tarde y 9 de la mañana hoy'),
    ('La 1ª planta, el 3er piso, n.º 5, -5°C, 3.5 kg, 1.000.000 de 2.500', 'es',
     'La primera planta, el tercer piso, número 5, menos 5 grados, 3,5 kilos, 1.000.000 de 2.500'),
    ('EE. UU., 3 millones €, 1.200,50 € en la Avda. Sol', 'es',
     'Estados Unidos, 3 millones de euros, 1.200 euros con 50 céntimos en la avenida Sol'),
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


@given(st.sampled_from([text for text, _ in CASES if '["' not in text]), st.lists(st.integers(1, 9), min_size=1))
@settings(max_examples=150, deadline=None)
def test_a_models_stream_gives_the_same_beats_however_it_is_cut(text: str, sizes: list[int]) -> None:
    pieces, place, k = [], 0, 0
    while place < len(text):
        pieces.append(text[place:place + sizes[k % len(sizes)]])
        place, k = place + len(pieces[-1]), k + 1
    cut, whole = (' '.join(beats(parts, most=99, clause_words=0)) for parts in (pieces, [text]))
    assert re.sub(r'[.…]+', '.', cut) == re.sub(r'[.…]+', '.', whole)
    assert not re.search(r'[<>{}\[\]*#|]|secret|plan', cut)


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
    text = "No. 5 is Mr. and Mrs. O'Neil's, e.g. on Jan. 5 at 10 a.m. Monday. No. The U.S. Army left the U.S. He stays."
    assert sentences(text) == ["No. 5 is Mr. and Mrs. O'Neil's, e.g. on Jan. 5 at 10 a.m. Monday.", 'No.',
                               'The U.S. Army left the U.S.', 'He stays.']
    assert sentences('こんにちは。元気ですか？') == ['こんにちは。', '元気ですか？'] and sentences(' \n ') == []


@pytest.mark.parametrize('text', [
    "I'm so sorry to hear that, Dr. Smith. It sounds like 3.5 hours of waiting was really hard, and I want you to know "
    'that I am here for you.', 'I understand that losing your keys on the way to the station must have felt awful.',
    'word ' * 60, 'Hi.', 'Oh. I see! Tell me more about what happened today at work, please.', 'x' * 400])
def test_the_first_piece_is_short_and_nothing_is_lost(text: str) -> None:
    pieces = list(clauses(text))
    assert ''.join(' '.join(pieces).split()) == ''.join(text.split())
    assert len(pieces[0].split()) <= 9 and all(len(piece.split()) <= 29 for piece in pieces)
