"""Loads models beside each other, the most urgent first, and counts what waiting for them cost."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from emavatar_ros.errors import Unavailable

T = TypeVar('T')


class Loading:
    """Makes things in a few background threads, in the order they were asked for.

    The threads are daemons: an interrupted command doesn't wait for a model that is half loaded.
    """

    def __init__(self, threads: int = 3) -> None:
        self._most = threads
        self._lock = threading.Lock()
        self._queue: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._made: dict[str, Future[Any]] = {}
        self._threads = 0
        self._owner = threading.get_ident()
        self.waited = 0.0
        """Seconds that the thread which made this has spent waiting in `get` for things to be loaded."""

    def start(self, name: str, make: Callable[[], object]) -> None:
        """Make `name` in the background as soon as a thread is free."""
        future: Future[Any] = Future()
        self._made[name] = future
        with self._lock:
            self._queue.append((future, make))
            if self._threads >= self._most:
                return
            self._threads += 1
        threading.Thread(target=self._run, name='loading', daemon=True).start()

    def get(self, name: str, counted: bool = True, patience: float | None = None) -> Any:
        """What was made; waits for it, and raises what making it raised. counted: the wait is one for loading.

        Raises Unavailable when it isn't made after `patience` seconds.
        """
        began = time.perf_counter()
        try:
            made, _ = wait([self._made[name]], patience)
            if not made:
                raise Unavailable(f'the {name} is not loaded after {patience:g} s: try again, or run "emavatar doctor"')
            return self._made[name].result()
        finally:
            if counted and threading.get_ident() == self._owner:
                self.waited += time.perf_counter() - began

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._threads -= 1
                    return
                future, make = self._queue.popleft()
            try:
                future.set_result(make())
            except BaseException as error:  # handed to whoever waits for it
                future.set_exception(error)


class Stopwatch:
    """What stages took, without what they waited for models: `with watch('perception'): ...`.

    seconds: wall time by stage. For the thread that made `loading`.
    """

    def __init__(self, loading: Loading) -> None:
        self.loading = loading
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        began, waited = time.perf_counter(), self.loading.waited
        yield
        spent = time.perf_counter() - began - (self.loading.waited - waited)
        self.seconds[stage] = self.seconds.get(stage, 0.0) + max(spent, 0.0)
