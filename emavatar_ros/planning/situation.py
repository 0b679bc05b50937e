"""A past situation with the reply that helped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput

SETTINGS: Final = ('hospital', 'museum', 'shop', 'station', 'school', 'bank', 'library', 'hotel', 'airport',
                   'town hall')
"""Where a kiosk may stand."""


@dataclass(frozen=True)
class Situation:
    """setting: of SETTINGS, or '' where unknown; emotion: one of the eight labels; said: the visitor's words; cause: of
    the emotion, in a few words; reply: what was answered; instruction: how it was said, plain English."""

    setting: str
    emotion: str
    said: str
    cause: str
    reply: str
    instruction: str

    def __post_init__(self) -> None:
        if self.setting not in ('', *SETTINGS):
            raise BadInput(f'setting must be one of {", ".join(SETTINGS)}, not {self.setting!r}')
        if self.emotion not in LABELS:
            raise BadInput(f'emotion must be one of {", ".join(LABELS)}, not {self.emotion!r}')
        if not self.said.strip() or not self.reply.strip():
            raise BadInput('said and reply must not be empty')
