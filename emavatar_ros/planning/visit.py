"""What is known of one visitor until they leave: dangers they told of, the summary of what was said, what helped.

The node, and whoever else holds a conversation, tells it what was heard; the planner asks it. Nothing of it outlasts
`forget`, except what the operator had the memory keep (see memory).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.errors import Missing
from emavatar_ros.history import Line
from emavatar_ros.planning import memory, summary, texts
from emavatar_ros.planning.care import Care, Lines
from emavatar_ros.planning.memory import Memory
from emavatar_ros.planning.script import Script
from emavatar_ros.planning.summary import Summariser
from emavatar_ros.settings import setting

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Config:
    """Settings of what is known of a visitor."""

    memory: memory.Config = field(default_factory=memory.Config)
    summary: summary.Config = field(default_factory=summary.Config)
    help_line: str = setting('', 'sentence with the local help line, spoken when a visitor seems to be in danger; per '
                             'language: "Call 988. | es: Llama al 024."')
    emergency_line: str = setting('', 'sentence with the emergency number, spoken when a life may be in danger')


class Visit:
    """One visitor's. memory: None shows the language model no past situations and keeps none."""

    def __init__(self, care: Care | None = None, remembered: Memory | None = None,
                 summariser: Summariser | None = None) -> None:
        self.care = care or Care()
        self.memory = remembered
        self._summariser = summariser or Summariser()
        self._told: tuple[str, int, str] = ('', 0, '')

    def felt(self, estimate: Estimate) -> None:
        """The visitor's mood at the beginning of a turn: it tells whether the last reply helped."""
        if self.memory is not None:
            self.memory.felt(estimate)

    def examples(self, text: str, emotion: str, language: str) -> tuple[texts.Example, ...]:
        """Past situations like this one, to show a language model, the best last."""
        return self.memory.examples(text, emotion, language) if self.memory is not None else ()

    def summary(self, language: str, dropped: int) -> str:
        """What the conversation was about, for a model that no longer sees its first `dropped` exchanges; '' for none.

        Stays word for word the same until another exchange is dropped: a model that has read it need not read again.
        """
        if not dropped:
            return ''
        spoken = texts.base(language)
        if self._told[:2] != (spoken, dropped):
            self._told = (spoken, dropped, self._summariser.text(spoken))
        return self._told[2]

    def heard(self, asked: Line, answered: Line, estimate: Estimate, script: Script) -> None:
        """The visitor said this and heard that, of `script`."""
        for line in (asked, answered):
            self._summariser.update(line)
        if self.memory is not None and not script.care:
            self.memory.answered(asked.text, estimate, script.chain_of_empathy.emotion_cause, answered.text,
                                 script.instruction, script.language, self._summariser.names)

    def recall(self, *lines: Line) -> None:
        """These lines were said before, oldest first."""
        for line in lines:
            self._summariser.update(line)

    def forget(self) -> None:
        """The visitor left; the next one inherits nothing."""
        self.care.forget()
        self._summariser.forget()
        self._told = ('', 0, '')
        if self.memory is not None:
            self.memory.forget()


def plain(config: Config) -> Visit:
    """Without models: danger is looked for by patterns alone, no past situation is remembered."""
    return Visit(Care(Lines(config.help_line, config.emergency_line)), summariser=Summariser(config.summary))


def create(config: Config, remember: bool) -> Visit:
    """With the classifier of danger and, to `remember`, the memory of situations; both share one MiniLM.

    Without its weights danger is looked for by patterns alone, said in the log, and there is no memory: Missing when
    the operator asked for one that lasts.
    """
    from emavatar_ros.models.store import Store
    from emavatar_ros.perception.words.embedding import Embedding
    from emavatar_ros.planning.danger_head import DangerHead

    store = Store()
    try:
        embedding = Embedding(store.path('minilm'))
    except Missing as error:
        if config.memory.file:
            raise
        log.warning('signs of danger are looked for by patterns alone, no past situation is remembered: %s', error)
        return plain(config)
    kept = None
    if remember or config.memory.file:
        kept = memory.create(config.memory, embedding.sentence, store.root / '.situations')
    care = Care(Lines(config.help_line, config.emergency_line), DangerHead(embedding))
    return Visit(care, kept, Summariser(config.summary))
