"""A speaker on a sound device, through PortAudio (sounddevice, MIT; PortAudio, MIT).

The device runs at its own rate, all the time: between stretches it plays silence, so that a reply starts without
the delay of opening it. PortAudio's thread calls for sound and says when that sound will reach the air; the moments
are smoothed into the playout clock. A second thread watches: when the device vanishes (unplugged, the sound server
gone), what it was given runs on in silence at real time, so that a turn comes to its end, and the device is taken
up again as soon as it is back. Falling silent drops what the driver holds (Pa_AbortStream), which takes about 1 ms
with ALSA and PulseAudio.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from emavatar_ros import devices
from emavatar_ros.errors import Missing, Unavailable
from emavatar_ros.media.audio import Audio, Samples
from emavatar_ros.media.streams import close_stream, open_stream
from emavatar_ros.stage.clock import Clock, Stretch, silence
from emavatar_ros.stage.speaker import Config

WATCH: Final = 0.25
"""Seconds between two looks at the device."""
SILENT: Final = 3.0
"""A device that has not asked for sound for so long, s, is taken for gone (PulseAudio's null sink pauses 1.9 s when it
starts)."""
RETRY: Final = 2.0
"""Seconds between two attempts to take up a device that is gone."""
JUMP: Final = 0.02
"""The smoothed clock follows the device's word slowly, unless it is off by more than this, s (it was restarted)."""


