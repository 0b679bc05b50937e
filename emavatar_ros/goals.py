"""What the avatar is asked to say or to answer: goals, their order, how far each is, and how it ends.

One goal at a time. One of higher priority takes the place of the one under way, any other waits; none is lost. Goals of
normal priority wait while a visitor speaks, higher ones don't. What a goal's sound does is read from what the stage
reports; what ends it before it is heard (the floor, a script of higher priority) is foreseen here by the playout's own
rules, because the stage reports only what was heard.

    say      waiting ──────────────────────────────────────► synthesis ──► playout ──► over
    respond  perception (typed) ──► deliberation ──► planning ──► synthesis ──► playout ──► over

A reply that nothing was heard of yet outlives a cough: when a visitor takes the floor the goal waits for what it was,
follows the reply to its new turn when it was no speech, and ends when it was (both are then answered together).

Every call gives what is to be done now. Times are seconds, an argument. One thread.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final

from emavatar_ros.goal import NORMAL, Code, Deed, End, Goal, Outcome, Progress, Silence, Speak, Tell, Type
from emavatar_ros.planning.acknowledging import SUFFIX
from emavatar_ros.planning.script import reply_id
from emavatar_ros.stage.activity import answers
from emavatar_ros.stage.playout import Floor, State, Status

WAITING: Final = 32
"""Goals that may wait."""
FLOOR_S: Final = 60.0
"""A visitor who has the floor for longer is no longer waited for: whoever watches over it is gone."""
REPORT_S: Final = 0.5
"""Longest wait for the stage's report of what was heard of a goal that was ended."""
NEARLY_S: Final = 0.25
"""Sound left in the last report before the stage turned to something else, at which it was heard to its end."""
REMEMBERED: Final = 64

_BEGUN: Final = {'perception': 0.0, 'deliberation': 0.1, 'planning': 0.2, 'synthesis': 0.4, 'playout': 0.5}
_MISSING: Final = {
    'perception': 'nobody took the typed line: see whether the listening node is active',
    'deliberation': 'the visitor\'s emotion was not decided: see whether text_emotion and arbiter are active',
    'planning': 'no reply was written: see what /diagnostics says about the planner',
    'synthesis': 'nothing was heard: see what /diagnostics says about speech and stage',
    'playout': 'the speech broke off: see what /diagnostics says about speech and stage'}


@dataclass(eq=False)
class _Run:
    """A goal under way. turn_id: None until it has one; since: last sign of life, s; suspended: since a visitor took
    the floor, and it isn't known for what; until: when the stage's report is waited for no longer, s."""

    goal: Goal
    stage: str
    since: float
    text: str = ''
    turn_id: int | None = None
    script_id: str = ''
    priority: int = NORMAL
    heard: str = ''
    queued: float = 0.0
    played: bool = False
    suspended: bool = False
    told: Progress | None = None
    code: Code = Code.ENOERR
    message: str = ''
    until: float = 0.0

    @property
    def progress(self) -> Progress:
        """How far it is."""
        words, heard = self.text.split(), len(self.heard.split())
        share = min(heard / len(words), 1.0) if words else 0.0
        word = words[heard] if self.stage == 'playout' and heard < len(words) else ''
        if self.goal.reply:
            share = _BEGUN[self.stage] + (0.5 * share if self.stage == 'playout' else 0.0)
        # A reply grows while it is heard; what was done isn't undone by that.
        return Progress(self.stage, max(share, self.told.share if self.told else 0.0), word)

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return Outcome(self.code, self.message, self.heard, self.turn_id or 0, self.script_id)


