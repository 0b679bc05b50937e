"""The voice view: what is heard in how something was said. Each backend is a file here."""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.media.audio import Audio

VIEW: Final = 'voice'


class VoiceView(Protocol):
    """Judges the utterances of one person. One thread at a time."""

    def hear(self, audio: Audio, embedding: NDArray[np.float32] | None, final: bool = True) -> Candidate:
        """What an utterance's sound shows; `embedding`: the recogniser's, float32 [1024], or None.

        final: the utterance is over; one that still goes on teaches nothing about the person. Abstains, with a
        reason, from too little or too quiet sound."""
        ...

    def forget(self) -> None:
        """Another person: whatever was learned of the last one is gone."""
        ...
