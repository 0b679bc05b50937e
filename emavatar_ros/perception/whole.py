"""The whole view: one model that hears, sees and reads the utterance at once.

Such models (Qwen3-Omni and its like) need a GPU and run behind an OpenAI-compatible server (vLLM): this is the
question put to it. Sound goes as a 16 kHz WAV, pictures as a few JPEGs spread over the utterance, and the answer is a
JSON object with a share for each emotion (perception/verdict.py). Without a server configured the view abstains and
says so; a server that is slow, busy, away or talks nonsense makes it abstain too, in time: models/llm/openai.py is the
client.

It was checked against a local server that speaks the protocol, never against a real omni model.
"""

from __future__ import annotations

import io
import wave
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import cv2
import numpy as np

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.history import Line
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.images import Pixels, fit
from emavatar_ros.models.llm import Message, openai
from emavatar_ros.perception import verdict
from emavatar_ros.settings import setting

VIEW: Final = 'whole'
NOBODY: Final = 'none'
_RATE = 16000


@dataclass(frozen=True)
class Config:
    """Settings of the whole view. The key is read from the environment, never from a file that is passed around."""

    url: str = setting('', "an OpenAI-compatible server's address up to /v1; empty: none, and the view abstains")
    model: str = setting('Qwen/Qwen3-Omni-30B-A3B-Instruct', 'the name the server knows the model by')
    key_variable: str = setting('EMAVATAR_OMNI_KEY', 'environment variable that holds the key, where one is needed')
    timeout: float = setting(6.0, 'longest wait for the whole answer', unit='s', low=0.1, high=120.0)
    pictures: int = setting(4, 'pictures of the utterance that are sent', low=0, high=16)
    longest: int = setting(480, 'longer side of a picture that is sent', unit='px', low=64, high=2048)
    trust: float = setting(0.8, 'how far the shares that the model states are believed; the rest is spread evenly over '
                           'the eight', low=0.1, high=1.0)


class Whole:
    """Asks the server about one utterance at a time; keeps nothing."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._llm = openai.create(openai.Config(url=config.url, model=config.model, key_variable=config.key_variable)
                                  ) if config.url else None
        self._rules = Message('system', (files('emavatar_ros.prompts') / 'whole.txt').read_text(encoding='utf-8'))
        self.counts: Counter[str] = Counter()
        """Answers by what became of them: read, unreadable, unavailable."""

    @property
    def wanted(self) -> int:
        """How many pictures of an utterance it looks at; 0 where there is no server."""
        return self._config.pictures if self._config.url else 0

    def judge(self, text: str = '', audio: Audio | None = None, pictures: Sequence[Pixels] = (),
              history: Sequence[Line] = ()) -> Candidate:
        """What words, sound and pictures (uint8 [h, w, 3] RGB) of an utterance together show, or why nothing."""
        if self._llm is None:
            return Candidate.abstain(VIEW, NOBODY, 'no omni model is configured')
        sounds = () if audio is None or not len(audio.samples) else (_wav(audio),)
        if not text.strip() and not sounds and not pictures:
            return Candidate.abstain(VIEW, self._config.model, 'nothing was said, heard or seen')
        shown = tuple(self._jpeg(pixels) for pixels in _spread(pictures, self._config.pictures))
        asked = Message('user', verdict.question(text, history), shown, sounds)
        return verdict.judge(VIEW, self._llm, (self._rules, asked), self._config.timeout, self._config.trust,
                             self.counts)

    def _jpeg(self, pixels: Pixels) -> bytes:
        return bytes(cv2.imencode('.jpg', cv2.cvtColor(fit(pixels, self._config.longest), cv2.COLOR_RGB2BGR))[1])


def create(config: Config | None = None) -> Whole:
    """The whole view; without a server in `config` it abstains."""
    return Whole(config or Config())


def _spread(pictures: Sequence[Pixels], most: int) -> list[Pixels]:
    """At most so many of the pictures, spread evenly from the first to the last."""
    chosen = np.linspace(0, len(pictures) - 1, min(len(pictures), most)).round().astype(int)
    return [pictures[at] for at in chosen]


def _wav(audio: Audio) -> bytes:
    samples = audio.mono(_RATE).samples
    out = io.BytesIO()
    with wave.open(out, 'wb') as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes((np.clip(np.nan_to_num(samples), -1, 1) * 32767).astype('<i2').tobytes())
    return out.getvalue()
