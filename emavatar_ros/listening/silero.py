"""Silero voice activity: how likely it is that somebody speaks, every 32 ms.

Model: Silero VAD v6 (ONNX), MIT, 2.3 MB. CPU: 0.1 to 0.3 ms for each window of 32 ms on one thread. White noise, hum
and clicks stay below 0.5. One object per stream (it remembers the last windows); one thread at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from emavatar_ros.listening.voice_activity import RATE
from emavatar_ros.media.audio import Samples
from emavatar_ros.settings import setting

CONTEXT: Final = 64
"""Samples of the window before that the network wants to see again."""


@dataclass(frozen=True)
class Config:
    """Settings of the voice activity detector."""

    threads: int = setting(1, 'processor threads; more than one is slower for so small a network', low=1, high=4)


class Silero:
    """Silero VAD from its ONNX file."""

    name = 'silero-vad'

    def __init__(self, model: Path, config: Config | None = None) -> None:
        from emavatar_ros.models.onnx import session

        self._session: Any = session(model, 'cpu', (config or Config()).threads)
        self._rate = np.array(RATE, np.int64)
        self.reset()

    def reset(self) -> None:
        """Forget what came before."""
        self._state = np.zeros((2, 1, 128), np.float32)
        self._context = np.zeros((1, CONTEXT), np.float32)

    def __call__(self, window: Samples) -> float:
        """Probability of speech in a window, float32 [512]."""
        given = np.concatenate([self._context, window[None]], axis=1, dtype=np.float32)
        probability, self._state = self._session.run(None, {'input': given, 'state': self._state, 'sr': self._rate})
        self._context = given[:, -CONTEXT:]
        return float(probability[0, 0])


def create(config: Config | None = None, model: Path | None = None) -> Silero:
    """The detector; `model` is its ONNX file, from the model store unless named. Raises Missing when it isn't there."""
    if model is None:
        from emavatar_ros.models.store import Store

        model = Store().path('silero-vad') / 'silero_vad.onnx'
    return Silero(model, config)
