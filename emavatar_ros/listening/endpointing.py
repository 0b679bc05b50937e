"""When does a visitor begin to speak, pause, go on, and have finished?

                 voiced for `onset`
        QUIET ----------------------> SPEAKING <---------------.
          ^                             |   |                  | voiced again: Resumed
          |     longer than `longest`   |   | silent for       |
          |<----------------------------'   | `pause`: Paused  |
          |          Ended                  v                  |
          '------------------------------ PAUSING -------------'
             silent for the patience its words deserve:
             Ended, or Dropped when too little was voiced

The patience is `patience_finished` after a whole sentence, `patience_unfinished` while more must come or while the
words of this pause are still being recognised (the answer needs them anyway), else `patience_open`. Time comes with
the windows; nothing here reads a clock, and nothing here knows sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from emavatar_ros.listening.wording import Wording, wording
from emavatar_ros.settings import setting


@dataclass(frozen=True)
class Config:
    """Settings of turn-taking."""

    on: float = setting(0.5, 'probability from which a window counts as speech', low=0.05, high=0.95)
    off: float = setting(0.35, 'probability below which it counts as silence again', low=0.01, high=0.95)
    onset: float = setting(0.096, 'speech needed to say that somebody began', unit='s', low=0.0, high=1.0)
    shortest: float = setting(0.16, 'voiced time below which it was no speech: a click, a cough', unit='s', low=0.0,
                              high=2.0)
    longest: float = setting(26.0, 'longest utterance; then it is taken as finished', unit='s', low=2.0, high=28.0)
    pause: float = setting(0.16, 'silence after which the words so far are recognised', unit='s', low=0.05, high=1.0)
    patience_finished: float = setting(0.35, 'silence that ends a turn after a finished sentence', unit='s', low=0.1,
                                       high=3.0)
    patience_open: float = setting(0.7, 'silence that ends a turn when the words leave it open', unit='s', low=0.1,
                                   high=3.0)
    patience_unfinished: float = setting(1.4, 'silence that ends a turn in the middle of a sentence', unit='s',
                                         low=0.1, high=5.0)


class State(Enum):
    """Where the conversation is."""

    QUIET = 'quiet'
    SPEAKING = 'speaking'
    PAUSING = 'pausing'


@dataclass(frozen=True)
class Window:
    """A stretch of sound that is speech with `probability`."""

    probability: float
    start: float
    end: float


@dataclass(frozen=True)
class Asked:
    """A transcript of everything up to `until` was asked for and will come."""

    until: float


@dataclass(frozen=True)
class Words:
    """The transcript of everything up to `until`."""

    text: str
    language: str
    confidence: float
    until: float


@dataclass(frozen=True)
class Began:
    """Somebody began to speak at `start`."""

    start: float


@dataclass(frozen=True)
class Paused:
    """Silent since `end`."""

    end: float


@dataclass(frozen=True)
class Resumed:
    """The pause was only a pause."""

    stamp: float


@dataclass(frozen=True)
class Ended:
    """The turn is over: speech from `start` to `end`, decided at `stamp`."""

    start: float
    end: float
    stamp: float
    reason: str


@dataclass(frozen=True)
class Dropped:
    """Too little was voiced to be speech."""

    start: float
    end: float
    reason: str


Outcome = Began | Paused | Resumed | Ended | Dropped


class Endpointing:
    """The state machine drawn above. Give `step` every window in order, and transcripts as they come."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.reset()

    def reset(self) -> None:
        """Back to QUIET."""
        self.state = State.QUIET
        self.start = self.end = 0.0
        self.voiced = 0.0
        self._run = 0.0
        self._run_start = 0.0
        self._asked: float | None = None
        self._words: Words | None = None

    def step(self, event: Window | Asked | Words) -> Outcome | None:
        """What follows from a window or a transcript, if anything."""
        match event, self.state:
            case Window(), State.QUIET:
                return self._quiet(event)
            case Window(), State.SPEAKING:
                return self._speaking(event)
            case Window(), State.PAUSING:
                return self._pausing(event)
            case (Asked() | Words()), State.QUIET:
                return None  # it came late: it starts nothing
            case Asked(), _:
                self._asked = event.until
            case Words(), _:
                if self._words is None or event.until >= self._words.until:
                    self._words = event
        return None

    def patience(self) -> float:
        """How much silence ends the turn now, in seconds."""
        config, words = self.config, self._words
        if words is None or words.until < self.end:
            waiting = self._asked is not None and self._asked >= self.end
            return config.patience_unfinished if waiting else config.patience_open
        match wording(words.text, words.language, words.confidence):
            case Wording.FINISHED:
                return config.patience_finished
            case Wording.UNFINISHED:
                return config.patience_unfinished
            case Wording.OPEN:
                return config.patience_open

    def _quiet(self, window: Window) -> Outcome | None:
        if not self._continues(window):
            return None
        if self._run < self.config.onset - 1e-6:
            return None
        self.state = State.SPEAKING
        self.start, self.end, self.voiced = self._run_start, window.end, self._run
        self._asked = self._words = None
        return Began(self.start)

    def _speaking(self, window: Window) -> Outcome | None:
        if window.probability >= self.config.off:
            self.end = window.end
            self.voiced += window.end - window.start
        if window.end - self.start >= self.config.longest:
            return self._over(window.end, 'it is as long as an utterance may be')
        if window.end - self.end >= self.config.pause - 1e-6:
            self.state, self._run = State.PAUSING, 0.0
            return Paused(self.end)
        return None

    def _pausing(self, window: Window) -> Outcome | None:
        if self._continues(window) and self._run >= min(self.config.onset, 0.064) - 1e-6:
            self.state, self.end = State.SPEAKING, window.end
            self.voiced += self._run
            return Resumed(self._run_start)
        if self._run > 0:
            return None  # perhaps the next word begins
        if window.end - self.end >= self.patience() - 1e-6:
            return self._over(window.end, 'the visitor finished')
        return None

    def _continues(self, window: Window) -> bool:
        """Count the voiced run this window is part of; False when it is not."""
        if window.probability >= (self.config.on if self._run == 0 else self.config.off):
            if self._run == 0:
                self._run_start = window.start
            self._run += window.end - window.start
            return True
        self._run = 0.0
        return False

    def finish(self, stamp: float) -> Outcome | None:
        """The stream ends at `stamp`: what was begun is over."""
        return None if self.state is State.QUIET else self._over(stamp, 'the sound ended')

    def _over(self, stamp: float, reason: str) -> Outcome:
        start, end, voiced = self.start, self.end, self.voiced
        self.reset()
        if voiced < self.config.shortest:
            return Dropped(start, end, 'too short to be speech')
        return Ended(start, end, stamp, reason)
