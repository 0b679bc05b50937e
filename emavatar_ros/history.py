"""Ground floor: what was said so far, by whom, and with what feeling."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One line of the conversation. role: visitor or avatar; emotion: one of the eight labels, or None if unknown."""

    role: str
    text: str
    emotion: str | None = None
