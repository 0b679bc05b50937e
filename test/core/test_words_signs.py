"""Countable cues of words, denial, scorn, and what short answers stand for: found where they are, silent elsewhere."""

import pytest

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.history import Line
from emavatar_ros.perception.words import context, irony
from emavatar_ros.perception.words.phrases import plain
from emavatar_ros.perception.words.signs import asks, declared, denied, emoji, measures, moved, scorn

IRONIC = (
    'Great another meeting.', 'Great, another meeting', 'Oh great, the train is late again.',
    'Wonderful... one more form.',
    'Just what I needed.', 'Thanks for nothing!', 'Lovely, my flight got cancelled',
    'Oh please, as if her opinion mattered.',
    'I just love it when my bus is late', 'Oh wonderful, my train is cancelled', 'Perfect, now it’s raining.',
    'Yeah, right.', 'Well done, genius.', 'How nice of you to finally show up.', 'Thanks for letting me wait an hour.',
    'Exactly what I needed, a parking fine.', 'My train is delayed. Fantastic.', 'So much for the express service.',
    'Sure, because I have nothing better to do.', "Great. The machine doesn't work.", 'Nice, nobody is here to help.',
    'Good job, you broke it.', "Well, that's just great.", 'I love waiting in line for three hours.', 'Very funny.')
MEANT = (
    'So nice to see you again!', 'Great, the meeting went well.', 'It looks as if we win.', 'Another coffee, please.',
    'What a lovely surprise, thank you!', 'Perfect, that is not broken.', 'I love being here',
    'The train is late again.', 'Great, thanks!', "Oh wonderful, they're open", "Great, I'm fine.",
    'Thanks, see you later.', 'Yay, another goal!',
    "That's exactly what I needed, thank you!", 'Great, you found my lost dog!', 'Lucky me, I got the last ticket!',
    "Wonderful, my flight isn't cancelled after all.", 'Great, no more waiting.', 'How kind of you to help me.',
    'Brilliant, it works again.', 'I love it when the sun shines.', 'Thank you for waiting for me.',
    "Good, then I'll wait here.", 'Well done, you passed!', "That's very funny, haha.")


@pytest.mark.parametrize('text', IRONIC)
def test_irony_is_noticed(text: str) -> None:
    assert measures(text)['sarcasm_frame'] == 1


@pytest.mark.parametrize('text', MEANT)
def test_what_is_meant_is_not_taken_for_irony(text: str) -> None:
    assert measures(text)['sarcasm_frame'] == 0


@pytest.mark.parametrize(('text', 'cues'), [
    ("Sorry, I don't know. Never ever! That's so very damn odd, haha, isn't it?",
     {'negation': 3, 'intensifier': 2, 'apology': 1, 'swear': 1, 'laughter': 1, 'question': 1}),
    ('I don’t, you dont, we can NOT', {'negation': 3}), ('Room no. 5, I want it', {'negation': 0}),
    ('So I came, so that you see it too.', {'intensifier': 0}),
    ('Really? That is too much, so good', {'intensifier': 2}),
    ('What?! Where??', {'question': 2}), ('Ha ha, he said hello', {'laughter': 2, 'swear': 0}),
    ('[laughs] 😂', {'laughter': 2}), ('I feel sorry for him, he never said sorry, what a sorry sight', {'apology': 0}),
    ('We sincerely apologise.', {'apology': 1}), ('', {'negation': 0, 'question': 0})])
def test_counts(text: str, cues: dict[str, int]) -> None:
    found = measures(text)
    assert {name: found[name] for name in cues} == cues


def test_contradiction_with_what_was_felt_before() -> None:
    sad = (Line('visitor', 'My dog died.', 'sad'), Line('avatar', 'I am sorry.', 'sad'))
    assert measures('Everything is wonderful', sad, 'happy')['contradiction_with_history'] == 1
    assert measures('I miss him', sad, 'sad')['contradiction_with_history'] == 0
    assert measures('Everything is wonderful', (), 'happy')['contradiction_with_history'] == 0
    named = (Line('avatar', 'You seem upset.'),)
    assert measures("I'm not upset.", named)['contradiction_with_history'] == 1
    assert measures("I'm fine, really.", named)['contradiction_with_history'] == 1
    assert measures('Yes, I am upset.', named)['contradiction_with_history'] == 0
    assert measures("I'm not upset.", (Line('avatar', 'The bus is here.'),))['contradiction_with_history'] == 0


@pytest.mark.parametrize(('text', 'word'), [
    ("I'm not happy about this", 'happy'), ('not bad at all', 'bad'), ("I'm not angry, just tired", 'angry'),
    ('I don’t feel good', 'good'), ('nothing to be afraid of', 'afraid'), ('It isnt good', 'good')])
