"""The whole view: one model that hears, sees and reads the utterance at once.

Such models (Qwen3-Omni and its like) need a GPU and run behind an OpenAI-compatible server (vLLM): this is the
question put to it. Sound goes as a 16 kHz WAV, pictures as a few JPEGs spread over the utterance, and the answer is a
JSON object with a share for each emotion (perception/verdict.py). Without a server configured the view abstains and
says so; a server that is slow, busy, away or talks nonsense makes it abstain too, in time: models/llm/openai.py is the
client.

It was checked against a local server that speaks the protocol, never against a real omni model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.history import Line
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.images import Pixels
from emavatar_ros.media.parts import jpegs, wav
from emavatar_ros.models.llm import Message, openai
from emavatar_ros.perception import verdict
from emavatar_ros.settings import setting

VIEW: Final = 'whole'
NOBODY: Final = 'none'


@dataclass(frozen=True)
class Config:
    """Settings of the whole view. The key is read from the environment, never from a file that is passed around."""

    url: str = setting('', "an OpenAI-compatible server's address up to /v1; empty: none, and the view abstains")
    model: str = setting('Qwen/Qwen3-Omni-30B-A3B-Instruct', 'the name the server knows the model by')
    key_variable: str = setting('EMAVATAR_OMNI_KEY', 'environment variable that holds the key, where one is needed')
    extra: str = setting('', 'more fields of the request, as JSON, such as {"modalities": ["text"]}')
    timeout: float = setting(6.0, 'longest wait for the whole answer', unit='s', low=0.1, high=120.0)
    pictures: int = setting(4, 'pictures of the utterance that are sent', low=0, high=16)
    longest: int = setting(480, 'longer side of a picture that is sent', unit='px', low=64, high=2048)
    trust: float = setting(0.8, 'how far the shares that the model states are believed; the rest is spread evenly over '
                           'the eight', low=0.1, high=1.0)


class Whole:
    """Asks the server about one utterance at a time; keeps nothing."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._llm = openai.create(openai.Config(
            url=config.url, model=config.model, key_variable=config.key_variable, extra=config.extra,
        )) if config.url else None
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
        sounds = () if audio is None or not len(audio.samples) else (wav(audio),)
        if not text.strip() and not sounds and not pictures:
            return Candidate.abstain(VIEW, self._config.model, 'nothing was said, heard or seen')
        shown = jpegs(pictures, self._config.pictures, self._config.longest)
        asked = Message('user', verdict.question(text, history), shown, sounds)
        return verdict.judge(VIEW, self._llm, (self._rules, asked), self._config.timeout, self._config.trust,
                             self.counts)


def create(config: Config | None = None) -> Whole:
    """The whole view; without a server in `config` it abstains."""
    return Whole(config or Config())
