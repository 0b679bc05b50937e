"""When a turn begins and ends, told by nothing but probabilities, words and times."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from emavatar_ros.listening.endpointing import (
    Asked,
    Began,
    Config,
    Dropped,
    Ended,
    Endpointing,
    Outcome,
    Paused,
    Resumed,
    State,
    Window,
    Words,
)
from emavatar_ros.listening.wording import Wording, wording

STEP = 0.032


class Tape:
    """Feeds stretches of speech and silence; keeps what came out."""

    def __init__(self, config: Config | None = None) -> None:
        self.machine = Endpointing(config)
        self.now = 0.0
        self.out: list[Outcome] = []

    def play(self, seconds: float, probability: float) -> None:
        for _ in range(round(seconds / STEP)):
            self.add(self.machine.step(Window(probability, self.now, self.now + STEP)))
            self.now += STEP

    def until_over(self, probability: float = 0.0) -> float:
        """Play silence until the turn ends; how long that took."""
        began = self.now
        while not any(isinstance(o, (Ended, Dropped)) for o in self.out):
            assert self.now - began < 10, 'it never ends'
            self.play(STEP, probability)
        return self.now - began

    def add(self, outcome: Outcome | None) -> None:
        if outcome is not None:
            self.out.append(outcome)

    def kinds(self) -> list[type]:
        return [type(o) for o in self.out]


def said(tape: Tape, text: str, language: str = 'en', confidence: float = 0.9) -> None:
    tape.machine.step(Words(text, language, confidence, tape.machine.end))


def test_a_turn_begins_at_its_first_voiced_sample() -> None:
    tape = Tape()
    tape.play(1.0, 0.1)
    tape.play(0.2, 0.9)
    assert tape.kinds() == [Began]
    assert isinstance(tape.out[0], Began) and tape.out[0].start == pytest.approx(0.992, abs=0.001)
    assert tape.now - tape.out[0].start < 0.25  # decided well within half a second


@pytest.mark.parametrize(('text', 'patience'), [
    ('I lost my job.', 0.35),
    ('Where are you from?', 0.35),
    ('I lost my job because', 1.4),
    ('I lost my job because.', 1.4),  # recognisers put a full stop behind anything
    ('I would like to see the', 1.4),
    ('Well, I think...', 1.4),
    ('I went to.', 0.7),
    ('yes', 0.7),
    ('', 0.7),
])
def test_its_words_decide_how_long_a_pause_may_be(text: str, patience: float) -> None:
    tape = Tape()
    tape.play(1.0, 0.9)
    tape.play(0.192, 0.0)
    said(tape, text)
    assert 0.192 + tape.until_over() == pytest.approx(patience, abs=2 * STEP)
    ended = tape.out[-1]
    assert isinstance(ended, Ended) and ended.end == pytest.approx(0.992, abs=0.001) and ended.start == 0


def test_a_full_stop_that_was_hardly_heard_means_nothing() -> None:
    tape = Tape()
    tape.play(1.0, 0.9)
    said(tape, 'I lost my job.', confidence=0.3)
    assert tape.until_over() == pytest.approx(0.7, abs=2 * STEP)


def test_without_words_the_middle_patience_counts_and_while_they_are_made_the_longest() -> None:
    tape = Tape()
    tape.play(1.0, 0.9)
    assert tape.until_over() == pytest.approx(0.7, abs=2 * STEP)
    tape = Tape()
    tape.play(1.0, 0.9)
    tape.play(0.2, 0.0)
    tape.machine.step(Asked(tape.machine.end))
    tape.play(0.7, 0.0)
    assert Ended not in tape.kinds()
    said(tape, 'I lost my job.')
    assert tape.until_over() <= 2 * STEP  # its patience is long over


def test_words_of_an_earlier_pause_do_not_count() -> None:
    tape = Tape()
    tape.play(1.0, 0.9)
    tape.play(0.2, 0.0)
    said(tape, 'It was fine.')
    tape.play(0.5, 0.9)
    assert tape.until_over() == pytest.approx(0.7, abs=2 * STEP)


def test_a_pause_inside_a_sentence_is_only_a_pause() -> None:
    tape = Tape()
    tape.play(0.8, 0.9)
    tape.play(0.2, 0.0)
    said(tape, 'I was thinking about')
    tape.play(1.0, 0.0)
    tape.play(0.5, 0.9)
    assert tape.kinds() == [Began, Paused, Resumed]
    assert tape.machine.state is State.SPEAKING


def test_a_click_is_no_speech_and_a_short_word_is() -> None:
    tape = Tape()
    tape.play(0.064, 0.95)
    tape.play(2.0, 0.0)
    assert tape.out == []
    tape.play(0.128, 0.95)
    tape.until_over()
    assert tape.kinds()[-1] is Dropped
    tape = Tape()
    tape.play(0.256, 0.95)
    tape.until_over()
    assert tape.kinds()[-1] is Ended


def test_a_probability_that_wavers_in_between_neither_begins_nor_ends() -> None:
    tape = Tape()
    tape.play(2.0, 0.42)
    assert tape.out == []
    tape.play(0.5, 0.9)
    tape.play(3.0, 0.42)
    assert tape.kinds() == [Began]


def test_one_noisy_window_does_not_prolong_a_pause() -> None:
    tape = Tape()
    tape.play(1.0, 0.9)
    tape.play(0.4, 0.0)
    tape.play(STEP, 0.9)
    assert 0.4 + STEP + tape.until_over() == pytest.approx(0.7, abs=3 * STEP)


def test_an_utterance_has_a_longest_length() -> None:
    tape = Tape(Config(longest=5.0))
    tape.play(5.2, 0.9)
    ended = next(o for o in tape.out if isinstance(o, Ended))
    assert ended.end - ended.start <= 5.0 + STEP and 'long' in ended.reason


def test_late_words_start_nothing() -> None:
    tape = Tape()
    for event in (Words('Hello.', 'en', 0.9, 3.0), Asked(3.0)):
        assert tape.machine.step(event) is None
    assert tape.machine.state is State.QUIET
    tape.play(1.0, 0.9)
    assert tape.until_over() == pytest.approx(0.7, abs=2 * STEP)  # and say nothing about the next turn


def test_the_end_of_the_sound_ends_the_turn() -> None:
    tape = Tape()
    assert tape.machine.finish(0.0) is None
    tape.play(1.0, 0.9)
    assert isinstance(tape.machine.finish(tape.now), Ended)


def endings(kind: Wording) -> Iterable[tuple[str, str]]:
    yield from {
        Wording.FINISHED: [('Estoy muy triste.', 'es'), ("C'est fini !", 'fr'), ('今日は楽しかった。', 'ja'),
                           ('Yes!', 'xx'), ('He said "stop."', 'en'), ('What for?', 'en')],
        Wording.UNFINISHED: [('Estoy triste porque.', 'es'), ('je voulais,', 'fr'), ('ich war müde und', 'de'),
                             ('I was going to', 'en'), ('well —', 'en')],
        Wording.OPEN: [('bueno', 'es'), ('  ', 'en'), ('Look at that.', 'en'), ('42', 'en')],
    }[kind]


@pytest.mark.parametrize('kind', list(Wording))
def test_how_a_text_ends(kind: Wording) -> None:
    for text, language in endings(kind):
        assert wording(text, language) is kind, text
