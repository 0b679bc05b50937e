"""Ground floor: what was said so far, by whom, and with what feeling."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One line of the conversation. role: visitor or avatar; emotion: one of the eight labels, or None if unknown."""

    role: str
    text: str
    emotion: str | None = None


class Conversation:
    """The last lines of one conversation, oldest first; `forget` empties it for the next visitor."""

    def __init__(self, longest: int = 40) -> None:
        self._lines: deque[Line] = deque(maxlen=longest)

    @property
    def lines(self) -> tuple[Line, ...]:
        """What was said, oldest first."""
        return tuple(self._lines)

    def visitor(self, text: str, emotion: str | None = None) -> None:
        """The visitor said this; `emotion` is one of the eight labels, None when it isn't known."""
        if text:
            self._lines.append(Line('visitor', text, emotion))

    def avatar(self, text: str) -> None:
        """The avatar said this, and it was heard."""
        if text:
            self._lines.append(Line('avatar', text))

    def forget(self) -> None:
        """The next visitor inherits nothing."""
        self._lines.clear()
