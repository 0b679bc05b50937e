"""The listener: sound in, events out, with a detector and a recogniser that are simple rules."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from emavatar_ros.listening.events import (
    Event,
    MicrophoneBack,
    MicrophoneSilent,
    Partial,
    SpeechDropped,
    SpeechEnded,
    SpeechStarted,
    Utterance,
)
from emavatar_ros.listening.listener import Listener, ListenerConfig, ListeningConfig
from emavatar_ros.listening.recording import hear
from emavatar_ros.listening.transcription import Transcription
from emavatar_ros.media.audio import Audio
from emavatar_ros.settings import build, resolve, specs

RATE = 16000
FLOOR = 1e-4


class Loudness:
    """Speech is whatever is loud."""

    name = 'loudness'

    def __call__(self, window: np.ndarray) -> float:
        assert window.shape == (512,) and window.dtype == np.float32
        return 0.9 if np.abs(window).mean() > 0.01 else 0.05

    def reset(self) -> None:
        pass


class Script:
    """Says the same text about everything, and remembers what it was given."""

    name = 'script'

    def __init__(self, text: str = 'It is over.', language: str = 'en') -> None:
        self.text, self.language = text, language
        self.given: list[tuple[float, str | None]] = []

    def warm_up(self) -> None:
        pass

    def transcribe(self, audio: Audio, language: str | None = None, expected: str | None = None) -> Transcription:
        assert audio.rate == RATE and audio.samples.ndim == 1
        self.given.append((audio.seconds, expected))
        return Transcription(self.text, self.language, 0.9, np.ones(1024, np.float32))


class Later:
    """Runs nothing until told to."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Future[Transcription], Callable[..., Transcription], tuple[Any, ...]]] = []

    def __call__(self, call: Callable[..., Transcription], *args: Any) -> Future[Transcription]:
        self.jobs.append((Future(), call, args))
        return self.jobs[-1][0]

    def run(self) -> None:
        for future, call, args in self.jobs:
            if not future.cancelled():
                future.set_result(call(*args))
        self.jobs.clear()


def sound(*parts: tuple[float, float]) -> np.ndarray:
    """Noise of (seconds, level) one after another."""
    chance = np.random.default_rng(0)
    return np.concatenate([chance.uniform(-1, 1, round(s * RATE)) * level for s, level in parts]).astype(np.float32)


def listen(listener: Listener, samples: np.ndarray, start: float = 0.0, chunk: int = 320) -> list[Event]:
    return [event for at in range(0, len(samples), chunk)
            for event in listener.feed(samples[at:at + chunk], start + at / RATE)]


def quick(**changes: Any) -> ListenerConfig:
    return replace(ListenerConfig(), **changes)


@pytest.mark.parametrize('chunk', [160, 480, 512, 1600, 100_000])
def test_an_utterance_has_the_times_of_its_sound_whatever_the_chunks(chunk: int) -> None:
    recogniser = Script()
    listener = Listener(quick(partial_every=0.0), Loudness(), recogniser)
    events = listen(listener, sound((1.0, FLOOR), (1.5, 0.3), (1.5, FLOOR)), start=100.0, chunk=chunk)
    assert [type(e) for e in events] == [SpeechStarted, SpeechEnded, Utterance]
    started, ended, utterance = events
    assert isinstance(started, SpeechStarted) and isinstance(ended, SpeechEnded) and isinstance(utterance, Utterance)
    assert started.stamp == pytest.approx(101.0, abs=0.033)
    assert (utterance.start, utterance.end) == (pytest.approx(101.0, abs=0.033), pytest.approx(102.5, abs=0.033))
    assert ended.stamp - ended.end == pytest.approx(0.35, abs=0.04)
    assert utterance.audio_start <= 101.0 - 0.25
    begin = round((101.0 - utterance.audio_start) * RATE)
    assert np.abs(utterance.audio.samples[:begin - 520]).max() < 0.01 < np.abs(utterance.audio.samples[begin + 520])
    assert utterance.audio.seconds == pytest.approx(0.3 + 1.5 + 0.2, abs=0.25)
    assert len(recogniser.given) == 1  # the transcript of the pause is the final one


