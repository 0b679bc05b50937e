"""What every recogniser and every voice activity detector of the listening room must do.

A backend is found by itself: any file of the room with Config and create whose object has `transcribe`, or is called
with a window. One whose model isn't on this machine is skipped.
"""

from __future__ import annotations

import pkgutil
import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emavatar_ros import listening
from emavatar_ros.errors import Missing
from emavatar_ros.listening.voice_activity import WINDOW
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import read_audio
from emavatar_ros.settings import specs

RATE = 16000
NOISE = np.random.default_rng(0)


def backends(what: str) -> list[str]:
    """Files of the room with a Config and a create that make such an object, by what their create says it returns."""
    found = []
    for item in pkgutil.iter_modules(listening.__path__):
        module = import_module(f'emavatar_ros.listening.{item.name}')
        if hasattr(module, 'Config') and hasattr(module, 'create'):
            made = getattr(module, str(module.create.__annotations__['return']))
            if hasattr(made, what):
                found.append(item.name)
    return found


def made(name: str) -> Any:
    module = import_module(f'emavatar_ros.listening.{name}')
    assert list(specs(module.Config))
    try:
        return module.create(module.Config())
    except Missing as error:
        pytest.skip(str(error))


@pytest.fixture(scope='module', params=backends('transcribe'))
def recogniser(request: pytest.FixtureRequest) -> Any:
    return made(request.param)


@pytest.fixture(scope='module', params=backends('reset'))
def activity(request: pytest.FixtureRequest) -> Any:
    return made(request.param)


@pytest.fixture(scope='module')
def speech(tmp_path_factory: pytest.TempPathFactory) -> Audio:
    if not shutil.which('espeak-ng'):
        pytest.skip('no espeak-ng here: apt install espeak-ng')
    path = tmp_path_factory.mktemp('speech') / 'a.wav'
    subprocess.run(['espeak-ng', '-v', 'en-us', '-s', '140', '-w', str(path), 'Good morning, my friend.'], check=True)
    return read_audio(path).mono(RATE)


def test_there_are_backends_of_both_kinds() -> None:
    assert 'whisper' in backends('transcribe') and 'silero' in backends('reset')


def test_speech_gives_words_a_language_and_a_confidence(recogniser: Any, speech: Audio) -> None:
    recogniser.warm_up()
    heard = recogniser.transcribe(speech)
    assert 'morning' in heard.text.lower()
    assert heard.language == 'en' and 0.2 < heard.confidence <= 1
    assert recogniser.name


def test_the_embedding_is_one_vector_of_a_fixed_length(recogniser: Any, speech: Audio) -> None:
    embedding = recogniser.transcribe(speech).embedding
    if embedding is None:
        pytest.skip('this recogniser has none')
    again = recogniser.transcribe(Audio(speech.samples[:len(speech.samples) // 2], RATE)).embedding
    assert embedding.dtype == np.float32 and embedding.ndim == 1 and np.isfinite(embedding).all()
    assert again.shape == embedding.shape


@pytest.mark.parametrize(('rate', 'channels'), [(8000, 1), (44100, 2)])
def test_any_rate_and_channels_will_do(recogniser: Any, speech: Audio, rate: int, channels: int) -> None:
    samples = speech.mono(rate).samples
    given = Audio(samples if channels == 1 else np.stack([samples] * channels, axis=1), rate)
    assert 'morning' in recogniser.transcribe(given).text.lower()


def hum(level: float) -> np.ndarray:
    return level * np.sin(2 * np.pi * 50 * np.arange(3 * RATE) / RATE)


@pytest.mark.parametrize('samples', [
    np.zeros(0), np.zeros(3 * RATE), NOISE.normal(0, 1e-3, 2 * RATE), NOISE.normal(0, 0.05, 3 * RATE), hum(0.1),
    np.cumsum(NOISE.normal(0, 1e-3, 3 * RATE)), np.eye(1, 2 * RATE, 8000)[0] * 0.9], ids=[
    'nothing', 'zeros', 'faint noise', 'white noise', 'hum', 'brown noise', 'click'])
def test_silence_noise_and_hum_never_become_words(recogniser: Any, samples: np.ndarray) -> None:
    heard = recogniser.transcribe(Audio(samples.astype(np.float32), RATE))
    assert heard.text == '' and heard.confidence == 0 and heard.reason


def share(activity: Any, samples: np.ndarray) -> float:
    activity.reset()
    padded = np.concatenate([samples, np.zeros(-len(samples) % WINDOW)]).astype(np.float32)
    values = [activity(padded[at:at + WINDOW]) for at in range(0, len(padded), WINDOW)]
    assert all(0 <= v <= 1 for v in values)
    return float(np.mean(np.array(values) > 0.5))


def test_activity_tells_speech_from_noise(activity: Any, speech: Audio) -> None:
    assert share(activity, speech.samples) > 0.5
    for other in (np.zeros(RATE), NOISE.normal(0, 0.05, 2 * RATE), hum(0.1)):
        assert share(activity, other) < 0.05


def test_activity_forgets_on_reset(activity: Any, speech: Audio) -> None:
    first = share(activity, speech.samples)
    assert share(activity, speech.samples) == first


def test_a_folder_without_a_model_says_how_to_get_one(tmp_path: Path) -> None:
    whisper = import_module('emavatar_ros.listening.whisper')
    with pytest.raises(Missing, match='emavatar models pull'):
        whisper.create(whisper.Config(folder=str(tmp_path)))
