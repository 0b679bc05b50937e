"""Phrases that are ready before they are wanted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.media.audio import Audio
from emavatar_ros.voice.rehearsed import Rehearsed
from emavatar_ros.voice.speech import Phoneme, Speech

CALM, LOUD = Delivery(), Delivery(gain=3.0)
PHRASES = [('Oh.', CALM, 'en'), ('Ah.', CALM, 'en'), ('Oh.', CALM, 'en')]


class Voice:
    """Counts what it is asked for."""

    def __init__(self, name: str = 'counting') -> None:
        self.name, self.rate = name, 16000
        self.asked: list[tuple[str, Delivery, str]] = []

    def speak(self, text: str, delivery: Delivery, language: str) -> Iterator[Speech]:
        self.asked.append((text, delivery, language))
        yield Speech(Audio(np.linspace(-1, 1, 10, dtype=np.float32), self.rate), (Phoneme('ˈoʊ', 0.0, 0.5),), text)

    def stop(self) -> None:
        pass

    def warm_up(self) -> None:
        pass


def warm(voice: Voice, folder: Path) -> Rehearsed:
    rehearsed = Rehearsed(voice, PHRASES, folder)
    rehearsed.warm_up()
    return rehearsed


def test_what_was_rehearsed_sounds_at_once_and_again(tmp_path: Path) -> None:
    voice = Voice()
    rehearsed = warm(voice, tmp_path)
    assert voice.asked == PHRASES[:2]
    for _ in range(2):
        assert [speech.text for speech in rehearsed.speak('Oh.', CALM, 'en')] == ['Oh.']
    assert len(voice.asked) == 2
    list(rehearsed.speak('Oh.', LOUD, 'en'))
    assert voice.asked[-1] == ('Oh.', LOUD, 'en'), 'said otherwise it is another phrase'


def test_the_next_start_reads_what_was_kept_and_another_voice_does_not(tmp_path: Path) -> None:
    first = next(warm(Voice(), tmp_path).speak('Oh.', CALM, 'en'))
    again = Voice()
    kept = next(warm(again, tmp_path).speak('Oh.', CALM, 'en'))
    assert not again.asked
    assert np.array_equal(kept.audio.samples, first.audio.samples) and kept.audio.rate == first.audio.rate
    assert (kept.phonemes, kept.text) == (first.phonemes, first.text)
    other = Voice('another')
    warm(other, tmp_path)
    assert len(other.asked) == 2


@pytest.mark.parametrize('damage', [b'', b'PK\x03\x04 no archive', b'\x93NUMPY'])
def test_what_is_damaged_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    warm(Voice(), tmp_path)
    for file in tmp_path.iterdir():
        file.write_bytes(damage)
    voice = Voice()
    assert next(warm(voice, tmp_path).speak('Oh.', CALM, 'en')).text == 'Oh.' and len(voice.asked) == 2


def test_where_nothing_can_be_kept_they_are_ready_all_the_same(tmp_path: Path) -> None:
    (tmp_path / 'file').write_text('no folder')
    voice = Voice()
    rehearsed = warm(voice, tmp_path / 'file')
    list(rehearsed.speak('Oh.', CALM, 'en'))
    assert len(voice.asked) == 2