def test_partials_come_about_once_a_second_and_cover_what_was_said() -> None:
    listener = Listener(quick(partial_every=0.9), Loudness(), Script())
    events = listen(listener, sound((0.5, FLOOR), (4.0, 0.3), (1.0, FLOOR)))
    partials = [e for e in events if isinstance(e, Partial)]
    assert [p.end for p in partials] == pytest.approx([1.2, 2.1, 3.0, 3.9], abs=0.15)
    assert all(p.start == pytest.approx(0.5, abs=0.033) for p in partials)
    # What they were heard in comes along, for the voice view: it costs nothing more.
    assert all(p.embedding is not None and p.audio_start <= p.start for p in partials)
    assert [p.audio_start + p.audio.seconds for p in partials] == pytest.approx([p.end for p in partials], abs=0.05)
    assert isinstance(events[-1], Utterance)


def test_a_slow_recogniser_gets_one_job_at_a_time_and_delays_nothing() -> None:
    later, recogniser = Later(), Script()
    listener = Listener(quick(), Loudness(), recogniser, later)
    events = listen(listener, sound((0.5, FLOOR), (3.0, 0.3)))
    assert len(later.jobs) == 1 and [type(e) for e in events] == [SpeechStarted]
    later.run()
    events = listen(listener, sound((0.1, 0.3)), start=3.5)
    assert [type(e) for e in events] == [Partial]


def test_the_turn_ends_when_late_words_say_so_and_the_utterance_follows_them() -> None:
    later = Later()
    listener = Listener(quick(partial_every=0.0), Loudness(), Script('It is over.'), later)
    assert len(listen(listener, sound((1.0, 0.3), (0.8, FLOOR)))) == 1  # 0.8 s, but the words aren't there yet
    later.run()
    events = listen(listener, sound((0.1, FLOOR)), start=1.8)
    assert [type(e) for e in events] == [SpeechEnded, Utterance]


def test_a_recogniser_that_hangs_costs_one_utterance_and_its_late_answer_starts_nothing() -> None:
    later = Later()
    listener = Listener(quick(partial_every=0.0, patience=3.0), Loudness(), Script(), later)
    events = listen(listener, sound((1.0, 0.3), (8.0, FLOOR)))
    assert [type(e) for e in events] == [SpeechStarted, SpeechEnded, SpeechDropped]
    assert 'too long' in events[-1].reason  # type: ignore[union-attr]
    later.run()
    assert listen(listener, sound((2.0, FLOOR)), start=9.0) == []
    events = listen(listener, sound((1.0, 0.3), (0.3, FLOOR)), start=11.0)
    later.run()
    assert isinstance([*events, *listen(listener, sound((1.0, FLOOR)), start=12.3)][-1], Utterance)


def test_speech_that_goes_on_is_recognised_again_as_a_whole() -> None:
    recogniser = Script('I was thinking about')
    listener = Listener(quick(partial_every=0.0), Loudness(), recogniser)
    events = listen(listener, sound((1.0, 0.3), (1.0, FLOOR), (1.0, 0.3), (2.0, FLOOR)))
    assert [type(e) for e in events] == [SpeechStarted, SpeechEnded, Utterance]
    assert [s for s, _ in recogniser.given] == pytest.approx([1.2, 3.2], abs=0.1)


def test_a_click_is_dropped_and_never_recognised() -> None:
    recogniser = Script()
    listener = Listener(quick(), Loudness(), recogniser)
    events = listen(listener, sound((1.0, FLOOR), (0.1, 0.5), (2.0, FLOOR)))
    assert [type(e) for e in events] == [SpeechStarted, SpeechDropped]
    assert listen(listener, sound((5.0, FLOOR)), start=3.1) == []
    assert recogniser.given == []


def test_a_language_is_kept_until_the_visitor_leaves() -> None:
    recogniser = Script('Ya está.', 'es')
    listener = Listener(quick(partial_every=0.0), Loudness(), recogniser)
    turn = sound((1.0, 0.3), (1.0, FLOOR))
    listen(listener, np.concatenate([turn, turn]))
    assert [expected for _, expected in recogniser.given] == [None, 'es']
    listener.forget()
    listen(listener, turn, start=4.0)
    assert recogniser.given[-1][1] is None


def test_no_words_is_an_utterance_without_text_and_changes_no_language() -> None:
    recogniser = Script('', 'cy')
    listener = Listener(quick(partial_every=0.0), Loudness(), recogniser)
    events = listen(listener, sound((1.0, 0.3), (1.5, FLOOR)))
    assert isinstance(events[-1], Utterance) and events[-1].text == '' and events[-1].embedding is not None
    listen(listener, sound((1.0, 0.3), (1.5, FLOOR)), start=2.5)
    assert recogniser.given[-1][1] is None


