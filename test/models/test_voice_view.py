"""The voice view with the head that ships and the recogniser's real encoder states."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.listening import whisper
from emavatar_ros.listening.whisper import Whisper
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import read_audio
from emavatar_ros.models.store import Store
from emavatar_ros.perception.voice.encoder import CLASSES, MODEL, Config, create

RATE = 16000
NEUTRAL = {'en-us': 'The train to the coast leaves at ten past four.', 'es': 'La sala está al fondo a la izquierda.',
           'fr-fr': 'Le train part à quatre heures dix.', 'it': 'La sala si trova in fondo a sinistra.',
           'de': 'Der Raum ist hinten links.', 'en-gb+f2': 'We moved the table next to the window.'}


@pytest.fixture(scope='module')
def recogniser() -> Whisper:
    if not Store().cached('whisper-base'):
        pytest.skip('no recogniser in the store: emavatar models pull whisper-base')
    if not shutil.which('espeak-ng'):
        pytest.skip('no espeak-ng here: apt install espeak-ng')
    return whisper.create(whisper.Config(threads=1))


def speak(folder: Path, text: str, *options: str) -> Audio:
    path = folder / 'said.wav'
    subprocess.run(['espeak-ng', *options, '-w', str(path), text], check=True)
    return read_audio(path).mono(RATE)


def judged(audio: Audio, recogniser: Whisper, least: float = 0.0) -> Candidate:
    """What a view that never heard the person makes of it."""
    return create(Config(least=least)).hear(audio, recogniser.transcribe(audio).embedding)


def test_speech_gets_a_candidate_and_a_baseline(tmp_path: Path, recogniser: Whisper) -> None:
    view = create(Config(least=0.0))
    seen, measured = [], []
    for pitch, volume in (('30', '60'), ('30', '60'), ('90', '180')):
        audio = speak(tmp_path, 'I am going to the station now.', '-p', pitch, '-a', volume)
        heard = recogniser.transcribe(audio)
        assert heard.embedding is not None
        seen.append(view.hear(audio, heard.embedding))
        measured.append(seen[-1].measures)
        assert seen[-1].label in CLASSES and seen[-1].model == MODEL and seen[-1].evidence
    assert measured[2]['pitch_z'] > measured[1]['pitch_z'] + 0.5
    assert measured[2]['loudness_z'] > measured[1]['loudness_z'] + 0.5
    assert seen[2].arousal > seen[1].arousal
    assert all(-1 <= value <= 1 for candidate in seen for value in (candidate.valence, candidate.arousal))


def test_neither_loudness_nor_silence_around_it_changes_what_is_heard(tmp_path: Path, recogniser: Whisper) -> None:
    plain = speak(tmp_path, 'I have been waiting here for an hour.', '-a', '40').samples
    plain = plain * 0.2 / np.abs(plain).max()
    first = judged(Audio(plain, RATE), recogniser)
    assert first.distribution is not None
    silence = np.zeros(RATE, np.float32)
    for heard in (plain / 4, plain * 4, np.concatenate([silence, plain, silence])):
        other = judged(Audio(heard.astype(np.float32), RATE), recogniser)
        assert other.label == first.label and other.distribution is not None
        assert other.distribution.p == pytest.approx(first.distribution.p, abs=0.1)


def test_strangers_who_say_something_neutral_are_not_called_afraid_or_angry(tmp_path: Path, recogniser: Whisper
                                                                           ) -> None:
    found = [judged(speak(tmp_path, text, '-v', language), recogniser, Config().least)
             for language, text in NEUTRAL.items()]
    assert sum(candidate.label in ('angry', 'fear', 'disgusted') for candidate in found) <= 1
    assert np.mean([candidate.confidence for candidate in found]) < 0.7  # a machine's voice is unlike any it knows


def test_music_and_noise_are_not_judged(recogniser: Whisper) -> None:
    t = np.arange(3 * RATE) / RATE
    swell = 0.1 * (1 + 0.3 * np.sin(4 * np.pi * t))
    chord = swell * sum(np.sin(2 * np.pi * hertz * t) for hertz in (220, 277, 330, 440))
    noise = np.random.default_rng(0).normal(0, 0.1, len(t))
    for sound, reason in ((chord, 'music'), (noise, 'hardly any voice')):
        samples = np.asarray(sound, np.float32)
        candidate = create(Config(least=0.0)).hear(Audio(samples, RATE), recogniser.embed(samples))
        assert candidate.abstains and reason in candidate.reason


def test_it_costs_nothing_beyond_transcription(tmp_path: Path, recogniser: Whisper) -> None:
    audio = speak(tmp_path, 'We were standing at the window and looked out. ' * 3)
    embedding = recogniser.transcribe(audio).embedding
    view, taken = create(), []
    for _ in range(5):
        began = time.process_time()
        view.hear(audio, embedding)
        taken.append(time.process_time() - began)
    assert min(taken) < 0.04  # 20 ms on a quiet machine
