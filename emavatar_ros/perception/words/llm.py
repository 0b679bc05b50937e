"""The words view by a language model that reads the visitor's words with what was said before them.

Model: any of models/llm: an OpenAI-compatible server (for a GPU: Qwen3 by vLLM, Apache-2.0; its thinking has to be
switched off, see `openai.extra`) or a model in this process (llama_cpp, transformers). Hardware and time are the
model's: a server with a GPU answers in about a second, two cores need ten and more, so `timeout` bounds it.

What such a model adds to a classifier is context, denial and irony. Its shares are its own estimate (see
perception/verdict.py for how they are read and softened). It reads every language that its model does. When the server
is away, slow or says nothing usable, the view abstains with the reason and counts it: `counts`.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.errors import Unavailable
from emavatar_ros.history import Line
from emavatar_ros.models.llm import Llm, Message
from emavatar_ros.perception import verdict
from emavatar_ros.perception.words import VIEW
from emavatar_ros.settings import backend, chosen, setting

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Config:
    """Settings of the language model's words view."""

    backend: str = backend('openai', 'models.llm', 'the language model that reads')
    timeout: float = setting(3.0, 'longest wait for the whole answer', unit='s', low=0.1, high=120.0)
    trust: float = setting(0.7, 'how far the shares that the model states are believed; the rest is spread evenly over '
                           'the eight, since models state them too surely', low=0.1, high=1.0)
    longest: int = setting(2000, 'characters of the words that are read', low=100, high=20000)


class LlmWords:
    """Asks the model about one utterance at a time; keeps nothing of it."""

    def __init__(self, config: Config, llm: Llm) -> None:
        self._config = config
        self._llm = llm
        prompt = (files('emavatar_ros.prompts') / 'words.txt').read_text(encoding='utf-8')
        self._prefix = (Message('system', prompt),)
        self.counts: Counter[str] = Counter()
        """Answers by what became of them: read, unreadable, unavailable."""

    def read(self, text: str, language: str = 'en', history: Sequence[Line] = ()) -> Candidate:
        """What `text` says the visitor feels; see the Protocol. Any language is passed on to the model."""
        if not re.search(r'[^\W_]', text):
            return Candidate.abstain(VIEW, self._llm.name or 'language model', 'nothing was said')
        asked = Message('user', verdict.question(text.strip()[:self._config.longest], history))
        return verdict.judge(VIEW, self._llm, (*self._prefix, asked), self._config.timeout, self._config.trust,
                             self.counts)

    def warm_up(self) -> None:
        """Let the model read its instructions. A server that is away is only told of: it may come."""
        try:
            self._llm.warm_up([self._prefix])
        except Unavailable as error:
            log.warning('the words view abstains until its language model is there: %s', error)

    def close(self) -> None:
        """Stop what the model is doing and let it go."""
        self._llm.close()


def create(config: Config | None = None) -> LlmWords:
    """The view with the configured model; a server is first asked at `warm_up` or `read`."""
    config = config or Config()
    module, settings = chosen(config, 'backend')
    return LlmWords(config, module.create(settings))
