"""The real detector and recogniser in the real listener, on speech made here."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.listening import silero, whisper
from emavatar_ros.listening.events import Event, Partial, SpeechEnded, SpeechStarted, Utterance
from emavatar_ros.listening.listener import Listener, ListenerConfig
from emavatar_ros.listening.recording import hear
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import read_audio
from emavatar_ros.models.store import Store

RATE = 16000


@pytest.fixture(scope='module')
def recogniser() -> whisper.Whisper:
    if not Store().cached('whisper-base'):
        pytest.skip('no recogniser in the store: emavatar models pull whisper-base')
    return whisper.create(whisper.Config(threads=1))


@pytest.fixture(scope='module')
def activity() -> silero.Silero:
    if not Store().cached('silero-vad'):
        pytest.skip('no detector in the store: emavatar models pull silero-vad')
    return silero.create()


def speech(folder: Path, text: str, language: str = 'en-us') -> np.ndarray:
    if not shutil.which('espeak-ng'):
        pytest.skip('no espeak-ng here: apt install espeak-ng')
    path = folder / 'speech.wav'
    subprocess.run(['espeak-ng', '-v', language, '-s', '140', '-w', str(path), text], check=True)
    return read_audio(path).mono(RATE).samples * 0.5


def listen(listener: Listener, samples: np.ndarray) -> list[Event]:
    return [event for at in range(0, len(samples), 480) for event in listener.feed(samples[at:at + 480], at / RATE)]


def room(*parts: np.ndarray | float) -> np.ndarray:
    """Sounds and pauses (seconds) one after another, in a room that is never quite silent."""
    sound = np.concatenate([np.zeros(round(p * RATE)) if isinstance(p, float) else p for p in parts])
    return (sound + np.random.default_rng(0).normal(0, 5e-4, len(sound))).astype(np.float32)


def test_a_finished_sentence_ends_its_turn_soon_and_an_unfinished_one_does_not(
        tmp_path: Path, activity: silero.Silero, recogniser: whisper.Whisper) -> None:
    finished = speech(tmp_path, 'This is a very good day.')
    unfinished = speech(tmp_path, 'I wanted to tell you something, because')
    for sound, least, most in ((finished, 0.3, 0.75), (unfinished, 1.2, 1.5)):
        listener = Listener(ListenerConfig(partial_every=0.0), activity, recogniser)
        events = listen(listener, room(1.0, sound, 2.5))
        assert [type(e) for e in events] == [SpeechStarted, SpeechEnded, Utterance]
        ended = events[1]
        assert isinstance(ended, SpeechEnded)
        assert least <= ended.stamp - ended.end <= most, events[2]


def test_partials_grow_into_the_final_text(tmp_path: Path, activity: silero.Silero, recogniser: whisper.Whisper
                                           ) -> None:
    sound = speech(tmp_path, 'Could you please show me the way to the train station, my friend?')
    events = listen(Listener(ListenerConfig(), activity, recogniser), room(0.5, sound, 1.5))
    partials = [e for e in events if isinstance(e, Partial)]
    final = events[-1]
    assert len(partials) >= 2 and isinstance(final, Utterance)
    assert 'train station' in final.text.lower() and final.language == 'en'
    assert 'you please show me the way' in partials[-1].text.lower()
    assert final.embedding is not None and final.embedding.shape == (1024,)


def test_noise_and_music_give_no_words(activity: silero.Silero, recogniser: whisper.Whisper) -> None:
    t = np.arange(4 * RATE) / RATE
    chord = sum(np.sin(2 * np.pi * f * t) * np.exp(-3 * (t * 2 % 1)) for f in (220, 277, 330)) * 0.1
    noise = np.random.default_rng(1).normal(0, 0.05, 4 * RATE)
    for event in listen(Listener(ListenerConfig(), activity, recogniser), room(chord, 1.0, noise, 2.0)):
        assert not isinstance(event, Partial) and getattr(event, 'text', '') == ''


def test_another_language_is_detected_and_one_bad_guess_does_not_flip_it(
        tmp_path: Path, activity: silero.Silero, recogniser: whisper.Whisper) -> None:
    spanish = Audio(speech(tmp_path, 'Buenos días, me gustaría visitar el museo.', 'es'), RATE)
    assert recogniser.transcribe(spanish).language == 'es'
    assert recogniser.transcribe(spanish, expected='en').language == 'es'  # clearly another
    short = Audio(speech(tmp_path, 'No.', 'es'), RATE)
    assert recogniser.transcribe(short, expected='en').language == 'en'
    assert recogniser.transcribe(spanish, language='en').language == 'en'


def test_a_short_window_hears_what_the_full_one_hears(tmp_path: Path, recogniser: whisper.Whisper) -> None:
    """And costs much less: the reason it exists."""
    samples = speech(tmp_path, 'I have been waiting for my friend since this morning.')
    costs = []
    for window in (8.0, 30.0):
        began = time.process_time()
        recogniser.embed(samples, window)
        costs.append(time.process_time() - began)
    assert costs[0] < costs[1] / 2
    short, full = recogniser.embed(samples, 8.0), recogniser.embed(samples, 30.0)
    assert float(np.corrcoef(short, full)[0, 1]) > 0.95
    assert 'i have been waiting for' in recogniser.transcribe(Audio(samples, RATE)).text.lower()


def test_a_recording_longer_than_the_model_hears_at_once(tmp_path: Path, activity: silero.Silero,
                                                         recogniser: whisper.Whisper) -> None:
    one = speech(tmp_path, 'The first word is apple.')
    last = speech(tmp_path, 'The last word is banana.')
    heard = hear(Audio(room(1.0, one, 15.0, one, 15.0, last, 1.0), RATE), activity, recogniser)
    assert heard is not None and 'apple' in heard.text.lower() and 'banana' in heard.text.lower()
    assert heard.start == pytest.approx(1.0, abs=0.3)