def test_what_a_not_turns_round(text: str, word: str) -> None:
    assert word in denied(text)


@pytest.mark.parametrize('text', [
    "I couldn't be happier", "Isn't it lovely?", 'Not only good but great', 'No, I love it', "I can't wait to be happy",
    'I am happy', "That's it, no, happy?"])
def test_what_is_not_denied(text: str) -> None:
    assert not {'happier', 'lovely', 'good', 'love', 'happy'} & set(denied(text))


@pytest.mark.parametrize(('text', 'found'), [
    ('What a pathetic excuse', True), ('You people never learn', True), ("As if you'd know", True),
    ('That is beneath me', True), ('You call yourself a doctor?', True), ('I am furious with you!', False),
    ('I feel so pathetic', False), ('Thank you, people!', False), ('The key is beneath the mat', False)])
def test_scorn_is_told_from_anger(text: str, found: bool) -> None:
    assert (scorn(text) is not None) is found


@pytest.mark.parametrize(('text', 'label'), [
    ("I'm so angry", 'angry'), ('I feel sad today', 'sad'), ("I'm afraid of dogs", 'fear'), ("I'm not angry", None),
    ("I'm afraid so", None), ("I'm afraid your bus left", None), ('I was sad', None), ('You are mad', None)])
def test_a_feeling_said_in_so_many_words(text: str, label: str | None) -> None:
    found = declared(text)
    assert (found and found[1]) == label


@pytest.mark.parametrize(('text', 'practical'), [
    ('Where can I pay?', True), ('Hello, could you help me?', True), ('My feet hurt. Where is the lift?', True),
    ('What?!', False), ('You did that?', False), ('I know where it is.', False), ('Why would you do that?', False)])
def test_practical_questions(text: str, practical: bool) -> None:
    assert asks(text) is practical


@pytest.mark.parametrize(('text', 'kind'), [
    ('No.', 'no'), ('Not really.', 'no'), ('Yes, I am.', 'yes'), ('I’m fine.', 'fine'), ('REALLY?', 'doubt'),
    ("You're kidding!", 'doubt'), ('Of course it is.', 'again'), ('Again?', 'again'), ('Oh, lovely.', 'praise'),
    ('Okay, thanks.', 'thanks'), ('No, thanks.', 'no'), ('Oh no.', 'dismay'), ('I want a ticket', None), ('Why?', None),
    ('No, he came at six', None), ('', None), ('?!', None)])
def test_kinds_of_short_answers(text: str, kind: str | None) -> None:
    assert context.kind(text) == kind


@pytest.mark.parametrize(('question', 'answer', 'statement'), [
    ('Did they fix it?', 'no', 'They did not fix it.'), ('Are you all right?', 'no', 'I am not all right.'),
    ('What a nice name. Is your dog here?', 'no', 'My dog is not here.'),
    ('Has your mother passed away?', 'yes', 'My mother has passed away.'),
    ('Is anyone collecting you?', 'no', 'Nobody is collecting me.'),
    ('Would you like a receipt?', 'no', None), ('How are you?', 'no', None), ('It is late.', 'no', None)])
def test_a_yes_or_no_becomes_a_statement(question: str, answer: str, statement: str | None) -> None:
    assert context.restated(question, answer) == statement


def test_every_answer_depends_on_the_news() -> None:
    for kind in ('yes', 'no', 'doubt', 'again', 'praise', 'fine', 'thanks', 'noted', 'giveup', 'dismay'):
        good, bad = context.after(kind, 1, 0), context.after(kind, 0, 1)
        assert good['happy'] > bad['happy'] and bad['angry'] + bad['sad'] + bad['fear'] > 0.5


def test_irony_and_denial_only_move_what_is_there() -> None:
    before = Distribution.from_mapping({'happy': 0.6, 'neutral': 0.2, 'fear': 0.2})
    after = irony.turned(before, 0.5)
    assert after['happy'] == pytest.approx(0.3) and after['neutral'] == pytest.approx(0.15)
    assert after['angry'] > after['sad'] > 0 and after['fear'] == pytest.approx(before['fear'])
    assert moved(before, 'sad', 0.7, {'neutral': 1.0}) == before


def test_emoji_and_odd_signs() -> None:
    angry, mixed = emoji('😡😡'), emoji('hi 😢 😀')
    assert angry is not None and angry.label == 'angry'
    assert mixed is not None and mixed['sad'] == pytest.approx(mixed['happy'])
    assert emoji('hi :-) 5 €') is None
    assert plain('<b>It’s\x00 “so”</b>\n\tgood') == 'It\'s "so" good' and plain('1 < 2 > 0') == '1 < 2 > 0'
