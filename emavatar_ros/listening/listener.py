"""The listener: a stream of sound in, what was said out.

Every window of 32 ms goes through the voice activity detector and the endpointing. While somebody speaks, what was
said so far is recognised about once a second (Partial), but only when the recogniser has nothing else to do. As soon
as silence begins, everything so far is recognised: when the turn then ends, its final transcript is ready or nearly
so, and its words decide how long the silence must be.

Threading: `feed` belongs to one thread and takes microseconds to a millisecond; the recogniser runs where `submit`
puts it. Without one it runs inside `feed` (deterministic: files, tests); `create` gives it one thread of its own, so
that voice activity never waits for words. Results are picked up by the next `feed`. Time is the sound's own: nothing
here reads a clock. A recogniser that takes too long costs one utterance, never the conversation, and its late answer
starts nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from emavatar_ros.listening import endpointing
from emavatar_ros.listening.endpointing import Asked, Endpointing, State, Window, Words
from emavatar_ros.listening.events import (
    Event,
    MicrophoneBack,
    MicrophoneSilent,
    Partial,
    SpeechDropped,
    SpeechEnded,
    SpeechStarted,
    Utterance,
)
from emavatar_ros.listening.transcription import Recogniser, Transcription
from emavatar_ros.listening.voice_activity import RATE, WINDOW, VoiceActivity
from emavatar_ros.media.audio import Audio, Samples
from emavatar_ros.settings import backend, chosen, setting

GAP: Final = 0.25
"""A jump of the stamps by more than this many seconds is a new stream: what was begun is over."""
TAIL: Final = 0.2
"""Silence kept behind an utterance, in seconds."""
FIRST_PARTIAL: Final = 0.7
"""Speech before the first partial transcript, in seconds: less gives wrong words."""
SILENT: Final = ('the microphone gives only zeros: check its mute switch, its volume, and which microphone is chosen '
                 '(emavatar devices)')


Submit = Callable[..., 'Future[Transcription]']


@dataclass(frozen=True)
class ListenerConfig:
    """Settings of the listener."""

    turns: endpointing.Config = field(default_factory=endpointing.Config)
    preroll: float = setting(0.3, 'sound kept from before speech was noticed', unit='s', low=0.0, high=1.0)
    partial_every: float = setting(0.9, 'time between partial transcripts; 0 turns them off', unit='s', low=0.0,
                                   high=10.0)
    patience: float = setting(10.0, 'longest wait for the recogniser after a turn ended', unit='s', low=0.5, high=60.0)
    zeros: float = setting(3.0, 'exact zeros after which the microphone is reported; 0 never does', unit='s', low=0.0,
                           high=5.0)


@dataclass(frozen=True)
class ListeningConfig(ListenerConfig):
    """Settings of the listening node: the listener's, and which detector and recogniser it uses."""

    activity: str = backend('silero', 'listening', 'what tells speech from anything else')
    recogniser: str = backend('whisper', 'listening', 'what turns speech into words')
    while_speaking: str = setting('ignore', 'what the visitor says while the avatar speaks: without an echo canceller '
                                  'the avatar would answer itself', choices=('ignore', 'listen'))


@dataclass(frozen=True)
class _Job:
    """A transcript being made of everything up to `until`: of `audio`, which begins at `audio_start`."""

    future: Future[Transcription]
    until: float
    pause: bool
    audio: Audio
    audio_start: float


@dataclass
class _Waiting:
    """An utterance that ended and waits for its words."""

    start: float
    end: float
    audio: Audio
    audio_start: float
    future: Future[Transcription]
    deadline: float


