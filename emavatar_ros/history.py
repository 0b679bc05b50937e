"""Ground floor: what was said so far, by whom, and with what feeling."""

from __future__ import annotations

from dataclasses import dataclass

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.typed import LONGEST_TEXT


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


def lines_of(content: object, where: str) -> tuple[Line, ...]:
    """The lines of a history read from JSON; raises BadInput that says which entry of `where` is wrong."""
    if not isinstance(content, list):
        raise BadInput(f'{where}: a history is a list of lines, [{{"role": "visitor", "text": "..."}}, ...]')
    return tuple(_line(entry, f'{where}, entry {number}') for number, entry in enumerate(content, 1))


def _line(entry: object, where: str) -> Line:
    if not isinstance(entry, dict) or entry.get('role') not in ('visitor', 'avatar'):
        raise BadInput(f'{where}: "role" must be "visitor" or "avatar"')
    text, emotion = entry.get('text'), entry.get('emotion')
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise BadInput(f'{where}: "text" must be a text of at most {LONGEST_TEXT:,} characters')
    if emotion is not None and emotion not in LABELS:
        raise BadInput(f'{where}: "emotion" must be one of {", ".join(LABELS)}, or left out')
    return Line(entry['role'], ' '.join(text.split()), emotion)
