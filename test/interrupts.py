"""For tests that interrupt a process: it must hear SIGINT as in a terminal, however the tests were started."""

from __future__ import annotations

import signal


def interruptible() -> None:
    """In the new process, before it begins: a shell's background job would have SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