class Listener:
    """Give `feed` the sound as it comes; it yields events. One object per microphone."""

    def __init__(self, config: ListenerConfig, activity: VoiceActivity, recogniser: Recogniser,
                 submit: Submit | None = None) -> None:
        self.config = config
        self.activity = activity
        self.recogniser = recogniser
        self._submit = submit or _at_once
        self._endpointing = Endpointing(config.turns)
        self._language: str | None = None
        self._waiting: deque[_Waiting] = deque()
        self._zeros = 0.0
        self._silent = False
        self._restart(None)

    def _restart(self, stamp: float | None) -> None:
        self.activity.reset()
        self._endpointing.reset()
        self._rest = np.zeros(0, np.float32)
        self._next = stamp
        self._kept: list[Samples] = []
        self._kept_start = 0.0
        self._job: _Job | None = None
        self._last_asked = 0.0

    def forget(self) -> None:
        """Another visitor: the language is open again, and whatever was being said is dropped."""
        self._language = None
        self._waiting.clear()
        self._restart(self._next)

    def feed(self, samples: Samples, stamp: float, ignore: bool = False) -> Iterator[Event]:
        """Take the next sound: mono 16 kHz float32 [n], its first sample captured at `stamp`; yield what follows.

        ignore: the sound doesn't count as speech (the avatar itself is speaking); the microphone is watched anyway.
        The work is done as the events are taken, so take them all.
        """
        samples = np.nan_to_num(np.asarray(samples, np.float32))
        yield from self._watch(samples, stamp)
        if self._next is not None and abs(stamp - self._next) > GAP:
            yield from self._finish(self._next)
            self._restart(None)
        if ignore:
            samples = np.zeros_like(samples)
        at = stamp - len(self._rest) / RATE
        sound = np.concatenate([self._rest, samples])
        whole = len(sound) // WINDOW * WINDOW
        for start in range(0, whole, WINDOW):
            yield from self._window(sound[start:start + WINDOW], at + start / RATE)
        self._rest = sound[whole:]
        self._next = stamp + len(samples) / RATE
        yield from self._collect(self._next)

    def flush(self) -> Iterator[Event]:
        """The sound has ended: yield what is still owed, waiting for the recogniser."""
        if self._next is not None:
            yield from self._finish(self._next)
        wait([waiting.future for waiting in self._waiting], timeout=self.config.patience)
        yield from self._collect((self._next or 0.0) + 2 * self.config.patience)
        self._restart(None)

    def _window(self, window: Samples, start: float) -> Iterator[Event]:
        end = start + WINDOW / RATE
        if not self._kept:
            self._kept_start = start
        self._kept.append(window)
        if self._endpointing.state is State.QUIET:
            keep = self.config.preroll + self.config.turns.onset + 2 * WINDOW / RATE
            while (len(self._kept) - 1) * WINDOW / RATE > keep:
                self._kept.pop(0)
                self._kept_start += WINDOW / RATE
        self._read_words()
        # What is ignored need not be looked at: the avatar is speaking, and its voice wants the processor.
        voiced = self.activity(window) if window.any() else 0.0
        yield from self._react(self._endpointing.step(Window(voiced, start, end)), end)
        yield from self._partial(end)

    def _react(self, outcome: endpointing.Outcome | None, now: float) -> Iterator[Event]:
        match outcome:
            case endpointing.Began(start):
                self._last_asked = start + FIRST_PARTIAL - self.config.partial_every
                yield SpeechStarted(start)
            case endpointing.Paused(end):
                if self._endpointing.voiced >= self.config.turns.shortest:
                    self._ask(end, pause=True)
            case endpointing.Ended(start, end, stamp, reason):
                yield SpeechEnded(start, end, stamp, reason)
                self._await(start, end, now)
                self._keep_tail()
            case endpointing.Dropped(start, end, reason):
                self._job = None
                self._keep_tail()
                yield SpeechDropped(start, end, reason)

    def _ask(self, until: float, pause: bool) -> None:
        """Have everything up to `until` recognised."""
        if self._job is not None:
            self._job.future.cancel()  # only helps when it hasn't begun
        audio = self._sound(until)
        self._job = _Job(self._submit(self.recogniser.transcribe, audio, None, self._language), until, pause, audio,
                         self._kept_start)
        self._last_asked = until
        if pause:
            self._endpointing.step(Asked(until))
            self._read_words()

    def _read_words(self) -> None:
        """Let the endpointing know the words of a pause as soon as they are there."""
        job = self._job
        if job is not None and job.pause and job.future.done():
            made = job.future.result()
            self._endpointing.step(Words(made.text, made.language, made.confidence, job.until))

    def _partial(self, now: float) -> Iterator[Event]:
        """Hand out a finished partial; ask for the next when it is due and the recogniser is free."""
        if self._endpointing.state is State.QUIET:
            return
        job = self._job
        if job is not None and job.future.done() and not job.pause:
            self._job = None
            made = job.future.result()
            if made.text:
                yield Partial(made.text, made.language, made.confidence, self._endpointing.start, job.until, job.audio,
                              made.embedding, job.audio_start)
        busy = self._job is not None and not self._job.future.done()
        due = self.config.partial_every > 0 and now - self._last_asked >= self.config.partial_every
        if due and not busy and not self._waiting and self._endpointing.state is State.SPEAKING:
            self._ask(now, pause=False)

    def _await(self, start: float, end: float, now: float) -> None:
        """Queue an utterance for its words: those of its last pause when they cover it, else a transcript of all."""
        job, self._job = self._job, None
        audio = self._sound(end)
        if job is None or not job.pause or job.until < end - 1e-6:
            if job is not None:
                job.future.cancel()
            future = self._submit(self.recogniser.transcribe, audio, None, self._language)
        else:
            future = job.future
        self._waiting.append(_Waiting(start, end, audio, self._kept_start, future, now + self.config.patience))

    def _collect(self, now: float) -> Iterator[Event]:
        """Utterances whose words are there, in the order spoken; one that waited too long is dropped."""
        while self._waiting and (self._waiting[0].future.done() or now > self._waiting[0].deadline):
            said = self._waiting.popleft()
            if not said.future.done():
                said.future.cancel()
                yield SpeechDropped(said.start, said.end, 'the recogniser took too long')
                continue
            made = said.future.result()
            if made.text:
                self._language = made.language or self._language
            yield Utterance(made.text, made.language, made.confidence, said.start, said.end, said.audio,
                            made.embedding, said.audio_start)

    def _finish(self, stamp: float) -> Iterator[Event]:
        yield from self._react(self._endpointing.finish(stamp), stamp)

    def _sound(self, until: float) -> Audio:
        """What is kept, up to `until` and a little more."""
        sound = np.concatenate(self._kept)
        return Audio(sound[:max(1, round((until + TAIL - self._kept_start) * RATE))], RATE)

    def _keep_tail(self) -> None:
        """Keep only the pre-roll of what may follow."""
        count = int(self.config.preroll * RATE / WINDOW)
        dropped = max(0, len(self._kept) - count)
        self._kept = self._kept[dropped:]
        self._kept_start += dropped * WINDOW / RATE

    def _watch(self, samples: Samples, stamp: float) -> Iterator[Event]:
        """Report a microphone that is alive but deaf."""
        if not len(samples) or not self.config.zeros:
            return
        if samples.any():
            if self._silent:
                yield MicrophoneBack(stamp)
            self._zeros, self._silent = 0.0, False
            return
        self._zeros += len(samples) / RATE
        if self._zeros >= self.config.zeros and not self._silent:
            self._silent = True
            yield MicrophoneSilent(stamp + len(samples) / RATE - self._zeros, SILENT)


def _at_once(call: Callable[..., Transcription], *args: Any) -> Future[Transcription]:
    """Run it here and now."""
    future: Future[Transcription] = Future()
    future.set_result(call(*args))
    return future


def create(config: ListeningConfig | None = None) -> Listener:
    """A listener with its models loaded and warm, its recogniser on a thread of its own."""
    config = config or ListeningConfig()
    module, settings = chosen(config, 'recogniser')
    recogniser = module.create(settings)
    recogniser.warm_up()
    module, settings = chosen(config, 'activity')
    return Listener(config, module.create(settings), recogniser, ThreadPoolExecutor(1, 'recogniser').submit)
