"""One thing the avatar is asked to say or to answer: how far it is, how it ended, and what is to be done about it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.settings import setting
from emavatar_ros.stage.activity import SAY
from emavatar_ros.typed import check_text

NORMAL: Final = 128
"""Priority of what is not urgent, and of the avatar's replies."""


@dataclass(frozen=True)
class Config:
    """Settings of the actions node."""

    patience: float = setting(20.0, 'longest time without a sign of life after which a goal ends with an error',
                              unit='s', low=1.0, high=300.0)
    language: str = setting('en', 'what a text is taken to be in unless it looks like another language (BCP 47)')


class Code(enum.IntEnum):
    """Values of error_code, as in communication_skills."""

    ENOERR = 0
    EINTR = 4
    EBADMSG = 74
    ECANCELED = 125
    ENOTSUP = 134
    EOTHER = 255


@dataclass(frozen=True)
class Goal:
    """What is asked for. key: unique; reply: the text is a visitor's line to be answered, else it is to be said."""

    key: str
    text: str
    priority: int = NORMAL
    reply: bool = False

    @property
    def script_id(self) -> str:
        """Of the script that says it; a reply's is the planner's."""
        return f'{SAY}{self.key[:8]}'


def check(text: str, instruction: str = '', emotion: str = '') -> str:
    """The text to be said, tidied; BadInput in one sentence when something of it can't be used."""
    if instruction:
        check_text(instruction)
    if emotion and emotion not in LABELS:
        raise BadInput(f'unknown emotion {emotion[:40]!r}; known: {", ".join(LABELS)}')
    return check_text(text)


@dataclass(frozen=True)
class Progress:
    """How far a goal is. share: 0 to 1, of the words heard or of the whole turn; word: the one being heard."""

    stage: str
    share: float = 0.0
    word: str = ''


@dataclass(frozen=True)
class Outcome:
    """How a goal ended. message: '' when it went well; heard: the words that were heard; turn_id, script_id: what
    answered it, as far as that is known."""

    code: Code
    message: str = ''
    heard: str = ''
    turn_id: int = 0
    script_id: str = ''


@dataclass(frozen=True)
class Speak:
    """Publish the script that says this goal's text, in this turn."""

    key: str
    turn_id: int
    script_id: str
    text: str


@dataclass(frozen=True)
class Type:
    """Hand this goal's line to whoever counts the turns."""

    key: str


@dataclass(frozen=True)
class Silence:
    """Nothing of this script is to be heard any more."""

    script_id: str
    turn_id: int


@dataclass(frozen=True)
class Tell:
    """Tell who asked how far it is."""

    key: str
    progress: Progress


@dataclass(frozen=True)
class End:
    """The goal is over."""

    key: str
    outcome: Outcome


Deed = Speak | Type | Silence | Tell | End
