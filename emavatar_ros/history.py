"""Ground floor: what was said so far, by whom, and with what feeling."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One line of the conversation. role: visitor or avatar; emotion: one of the eight labels, or None if unknown;
    feeling: the words in which a language model was told of it, '' if it was not."""

    role: str
    text: str
    emotion: str | None = None
    feeling: str = ''


class Conversation:
    """The last lines of one conversation, oldest first; `forget` empties it for the next visitor."""

    def __init__(self, longest: int = 80) -> None:
        self._longest = longest
        self._lines: list[Line] = []

    @property
    def lines(self) -> tuple[Line, ...]:
        """What was said, oldest first."""
        return tuple(self._lines)

    def add(self, *lines: Line) -> None:
        """This was said, and heard; empty lines are left out."""
        self._lines.extend(line for line in lines if line.text)
        if len(self._lines) > self._longest:
            # Half at once: whoever has read it all would have to begin anew each time.
            del self._lines[:-self._longest // 2]

    def forget(self) -> None:
        """The next visitor inherits nothing."""
        self._lines.clear()
