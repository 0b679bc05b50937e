"""How far a download has come: a bar on a terminal's standard error, else one line per file."""

from __future__ import annotations

import sys
from types import TracebackType


class Progress:
    """Shows the bytes of one model; a context manager. `quiet` shows nothing at all."""

    def __init__(self, title: str, total: int, quiet: bool = False) -> None:
        """`title` names the model, `total` is its size in bytes."""
        from tqdm import tqdm

        self.base = 0
        """Bytes of the files that are complete; `at` counts from here."""
        self._quiet = quiet
        self._bar = tqdm(total=total, desc=title, unit='B', unit_scale=True, unit_divisor=1000, file=sys.stderr,
                         disable=quiet or not sys.stderr.isatty(), leave=True)

    def at(self, done: int) -> None:
        """`done` bytes of the file in hand are here."""
        self._bar.update(max(0, self.base + done - self._bar.n))

    def say(self, text: str) -> None:
        """One line for a person, above the bar."""
        if not self._quiet:
            self._bar.write(text, file=sys.stderr)

    def say_file(self, text: str) -> None:
        """One line where there is no bar to watch."""
        if self._bar.disable:
            self.say(text)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._bar.close()
