"""Phrases that are ready before they are wanted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.media.audio import Audio
from emavatar_ros.voice.rehearsed import Rehearsed
from emavatar_ros.voice.speech import Speech

CALM, LOUD = Delivery(), Delivery(gain=3.0)


class Voice:
    """Counts what it is asked for; `cut` ends it as `stop` would."""

    name, rate = 'counting', 16000

    def __init__(self) -> None:
        self.asked: list[tuple[str, Delivery, str]] = []
        self.cut: Rehearsed | None = None

    def speak(self, text: str, delivery: Delivery, language: str) -> Iterator[Speech]:
        self.asked.append((text, delivery, language))
        if self.cut is not None:
            self.cut.stop()
            return
        yield Speech(Audio(np.ones(10, np.float32), self.rate), (), text)

    def stop(self) -> None:
        pass

    def warm_up(self) -> None:
        pass


def test_what_was_rehearsed_sounds_at_once_and_again() -> None:
    voice = Voice()
    rehearsed = Rehearsed(voice, [('Oh.', CALM, 'en'), ('Ah.', CALM, 'en'), ('Oh.', CALM, 'en')])
    while rehearsed.rehearse():
        pass
    assert rehearsed.ready == 2 and len(voice.asked) == 2
    for _ in range(2):
        assert [speech.text for speech in rehearsed.speak('Oh.', CALM, 'en')] == ['Oh.']
    assert len(voice.asked) == 2
    list(rehearsed.speak('Oh.', LOUD, 'en'))
    assert voice.asked[-1] == ('Oh.', LOUD, 'en'), 'said otherwise it is another phrase'


def test_a_rehearsal_that_was_cut_off_comes_again() -> None:
    voice = Voice()
    rehearsed = Rehearsed(voice, [('Oh.', CALM, 'en')])
    voice.cut = rehearsed
    assert rehearsed.rehearse() and not rehearsed.ready
    voice.cut = None
    assert rehearsed.rehearse() and rehearsed.ready == 1
    assert not rehearsed.rehearse()