def test_a_jump_of_the_clock_ends_what_was_begun() -> None:
    listener = Listener(quick(partial_every=0.0), Loudness(), Script())
    events = listen(listener, sound((1.0, 0.3)))
    events += listen(listener, sound((1.0, FLOOR)), start=50.0)
    assert [type(e) for e in events] == [SpeechStarted, SpeechEnded, Utterance]
    assert events[-1].end == pytest.approx(1.0, abs=0.04)  # type: ignore[union-attr]


def test_flush_gives_what_is_owed() -> None:
    listener = Listener(quick(), Loudness(), Script())
    assert list(listener.flush()) == []
    listen(listener, sound((1.0, 0.3)))
    assert [type(e) for e in listener.flush()] == [SpeechEnded, Utterance]
    assert list(listener.flush()) == []


def test_what_the_avatar_says_itself_is_not_heard() -> None:
    listener = Listener(quick(), Loudness(), Script())
    loud = sound((6.0, 0.3))
    events = [e for at in range(0, len(loud), 320) for e in listener.feed(loud[at:at + 320], at / RATE, ignore=True)]
    assert events == []


def test_a_microphone_of_zeros_is_reported_within_five_seconds_once_and_when_it_is_back() -> None:
    listener = Listener(quick(), Loudness(), Script())
    zeros = np.zeros(10 * RATE, np.float32)
    events = [(at / RATE, e) for at in range(0, len(zeros), 320) for e in listener.feed(zeros[at:at + 320], at / RATE)]
    assert [type(e) for _, e in events] == [MicrophoneSilent]
    assert events[0][0] < 5 and isinstance(events[0][1], MicrophoneSilent) and events[0][1].stamp == pytest.approx(0)
    assert [type(e) for e in listen(listener, sound((1.0, FLOOR)), start=10.0)] == [MicrophoneBack]


def test_samples_that_are_no_numbers_and_empty_chunks_do_no_harm() -> None:
    listener = Listener(quick(), Loudness(), Script())
    assert list(listener.feed(np.zeros(0, np.float32), 0.0)) == []
    assert list(listener.feed(np.full(RATE, np.nan, np.float32), 0.0)) == []
    assert isinstance(listen(listener, sound((1.0, 0.3), (1.0, FLOOR)), start=1.0)[-1], Utterance)


def test_memory_stays_flat_in_silence() -> None:
    listener = Listener(quick(), Loudness(), Script())
    listen(listener, sound((20.0, FLOOR)), chunk=1600)
    assert len(listener._kept) * 512 / RATE < 1.0


def test_a_recording_is_one_utterance() -> None:
    recogniser = Script()
    samples = sound((1.0, FLOOR), (1.0, 0.3), (3.0, FLOOR), (1.0, 0.3), (1.0, FLOOR))
    heard = hear(Audio(samples, RATE), Loudness(), recogniser)
    assert heard is not None and heard.text == 'It is over.'
    assert (heard.start, heard.end) == (pytest.approx(1.0, abs=0.033), pytest.approx(6.0, abs=0.033))
    assert hear(Audio(sound((2.0, FLOOR)), RATE), Loudness(), recogniser) is None
    assert hear(Audio(np.zeros(0, np.float32), RATE), Loudness(), recogniser) is None


def test_a_long_recording_is_recognised_in_pieces_cut_at_its_pauses() -> None:
    recogniser = Script('Words.')
    samples = sound((20.0, 0.3), (1.0, FLOOR), (20.0, 0.3), (0.5, FLOOR), (5.0, 0.3))
    heard = hear(Audio(samples, RATE), Loudness(), recogniser)
    assert heard is not None and heard.text == 'Words. Words.'
    assert [s for s, _ in recogniser.given] == pytest.approx([20.0, 26.5], abs=1.0)
    assert heard.embedding is not None and heard.embedding.shape == (1024,)


def test_the_settings_name_the_backends() -> None:
    names = {spec.name for spec in specs(resolve(ListeningConfig, {}))}
    assert {'turns.patience_unfinished', 'partial_every', 'recogniser', 'whisper.threads', 'silero.threads'} <= names
    config = build(resolve(ListeningConfig, {}), {'whisper.language': 'es', 'turns.onset': 0.2})
    assert config.whisper.language == 'es'  # type: ignore[attr-defined]
