"""The real models: fetched where they are not cached, whole, and what the rooms expect to find in them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.models import onnx
from emavatar_ros.models.catalogue import Catalogue
from emavatar_ros.models.store import Store

NAMES = Catalogue().profile('embedded')


@pytest.mark.parametrize('name', NAMES)
def test_a_model_of_the_embedded_profile_is_whole(name: str) -> None:
    store = Store()
    folder = store.path(name, pull=True)
    verdict, = store.verify([name])
    assert verdict.ok, verdict.detail
    assert all((folder / file.name).stat().st_size == file.bytes for file in store.catalogue[name].files)


def test_voices_are_styles_by_number_of_tokens() -> None:
    voices = sorted(Store().path('kokoro-voices', pull=True).glob('*.bin'))
    assert {path.stem[0] for path in voices} == set('abefhip'), 'a language is missing'
    for path in voices:
        style = np.fromfile(path, np.float32).reshape(510, 1, 256)
        assert np.isfinite(style).all()
        assert 0.01 < style.std() < 1


def test_kokoro_tells_phoneme_times_and_has_its_vocabulary() -> None:
    folder = Store().path('kokoro', pull=True)
    vocabulary = json.loads((folder / 'vocab.json').read_text())['vocab']
    assert {'ə', 'ˈ', ' ', '.'} <= set(vocabulary)
    made = onnx.session(folder / 'kokoro-v1.0.int8.onnx', 'cpu')
    assert {item.name for item in made.get_inputs()} == {'tokens', 'style', 'speed'}


def test_the_landmarker_holds_its_three_networks() -> None:
    with zipfile.ZipFile(Store().path('face-landmarker', pull=True) / 'face_landmarker.task') as task:
        assert {'face_detector.tflite', 'face_landmarks_detector.tflite', 'face_blendshapes.tflite'} <= set(
            task.namelist())


def test_a_fresh_cache_is_filled_from_what_this_machine_reaches(tmp_path: Path) -> None:
    store = Store(tmp_path, quiet=True)
    store.pull(['mini-xception', 'face-api-expression'])
    assert [verdict.ok for verdict in store.verify()] == [True, True]
    assert list((tmp_path / '.partial').iterdir()) == []