class Goals:
    """The goals and the one under way. patience: s without a sign of life after which it ends with an error."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._waiting: list[Goal] = []
        self._run: _Run | None = None
        self._ending: list[_Run] = []
        self._deeds: list[Deed] = []
        self._turn = 0
        self._oldest = 0  # the oldest turn whose words may be heard
        self._floor = Floor.IDLE
        self._taken = 0.0  # since when the floor is as it is, s
        self._scripts: OrderedDict[str, None] = OrderedDict()
        self._unwanted: deque[str] = deque(maxlen=WAITING)

    @property
    def busy(self) -> bool:
        """Whether any goal is not over."""
        return bool(self._run or self._waiting or self._ending)

    def add(self, goal: Goal, t: float) -> list[Deed]:
        """Take a goal."""
        if len(self._waiting) >= WAITING:
            self._deeds.append(End(goal.key, Outcome(Code.EOTHER, f'{WAITING} goals wait already: ask again later')))
            return self._settle(t)
        self._waiting.append(goal)
        self._waiting.sort(key=lambda item: -item.priority)
        run = self._run
        if run is not None and goal.priority > run.goal.priority:
            self._end(run, Code.EINTR, 'a goal of higher priority took the floor', t)
            self._silence(run)
        deeds = self._settle(t)
        if goal in self._waiting:
            deeds.append(Tell(goal.key, Progress('perception' if goal.reply else 'waiting')))
        return deeds

    def cancel(self, key: str, t: float) -> list[Deed]:
        """Who asked doesn't want it any more."""
        for goal in self._waiting:
            if goal.key == key:
                self._waiting.remove(goal)
                self._deeds.append(End(key, Outcome(Code.ECANCELED, 'cancelled')))
                return self._settle(t)
        for run in (self._run, *self._ending):
            if run is not None and run.goal.key == key:
                self._end(run, Code.ECANCELED, 'cancelled', t)
                self._silence(run)
        return self._settle(t)

    def close(self) -> list[Deed]:
        """Nothing more will be said: ends every goal."""
        for goal in self._waiting:
            self._deeds.append(End(goal.key, Outcome(Code.EOTHER, 'the actions node was stopped')))
        self._waiting.clear()
        for run in (self._run, *self._ending):
            if run is not None:
                self._silence(run)
                run.code, run.message = run.code or Code.EOTHER, run.message or 'the actions node was stopped'
                self._deeds.append(End(run.goal.key, run.outcome))
        self._run = None
        self._ending.clear()
        deeds, self._deeds = self._deeds, []
        return deeds

    def turn(self, turn_id: int, floor: Floor, t: float, key: str = '') -> list[Deed]:
        """Take a change of the floor. key: the goal whose typed line this turn is for."""
        again = turn_id < self._turn and floor not in (Floor.DROPPED, Floor.INTERRUPTED)  # who counts started anew
        self._turn = turn_id if floor != Floor.DROPPED else max(self._turn, turn_id)
        self._oldest = self._turn + (floor == Floor.INTERRUPTED)
        if floor != self._floor or floor == Floor.VISITOR:
            self._floor, self._taken = floor, t
        if key:
            self._begin_turn(key, turn_id, t)
        run = self._run
        if run is not None and run.turn_id is not None:
            if again or (floor != Floor.DROPPED and run.turn_id < self._oldest):
                if run.goal.reply and not run.played and not again:
                    run.suspended, run.since = True, t
                else:
                    self._end(run, Code.EINTR, 'a visitor took the floor', t)
            elif floor == Floor.DROPPED and run.suspended and turn_id == self._turn:
                run.turn_id, run.script_id, run.stage = turn_id, '', 'planning'
                run.suspended, run.since = False, t
        return self._settle(t)

    def emotion(self, turn_id: int, t: float) -> list[Deed]:
        """The visitor's emotion in a turn (from 1) was decided."""
        run = self._run
        if run is not None and run.goal.reply and run.turn_id is not None:
            if run.suspended and turn_id > run.turn_id:
                self._end(run, Code.EINTR, 'a visitor took the floor: their words are answered with this line', t)
            elif turn_id == run.turn_id and run.stage == 'deliberation':
                run.stage, run.since = 'planning', t
        return self._settle(t)

    def script(self, script_id: str, turn_id: int, priority: int, text: str, cancelled: bool, t: float) -> list[Deed]:
        """Take a script as far as it is written, the planner's or anybody's."""
        run = self._run
        known = script_id in self._scripts
        self._scripts[script_id] = None
        while len(self._scripts) > REMEMBERED:
            self._scripts.popitem(last=False)
        if run is None or cancelled or script_id == run.goal.script_id:
            return self._settle(t)
        if run.goal.reply and answers(script_id) and turn_id == run.turn_id:
            run.script_id, run.text, run.priority, run.since = script_id, text, priority, t
            if run.stage in ('deliberation', 'planning'):
                run.stage = 'synthesis'
        elif not known and run.script_id and priority > run.priority:
            self._end(run, Code.EINTR, 'something of higher priority is said', t)
        return self._settle(t)

    def playback(self, status: Status, t: float) -> list[Deed]:
        """Take the stage's report of what is heard."""
        for run in (self._run, *self._ending):
            if run is None or not run.script_id:
                continue
            if status.script_id == run.script_id:
                self._follow(run, status, t)
            elif run.played:
                # It turned to something else without reporting this one's end.
                if run.queued < NEARLY_S:
                    run.heard = run.text
                    self._end(run, Code.ENOERR, '', t, reported=True)
                else:
                    self._end(run, Code.EINTR, 'something else is said', t, reported=True)
            elif status.state in (State.PLAYING, State.WAITING):
                run.since = t
        return self._settle(t)

    def tick(self, t: float) -> list[Deed]:
        """Let time pass: called a few times a second while `busy`."""
        for run in list(self._ending):
            if t > run.until:
                self._end(run, run.code, run.message, t, reported=True)
        current = self._run
        if current is not None and current.goal.reply and self._speaks(t):
            current.since = t
        if current is not None and t - current.since > self._patience:
            self._end(current, Code.EOTHER, f'{_MISSING[current.stage]} ({self._patience:g} s)', t)
            self._silence(current)
        return self._settle(t)

    def _speaks(self, t: float) -> bool:
        """A visitor has the floor."""
        return self._floor in (Floor.VISITOR, Floor.INTERRUPTED) and t - self._taken < FLOOR_S

    def _settle(self, t: float) -> list[Deed]:
        """Begin the next goal when there is room for it; gives all that is to be done."""
        if self._run is None and self._waiting and (self._waiting[0].priority > NORMAL or not self._speaks(t)):
            self._begin(self._waiting.pop(0), t)
        run = self._run
        if run is not None and run.progress != run.told:
            run.told = run.progress
            self._deeds.append(Tell(run.goal.key, run.progress))
        deeds, self._deeds = self._deeds, []
        return deeds

    def _begin(self, goal: Goal, t: float) -> None:
        if goal.reply:
            self._run = _Run(goal, 'perception', t)
            self._deeds.append(Type(goal.key))
        else:
            self._run = _Run(goal, 'synthesis', t, goal.text, self._oldest, goal.script_id, goal.priority)
            self._deeds.append(Speak(goal.key, self._oldest, goal.script_id, goal.text))

    def _begin_turn(self, key: str, turn_id: int, t: float) -> None:
        run = self._run
        if run is not None and run.goal.key == key and run.turn_id is None:
            run.turn_id, run.stage, run.since = turn_id, 'deliberation', t
        elif key in self._unwanted:
            self._unwanted.remove(key)
            self._silence_turn(turn_id)

    def _follow(self, run: _Run, status: Status, t: float) -> None:
        run.heard = status.heard or run.heard
        match status.state:
            case State.PLAYING:
                run.played, run.stage, run.queued, run.since = True, 'playout', status.queued, t
            case State.FINISHED if run.heard:
                self._end(run, Code.ENOERR, '', t, reported=True)
            case State.FINISHED:
                self._end(run, Code.ENOTSUP, 'the voice can\'t speak this: see what /diagnostics says about speech', t,
                          reported=True)
            case State.STOPPED if run.heard or not run.suspended:
                self._end(run, Code.EINTR, 'it was cut off: a visitor or something more urgent took the floor', t,
                          reported=True)

    def _end(self, run: _Run, code: Code, message: str, t: float, reported: bool = False) -> None:
        """End a goal, once; when something of it was heard, with the stage's last word about it."""
        if run is self._run:
            self._run = None
            run.code, run.message, run.until = code, message, t + REPORT_S
            self._ending.append(run)
        if run in self._ending and (reported or not run.played):
            self._ending.remove(run)
            self._deeds.append(End(run.goal.key, run.outcome))

    def _silence(self, run: _Run) -> None:
        if not run.goal.reply:
            self._deeds.append(Silence(run.script_id, run.turn_id or 0))
        elif run.turn_id is None:
            self._unwanted.append(run.goal.key)
        else:
            self._silence_turn(run.turn_id)

    def _silence_turn(self, turn_id: int) -> None:
        for script_id in (f'{reply_id(turn_id)}{SUFFIX}', reply_id(turn_id)):
            self._deeds.append(Silence(script_id, turn_id))
