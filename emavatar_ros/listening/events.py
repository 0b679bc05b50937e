"""What the listener tells. Times are capture times in seconds, on the clock of the stamps given to it.

One utterance: SpeechStarted, then any number of Partial, then either SpeechDropped (it was no speech) or SpeechEnded
(the visitor has finished) followed by exactly one Utterance or SpeechDropped. A visitor may begin again before the
last Utterance is out; utterances come out in the order they were spoken.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.media.audio import Audio


@dataclass(frozen=True)
class SpeechStarted:
    """Somebody began to speak at `stamp`."""

    stamp: float


@dataclass(frozen=True)
class Partial:
    """What was said so far, from `start` to `end`; may still change. audio, embedding: as an Utterance has them."""

    text: str
    language: str
    confidence: float
    start: float
    end: float
    audio: Audio = field(compare=False)
    embedding: NDArray[np.float32] | None = field(default=None, compare=False)
    audio_start: float = 0.0


@dataclass(frozen=True)
class SpeechEnded:
    """The visitor spoke from `start` to `end` and has finished; decided at `stamp`. The Utterance follows."""

    start: float
    end: float
    stamp: float
    reason: str


@dataclass(frozen=True)
class Utterance:
    """One stretch of speech, from its first voiced sample to its last. text is '' when there were no words.

    audio: mono 16 kHz, with a little silence at both ends; it begins at `audio_start`.
    """

    text: str
    language: str
    confidence: float
    start: float
    end: float
    audio: Audio = field(compare=False)
    embedding: NDArray[np.float32] | None = field(default=None, compare=False)
    audio_start: float = 0.0


@dataclass(frozen=True)
class SpeechDropped:
    """What began at `start` was no speech, or can't be used, because of `reason`."""

    start: float
    end: float
    reason: str


@dataclass(frozen=True)
class MicrophoneSilent:
    """The microphone has given nothing but zeros since `stamp`; `reason` says what to do."""

    stamp: float
    reason: str


@dataclass(frozen=True)
class MicrophoneBack:
    """The microphone gives sound again."""

    stamp: float


Event = (SpeechStarted | Partial | SpeechEnded | Utterance | SpeechDropped | MicrophoneSilent | MicrophoneBack)
