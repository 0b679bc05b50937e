"""What the avatar has said so far: scripts as chunks of speech, played in order, cut off when the floor changes hands.

Times are arguments, in seconds on the speaker's clock. One thread at a time.

    IDLE ──chunk 0──► PLAYING ◄──next chunk──► WAITING         (the next chunk isn't there yet)
                        │  └──last chunk heard──► FINISHED ──► IDLE
                        └──interrupted, newer turn, higher priority, cancelled──► STOPPED ──► IDLE

Chunks of one script may arrive in any order and twice; they are played in the order of their numbers. A chunk of an
older turn, or of a script that was cut off, is dropped. Another script waits its turn when the one before it is
complete; when it isn't, the voice has turned to the new one for good, and so does the playout.
"""

from __future__ import annotations

import enum
from collections import Counter, OrderedDict
from dataclasses import dataclass, field, replace
from typing import Final

from emavatar_ros.media.audio import Audio
from emavatar_ros.stage.clock import silence
from emavatar_ros.stage.heard import words_heard
from emavatar_ros.stage.speaker import Speaker
from emavatar_ros.voice.speech import Phoneme

REMEMBERED: Final = 64
"""Scripts that were finished or cut off and are still known, so that a late chunk of theirs is dropped."""
QUEUED: Final = 8
"""Scripts that may wait for their turn to be played; past it the oldest is dropped."""
HELD: Final = 1000
"""Chunks held for a script at most; a script has some tens."""


class State(enum.IntEnum):
    """Values of Playback.state."""

    IDLE = 0
    PLAYING = 1
    WAITING = 2
    FINISHED = 3
    STOPPED = 4


class Floor(enum.IntEnum):
    """Values of Turn.state."""

    IDLE = 0
    VISITOR = 1
    AVATAR = 2
    DROPPED = 3
    INTERRUPTED = 4


@dataclass(frozen=True)
class Chunk:
    """A stretch of a script's speech. number: its place in the script, from 0; phonemes: times from its first sample;
    last: the script ends with it (its sound may be empty)."""

    turn_id: int
    script_id: str
    number: int
    last: bool
    audio: Audio
    phonemes: tuple[Phoneme, ...] = ()
    text: str = ''
    expression: str = 'neutral'
    beat: int = 0


@dataclass(frozen=True)
class Status:
    """What is played at a moment, field by field as in Playback.msg. expression: the one of the chunk being played."""

    stamp: float
    state: State = State.IDLE
    turn_id: int = 0
    script_id: str = ''
    position: float = 0.0
    queued: float = 0.0
    chunk: int = 0
    chunk_start: float = 0.0
    heard: str = ''
    underruns: int = 0
    expression: str = 'neutral'


@dataclass
class _Script:
    """A script being received and played. start: place of its sound on the speaker's line, s, once it is played."""

    script_id: str
    turn_id: int
    held: dict[int, Chunk] = field(default_factory=dict)
    given: list[tuple[Chunk, float, float]] = field(default_factory=list)  # with start and end on the line, s
    waits: float = 0.0  # since when the next chunk is missing, s
    complete: bool = False  # its last chunk has arrived
    dry: bool = False  # the speaker has nothing more of it, and it isn't at its end

    @property
    def next(self) -> int:
        return len(self.given)


