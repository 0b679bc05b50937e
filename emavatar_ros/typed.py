"""A text that somebody typed: tidied, and refused in one sentence when it can't be used."""

from __future__ import annotations

from typing import Final

from emavatar_ros.errors import BadInput

LONGEST_TEXT: Final = 2000
"""Characters of a typed text."""


def check_text(text: str) -> str:
    """A typed text, its white space tidied; raises BadInput when it is empty, overlong or no text."""
    if len(text) > LONGEST_TEXT:
        raise BadInput(f'the text has {len(text):,} characters: at most {LONGEST_TEXT:,} are taken')
    tidy = ' '.join(''.join(c if c.isprintable() else ' ' for c in text).split())
    if not tidy:
        raise BadInput('the text is empty: give at least one word')
    return tidy
