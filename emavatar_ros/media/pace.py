"""Waiting in real time that gives up at once when told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(moment: float, stopped: Callable[[], bool]) -> bool:
    """Sleep until `moment` on the monotonic clock (s); False when `stopped()` came first (seen within 0.1 s)."""
    while (ahead := moment - time.monotonic()) > 0:
        if stopped():
            return False
        time.sleep(min(ahead, 0.1))
    return not stopped()