class Playout:
    """Plays scripts on a speaker. lead: s of silence before a script, in which the face learns that it will speak;
    patience: s it waits for a script's next chunk before it gives the script up; linger: s that a script's end stays
    reported."""

    def __init__(self, speaker: Speaker, lead: float = 0.08, patience: float = 15.0, linger: float = 0.5) -> None:
        self._speaker = speaker
        self._lead, self._patience, self._linger = lead, patience, linger
        self._queue: OrderedDict[str, _Script] = OrderedDict()
        self._over: OrderedDict[str, None] = OrderedDict()
        self._ended: tuple[Status, float] | None = None
        self._turn = 0
        self._oldest = 0  # the oldest turn whose words may be heard
        self._priorities: OrderedDict[str, int] = OrderedDict()
        self._dry = 0
        self.counts: Counter[str] = Counter()
        """Chunks dropped, by reason: stale, twice, late, given up (scripts)."""

    @property
    def busy(self) -> bool:
        """A script is being played or waits to be."""
        return bool(self._queue)

    @property
    def turn_id(self) -> int:
        """The current turn, as far as the playout knows."""
        return self._turn

    def chunk(self, chunk: Chunk, t: float) -> None:
        """Take a chunk of speech."""
        if chunk.script_id in self._over:
            self.counts['late'] += 1
            return
        if chunk.turn_id < self._oldest:
            self.counts['stale'] += 1
            return
        script = self._queue.get(chunk.script_id)
        if script is None:
            for old in list(self._queue.values()):
                if not old.complete or old.turn_id < chunk.turn_id:
                    self._cut(old, t)
            while len(self._queue) >= QUEUED:
                self._cut(next(reversed(self._queue.values())), t)
            script = self._queue[chunk.script_id] = _Script(chunk.script_id, chunk.turn_id, waits=t)
        if chunk.number < script.next or chunk.number in script.held or len(script.held) >= HELD:
            self.counts['twice'] += 1
            return
        script.held[chunk.number] = chunk
        script.complete = script.complete or chunk.last
        self._feed(t)

    def turn(self, turn_id: int, floor: Floor, t: float) -> None:
        """Take a change of the floor.

        What the avatar says in an older turn is cut off, and in this one when it was interrupted. A turn that turned
        out to hold no words (DROPPED) cuts nothing. A lower number than before: whoever counts has started anew.
        """
        if floor == Floor.INTERRUPTED:
            self._cut_turns(turn_id, t)
            self._turn, self._oldest = turn_id, turn_id + 1
        elif floor != Floor.DROPPED:
            if turn_id < self._turn:
                self.silence(t)
                self._over.clear()
                self._priorities.clear()
            else:
                self._cut_turns(turn_id - 1, t)
            self._turn = self._oldest = turn_id

    def script(self, script_id: str, turn_id: int, priority: int, t: float, cancelled: bool = False) -> None:
        """Take what is known about a script before its sound: one of higher priority silences those below it.

        cancelled: nothing of it is to be heard any more.
        """
        if cancelled:
            self.cancel(script_id, t)
        elif script_id not in self._over and turn_id >= self._oldest:
            if script_id not in self._priorities:
                for other in list(self._queue.values()):
                    if other.script_id != script_id and self._priorities.get(other.script_id, 128) < priority:
                        self._cut(other, t)
            self._priorities[script_id] = priority
            while len(self._priorities) > REMEMBERED:
                self._priorities.popitem(last=False)

    def cancel(self, script_id: str, t: float) -> None:
        """Cut off a script, if it is played, waits or comes later."""
        script = self._queue.get(script_id)
        if script is not None:
            self._cut(script, t)
        else:
            self._remember(script_id)

    def silence(self, t: float) -> None:
        """Cut off everything."""
        for script in list(self._queue.values()):
            self._cut(script, t)

    def at(self, t: float) -> Status:
        """What is played at `t`; moves on to the next script when one has come to its end."""
        while self._queue:
            script = self._feed(t)
            status = self._status(script, t)
            if status.state == State.WAITING and t - script.waits > self._patience:
                self._cut(script, t)
                self.counts['given up'] += 1
                continue
            if status.state != State.FINISHED:
                return status
            self._ended = status, t
            self._drop(script)
        if self._ended is not None and t - self._ended[1] < self._linger:
            return self._ended[0]
        self._ended = None
        return Status(t, underruns=self._underruns)

    @property
    def _underruns(self) -> int:
        return self._dry + self._speaker.underruns

    def _feed(self, t: float) -> _Script:
        """Give the speaker what it may have of the first script, in order."""
        script = next(iter(self._queue.values()))
        while script.next in script.held:
            chunk = script.held.pop(script.next)
            if not script.given and self._lead:
                self._speaker.play(Audio(silence(self._lead, self._speaker.rate), self._speaker.rate), t)
            script.given.append((chunk, *self._speaker.play(chunk.audio, t)))
            script.dry = False
        return script

    def _status(self, script: _Script, t: float) -> Status:
        status = Status(t, State.WAITING, script.turn_id, script.script_id, underruns=self._underruns)
        if not script.given:
            return status
        start, end = script.given[0][1], script.given[-1][2]
        place = max(self._speaker.position(t), start)
        state, stamp = State.PLAYING, t
        if place < end - 0.5 / self._speaker.rate:  # the line is counted in samples
            stamp = max(self._speaker.when(place, t), t)
        elif script.given[-1][0].last:
            state, stamp = State.FINISHED, min(self._speaker.when(end - 1 / self._speaker.rate, t), t)
        else:
            state = State.WAITING
            if not script.dry:
                script.dry, script.waits = True, t
                self._dry += 1
        index = max((i for i, item in enumerate(script.given) if item[1] <= place), default=0)
        chunk = script.given[index][0]
        heard = ' '.join(filter(None, (
            words_heard(item.text, item.phonemes, item.audio.seconds, place - first)
            for item, first, _ in script.given if first <= place and place > start)))
        return replace(status, stamp=stamp, state=state, position=min(place, end) - start, queued=max(end - place, 0.0),
                       chunk=chunk.number, chunk_start=script.given[index][1] - start, heard=heard,
                       underruns=self._underruns, expression=chunk.expression)

    def _cut_turns(self, turn_id: int, t: float) -> None:
        for script in list(self._queue.values()):
            if script.turn_id <= turn_id:
                self._cut(script, t)

    def _cut(self, script: _Script, t: float) -> None:
        if script.given:  # only the first script's sound is with the speaker
            status = self._status(script, t)
            self._speaker.stop(t)
            state = State.FINISHED if status.state == State.FINISHED else State.STOPPED
            self._ended = replace(status, state=state, queued=0.0), t
        self._drop(script)

    def _drop(self, script: _Script) -> None:
        self._queue.pop(script.script_id, None)
        self._remember(script.script_id)

    def _remember(self, script_id: str) -> None:
        self._over[script_id] = None
        while len(self._over) > REMEMBERED:
            self._over.popitem(last=False)