class DeviceSpeaker:
    """Plays on the device with this name, or a part of it; `clock` gives the caller's time in seconds."""

    def __init__(self, config: Config, device: str, clock: Callable[[], float], keep: bool = False) -> None:
        self._config, self._device, self._now, self._keep = config, device, clock, keep
        self._lock = threading.Lock()
        self._switch = threading.Lock()  # held while the device is opened, stopped or closed; taken before _lock
        self._pending: deque[Samples] = deque()
        self._waiting = 0  # samples in _pending
        self._clock = Clock(config.rate, keep)
        self._stream: Any = None
        self._name = ''
        self._problem = ''
        self._underruns = 0
        self._asked = 0.0  # when the device last asked for sound, on the monotonic clock
        self._given = 0  # samples given to the device since it was started, silence included
        self._origin: float | None = None  # smoothed moment at which sample 0 of those was heard
        self._running = threading.Event()
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None

    @property
    def name(self) -> str:
        """The device in use, or why there is none."""
        return self._name or f'away: {self._problem}'

    @property
    def rate(self) -> int:
        """The device's own sample rate, Hz."""
        return self._clock.rate

    @property
    def underruns(self) -> int:
        """How often the device ran dry."""
        return self._underruns

    @property
    def problem(self) -> str:
        """Why the device isn't playing; '' when it is."""
        return self._problem

    def open(self, t: float) -> None:
        """Take the device and wait until it plays. Raises Missing when there is none of that name, Unavailable when it
        refuses; it is taken up later then."""
        self._closing.clear()
        self._watcher = threading.Thread(target=self._watch, name='speaker watch', daemon=True)
        self._watcher.start()
        with self._switch:
            try:
                self._take()
            except (Missing, Unavailable) as error:
                self._problem = str(error)
                raise
        self._running.wait(SILENT)

    def close(self) -> None:
        """Give the device back."""
        self._closing.set()
        if self._watcher is not None:
            self._watcher.join(timeout=5)
            self._watcher = None
        with self._switch:
            self._drop()

    def play(self, audio: Audio, t: float) -> tuple[float, float]:
        """Append sound."""
        samples = np.ascontiguousarray(audio.mono(self.rate).samples * self._config.volume, dtype=np.float32)
        with self._lock:
            start = self._clock.end + self._waiting / self.rate
            if len(samples):
                self._pending.append(samples)
                self._waiting += len(samples)
            return start, start + len(samples) / self.rate

    def stop(self, t: float) -> float:
        """Fall silent: what the driver still holds is dropped, the device goes on with silence."""
        with self._switch:
            with self._lock:
                self._pending.clear()
                self._waiting = 0
                audible = self._clock.until > t
            if audible and self._stream is not None:
                self._abort()
            with self._lock:
                return self._clock.cut(t)

    def position(self, t: float) -> float:
        """Seconds of the line heard by `t`; sound still waiting is taken to follow without a gap."""
        with self._lock:
            known = self._clock.position(t)
            if self._waiting and t > self._clock.until >= self._now() - 0.05:
                known += min(t - self._clock.until, self._waiting / self.rate)
            return known

    def when(self, place: float, t: float) -> float:
        """The moment `place` is heard; for sound not yet given to the device: after what it has, or its delay."""
        with self._lock:
            known = self._clock.when(place)
            if known is not None:
                return known
            return max(self._clock.until, t + self._config.latency) + max(place - self._clock.end, 0.0)

    def played(self, t: float) -> list[Stretch]:
        """What was heard up to `t` and not handed out before."""
        with self._lock:
            return self._clock.played(t) if self._keep else []

    def _take(self, again: bool = False) -> None:
        """Open the device and start it; again: it may have been plugged in since. _switch is held."""
        sounddevice = devices.portaudio()
        try:
            self._stream = open_stream(self._open, again)
            self._start()
        except sounddevice.PortAudioError as error:
            name = self._name
            self._drop()
            raise Unavailable(f'the speaker {name!r} can not be opened ({error}): '
                              'close what else uses it, or choose another one') from None
        self._problem = ''

    def _open(self) -> Any:
        sounddevice = devices.portaudio()
        device = devices.find_sound_device(self._device, 'speaker')
        self._name = device.name
        rate = round(sounddevice.query_devices(device.index)['default_samplerate'])
        stream = sounddevice.OutputStream(samplerate=rate, device=device.index, channels=1, dtype='float32',
                                          latency=self._config.latency, callback=self._fill)
        with self._lock:
            self._adopt(rate)
        return stream

    def _adopt(self, rate: int) -> None:
        """Go on at another rate: the line's seconds stay what they were; _lock is held."""
        if rate != self._clock.rate:
            rest = [Audio(samples, self._clock.rate).mono(rate).samples for samples in self._pending]
            fresh = Clock(rate, self._keep)
            fresh.end = self._clock.end
            self._clock, self._pending = fresh, deque(rest)
            self._waiting = sum(map(len, rest))

    def _drop(self) -> None:
        """Close the device, whatever state it is in; _switch is held."""
        if self._stream is not None:
            self._stream.abort()  # after this nobody asks for sound any more, which needs the stream
            close_stream(self._stream)
        self._stream, self._name = None, ''

    def _abort(self) -> None:
        """Drop what the driver holds and start again; _switch is held."""
        try:
            self._stream.abort()
            self._start()
        except devices.portaudio().PortAudioError as error:
            self._lose(str(error))

    def _start(self) -> None:
        self._running.clear()
        self._given, self._origin = 0, None
        self._asked = time.monotonic()
        self._stream.start()

    def _lose(self, problem: str) -> None:
        self._drop()
        self._problem = problem

    def _fill(self, out: Any, n: int, times: Any, status: Any) -> None:
        """Called by PortAudio's thread for the next n samples."""
        self._asked = time.monotonic()
        if status.output_underflow and self._given > self.rate and self._waiting:
            self._underruns += 1
        if status.output_underflow:
            self._origin = None
        if self._given < 2 * self._stream.latency * self.rate:
            # The driver fills its buffer for the start and can't say yet when that will be heard.
            out[:] = 0
            self._given, self._origin = self._given + n, None
            return
        self._running.set()
        # The wall time is read as near to the driver's own as possible; smoothing takes out the rest.
        origin = self._now() + (times.outputBufferDacTime - self._stream.time) - self._given / self.rate
        if self._origin is None or abs(origin - self._origin) > JUMP:
            self._origin = origin
        else:
            self._origin += 0.05 * (origin - self._origin)
        when = self._origin + self._given / self.rate
        self._given += n
        with self._lock:
            samples = self._next(n)
            if len(samples):
                until = self._clock.until
                self._clock.add(samples, when if when < until - JUMP else max(when, until), self._now())
        out[:len(samples), 0] = samples
        out[len(samples):] = 0

    def _next(self, n: int) -> Samples:
        """Up to n samples of those waiting; _lock is held."""
        parts: list[Samples] = []
        while self._pending and n:
            part = self._pending.popleft()
            if len(part) > n:
                self._pending.appendleft(part[n:])
                part = part[:n]
            parts.append(part)
            n -= len(part)
            self._waiting -= len(part)
        return np.concatenate(parts) if parts else silence(0, self.rate)

    def _watch(self) -> None:
        retry = 0.0
        while not self._closing.wait(WATCH):
            with self._switch:
                if self._stream is not None:
                    if not self._stream.active or time.monotonic() - self._asked > SILENT:
                        self._lose('the speaker stopped: it was unplugged, or the sound server ended')
                    continue
                with self._lock:
                    samples = self._next(round(self._waiting and self.rate * WATCH))
                    if len(samples):  # nobody hears it, but the reply must come to its end
                        self._clock.add(samples, max(self._now(), self._clock.until), self._now())
                if (retry := retry - WATCH) <= 0:
                    retry = RETRY
                    self._retake()

    def _retake(self) -> None:
        """Look for the device anew."""
        try:
            self._take(again=True)
        except (Missing, Unavailable) as error:
            self._problem = str(error)
