"""The composite script: what is said, how it is said, and what the face shows meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from emavatar_ros.planning.care import Concern


@dataclass(frozen=True)
class Beat:
    """One stretch of the reply said in one manner. instruction is plain English; expression one of the eight labels."""

    text: str
    instruction: str
    expression: str

    def as_json(self) -> dict[str, str]:
        """As turn.json has it."""
        return {'text': self.text, 'instruction': self.instruction, 'expression': self.expression}


@dataclass(frozen=True)
class ChainOfEmpathy:
    """Why the reply is as it is: what happened, what the visitor feels, because of what, what the reply is to do."""

    event_scenario: str
    user_emotion: str
    emotion_cause: str
    goal_to_response: str

    def as_json(self) -> dict[str, str]:
        """As turn.json has it."""
        return {'event_scenario': self.event_scenario, 'user_emotion': self.user_emotion,
                'emotion_cause': self.emotion_cause, 'goal_to_response': self.goal_to_response}


@dataclass(frozen=True)
class Script:
    """A reply so far. While it grows, `complete` is False and each next one has one beat more.

    language: BCP 47. composer: llm or template. iterations: rewrites, 0 to 2. scores: coherence, empathy,
    feasibility, alignment of the reply so far, each 1 to 5 or None when nobody judged. emotion: the visitor's, a label
    or unsure. care: what the visitor seems to need help with, or None; the text is then a fixed one.
    fallback: '' or why the template spoke in the model's place. revisions: what each rewrite was told to change.
    """

    beats: tuple[Beat, ...]
    emotion: str
    language: str
    composer: str
    chain_of_empathy: ChainOfEmpathy
    complete: bool = False
    iterations: int = 0
    scores: Mapping[str, int | None] = field(
        default_factory=lambda: dict.fromkeys(('coherence', 'empathy', 'feasibility', 'alignment')))
    care: Concern | None = None
    fallback: str = ''
    revisions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole reply so far."""
        return ' '.join(beat.text for beat in self.beats)

    @property
    def instruction(self) -> str:
        """How the reply is said, that is its first beat."""
        return self.beats[0].instruction if self.beats else ''

    def as_json(self) -> dict[str, object]:
        """The `script` of turn.json."""
        return {'text': self.text, 'instruction': self.instruction, 'emotion': self.emotion, 'language': self.language,
                'composer': self.composer, 'iterations': self.iterations, 'scores': dict(self.scores),
                'beats': [beat.as_json() for beat in self.beats],
                'chain_of_empathy': self.chain_of_empathy.as_json()}


def reply_id(turn_id: int) -> str:
    """Id of the script that answers a turn."""
    return f'turn-{turn_id}'
