"""The voice view with the head that ships and the recogniser's real encoder states."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.listening import whisper
from emavatar_ros.media.files import read_audio
from emavatar_ros.models.store import Store
from emavatar_ros.perception.voice.encoder import CLASSES, Config, create

RATE = 16000


def test_speech_gets_a_candidate_and_a_baseline(tmp_path: Path) -> None:
    if not Store().cached('whisper-base'):
        pytest.skip('no recogniser in the store: emavatar models pull whisper-base')
    if not shutil.which('espeak-ng'):
        pytest.skip('no espeak-ng here: apt install espeak-ng')
    recogniser = whisper.create(whisper.Config(threads=1))
    view = create(Config(least=0.0))
    seen, measured = [], []
    for pitch, volume in (('30', '60'), ('30', '60'), ('90', '180')):
        path = tmp_path / 'a.wav'
        subprocess.run(['espeak-ng', '-p', pitch, '-a', volume, '-w', str(path), 'I am going to the station now.'],
                       check=True)
        audio = read_audio(path).mono(RATE)
        heard = recogniser.transcribe(audio)
        assert heard.embedding is not None
        seen.append(view.hear(audio, heard.embedding))
        measured.append(view.measured)
        assert seen[-1].label in CLASSES and seen[-1].model == 'whisper-encoder+prosody' and seen[-1].evidence
    assert measured[2]['pitch_z'] > measured[1]['pitch_z'] + 0.5
    assert measured[2]['loudness_z'] > measured[1]['loudness_z'] + 1
    assert seen[2].arousal > seen[1].arousal
    assert np.isfinite([seen[0].valence, seen[0].arousal]).all()
