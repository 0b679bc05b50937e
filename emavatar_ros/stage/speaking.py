"""Which scripts are to be spoken, in which order, and when one is no longer wanted.

Scripts grow beat by beat while the first beats are already spoken. One of higher priority goes first and silences those
below it; a newer turn, an interruption or a cancel (a complete script without beats) ends what was begun: the voice's
generator is closed. Threading: `script` and `turn` from any thread, `pieces` from one.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from emavatar_ros.errors import BadInput
from emavatar_ros.stage.playout import Floor
from emavatar_ros.voice.instruction import delivery
from emavatar_ros.voice.speech import Speech, Voice

REMEMBERED: Final = 64
PATIENCE: Final = 15.0
"""Longest wait for a script's next beat, s, before others are spoken in its place."""


@dataclass(frozen=True)
class Line:
    """One beat: what is said, how, and the expression shown meanwhile."""

    text: str
    instruction: str
    expression: str


@dataclass(frozen=True)
class Wanted:
    """A script so far. language: BCP 47; came: when this version of it came, s."""

    script_id: str
    turn_id: int
    priority: int
    language: str
    lines: tuple[Line, ...]
    complete: bool
    came: float

    @property
    def cancelled(self) -> bool:
        """It is to be silent: complete, and nothing in it."""
        return self.complete and not self.lines


@dataclass(frozen=True)
class Piece:
    """A stretch of a script's speech. number: its place in the script from 0; speech: None at the script's end;
    waited: s since the script's first version came."""

    script: Wanted
    number: int
    beat: int
    speech: Speech | None
    waited: float

    @property
    def expression(self) -> str:
        """What the face shows meanwhile."""
        return self.script.lines[self.beat].expression if self.beat < len(self.script.lines) else 'neutral'


class Speaking:
    """The scripts to be spoken. clock: seconds, the one that `came` is on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._scripts: OrderedDict[str, Wanted] = OrderedDict()
        self._at_work = ''
        self._begun: dict[str, tuple[int, int]] = {}  # pieces and beats spoken so far
        self._first: dict[str, float] = {}
        self._over: OrderedDict[str, None] = OrderedDict()
        self._turn = self._oldest = 0
        self.problem = ''
        """Why the last script could not be spoken, in one sentence."""
        self.dropped = 0
        """Scripts that were not spoken to their end."""

    def script(self, wanted: Wanted) -> None:
        """Take a script, or a longer version of it."""
        with self._lock:
            if wanted.script_id in self._over or wanted.turn_id < self._oldest:
                return
            if wanted.cancelled:
                self._end(wanted.script_id, True)
                return
            if wanted.script_id not in self._scripts:
                for other in list(self._scripts.values()):
                    if other.priority < wanted.priority or other.turn_id < wanted.turn_id:
                        self._end(other.script_id, True)
                self._first[wanted.script_id] = wanted.came
            self._scripts[wanted.script_id] = wanted

    def turn(self, turn_id: int, floor: Floor) -> None:
        """Take a change of the floor; as the playout does."""
        with self._lock:
            if floor == Floor.DROPPED:
                return
            if turn_id < self._turn and floor != Floor.INTERRUPTED:
                self._over.clear()
                self._drop_before(self._turn + 1)
            self._turn = turn_id
            self._oldest = turn_id + (floor == Floor.INTERRUPTED)
            self._drop_before(self._oldest)

    def wanted(self, script_id: str) -> bool:
        """Whether this script is still to be heard."""
        with self._lock:
            return script_id in self._scripts

    @property
    def abandoned(self) -> bool:
        """True while a piece of a script is being spoken that is no longer to be heard."""
        script_id = self._at_work
        return bool(script_id) and not self.wanted(script_id)

    def pieces(self, voice: Voice) -> Iterator[Piece]:
        """Speak all that can be spoken now, piece by piece. Ends when the next beat is still to be written; call it
        again when another version has come. A script that the voice can't speak ends, and `problem` says why."""
        while (script := self._next()) is not None:
            number, beat = self._begun.get(script.script_id, (0, 0))
            if beat == len(script.lines):
                with self._lock:
                    self._end(script.script_id, False)
                yield Piece(script, number, max(beat - 1, 0), None, self._waited(script))
                continue
            line = script.lines[beat]
            self._at_work = script.script_id
            try:
                with closing(voice.speak(line.text, delivery(line.instruction, line.expression),
                                         script.language or 'en')) as spoken:  # type: ignore[type-var]
                    for speech in spoken:
                        if not self.wanted(script.script_id):
                            break
                        yield Piece(script, number, beat, speech, self._waited(script))
                        number += 1
            except BadInput as error:
                self.problem = str(error)
            finally:
                self._at_work = ''
            self._begun[script.script_id] = number, beat + 1

    def _waited(self, script: Wanted) -> float:
        return self._clock() - self._first.get(script.script_id, script.came)

    def _next(self) -> Wanted | None:
        """The script whose beat, or end, is to be spoken now."""
        with self._lock:
            self._begun = {key: value for key, value in self._begun.items() if key in self._scripts}
            for script in sorted(self._scripts.values(), key=lambda item: -item.priority):
                if self._begun.get(script.script_id, (0, 0))[1] < len(script.lines) or script.complete:
                    return script
                if self._clock() - script.came < PATIENCE:
                    return None
            return None

    def _drop_before(self, turn_id: int) -> None:
        for script in list(self._scripts.values()):
            if script.turn_id < turn_id:
                self._end(script.script_id, True)

    def _end(self, script_id: str, dropped: bool) -> None:
        if self._scripts.pop(script_id, None) is not None:
            self.dropped += dropped
        if not dropped:
            self._first.setdefault(script_id, self._clock())
        self._over[script_id] = None
        while len(self._over) > REMEMBERED:
            self._first.pop(self._over.popitem(last=False)[0], None)
