"""The words view: what a visitor's words say they feel. Each backend is a file here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.history import Line

VIEW: Final = 'words'


class WordsView(Protocol):
    """Reads one utterance at a time and keeps nothing between calls. One thread at a time."""

    def read(self, text: str, language: str = 'en', history: Sequence[Line] = ()) -> Candidate:
        """What `text` says the visitor feels. `language`: BCP 47; `history`: the lines before it, oldest first.

        Abstains, with a reason, from no words and from a language it doesn't know."""
        ...

    def warm_up(self) -> None:
        """Read something, so that the first visitor doesn't wait."""
        ...
