"""The thread that draws: one picture after the other, each for the moment at which it will be seen.

A picture takes its time to draw, so the face is asked for the moment at which drawing will be over, as the last
pictures foretell. When drawing is slow the next moment on the beat is taken: pictures are left out, and the lips of
those that are shown stay with the sound.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.avatars import Avatar
from emavatar_ros.errors import EmavatarError
from emavatar_ros.stage.quality import Quality
from emavatar_ros.stage.recorder import Recorder
from emavatar_ros.stage.screen import Screen
from emavatar_ros.stage.settings import StageConfig
from emavatar_ros.stage.stage import Stage

AFTER: Final = 0.6
"""Seconds a recording of replies goes on after the sound."""
LATELY: Final = 2.0
"""Seconds over which the rate of pictures is counted."""
STAYS: Final = 0.5
"""A picture is seen until the next one comes. It shows the face of this share of that time, the one with
the least error. An eye forgives lips that are early by a tenth of a second, and not late ones."""
LONGEST: Final = 0.25
"""A picture is not expected to stay longer, s."""
START: Final = 120.0
"""Longest time, s, to make the screen and the face."""

Picture = NDArray[np.uint8]


class Drawing:
    """Draws the stage's face until closed. Making it waits until the first picture is seen, and raises what went wrong.

    wanted: whether somebody wants each picture as pixels; they are handed to `seen` with their moment (s).
    """

    def __init__(self, config: StageConfig, stage: Stage, avatar: Avatar, wanted: Callable[[], bool],
                 seen: Callable[[Picture, float], None]) -> None:
        self._config, self._stage, self._wanted, self._seen = config, stage, wanted, seen
        self._avatar = avatar
        self._next: Avatar | None = None
        self._ready = threading.Event()
        self._closing = threading.Event()
        self._error: EmavatarError | None = None
        self._moments: deque[float] = deque(maxlen=500)
        self.size = (0, 0)
        """Width and height of the pictures as they are drawn, px."""
        self.renderer = ''
        """What draws them."""
        self.problem = ''
        """What went wrong lately, in one sentence."""
        self.closed = False
        """The person at the screen closed the window."""
        self.late = 0
        """Pictures left out because drawing took longer than their time."""
        self.left_out = 0
        """Pictures that the recording lacks."""
        self._thread = threading.Thread(target=self._run, name='drawing', daemon=True)
        self._thread.start()
        if not self._ready.wait(START) and self._error is None:
            self.problem = f'the first picture took longer than {START:.0f} s'
        if self._error is not None:
            self._thread.join()
            raise self._error

    @property
    def avatar(self) -> str:
        """Name of the avatar on the screen, as avatars.load takes it."""
        return self._avatar.name

    @property
    def rate(self) -> float:
        """Pictures shown per second lately."""
        since = self._stage.clock() - LATELY
        return sum(moment > since for moment in list(self._moments)) / LATELY

    def show(self, avatar: Avatar) -> None:
        """Show somebody else, as soon as their face is ready (some seconds)."""
        self._next = avatar

    def close(self) -> None:
        """Stop drawing, complete the recording, take the window away."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        if sys.platform == 'linux':
            # There a priority is a thread's own: the sound's threads keep theirs.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), self._config.quality.nice)
        screen: Any = None
        recorder: Recorder | None = None
        try:
            screen = Screen(self._config, self._avatar)
            self.renderer = screen.renderer
            recorder = self._recorder(screen)
            self._draw(screen, recorder)
        except EmavatarError as error:
            self._error = error
            self.problem = str(error)
        finally:
            try:
                if recorder is not None:
                    recorder.close(self._stage.clock())
            except EmavatarError as error:
                self.problem = str(error)
            if screen is not None:
                screen.close()
            self._ready.set()

    def _recorder(self, screen: Screen) -> Recorder | None:
        if not self._config.record:
            return None
        width, height = screen.drawn
        return Recorder(Path(self._config.record), width, height, self._config.quality.rate, self._stage.speaker.rate)

    def _draw(self, screen: Screen, recorder: Recorder | None) -> None:
        clock = self._stage.clock
        quality = Quality(self._config.quality, screen.height, self.renderer)
        screen.choose(quality.level)
        # The first pictures compile and upload; how long they take says nothing.
        for _ in range(2):
            screen.show(self._stage.face_at(clock()))
        takes, due, stays, before = 0.03, clock(), 0.03, clock()
        while not self._closing.is_set():
            begin = clock()
            _, since, _ = self._stage.activity
            effort = self._stage.effort
            rate = quality.rate(effort)
            screen.show(self._stage.face_at(begin + takes + self._config.delay + STAYS * max(stays, 1 / rate)))
            shown = clock()
            stays += 0.2 * (min(shown - before, LONGEST) - stays)
            before = shown
            takes += 0.2 * (shown - begin - takes)
            self._moments.append(shown)
            self.size = screen.drawn
            self._ready.set()
            if recorder is not None:
                self._record(recorder, effort, since, shown)
            if self._wanted() or (recorder is not None and recorder.on):
                picture = screen.picture()
                if recorder is not None:
                    recorder.image(picture, shown)
                self._seen(picture, shown)
            if quality.drawn(clock() - begin, clock()):
                screen.choose(quality.level)
            if self._next is not None:
                self._change(screen)
            if not self.closed and screen.closed():
                self.closed = True
                return
            due = max(due + 1 / rate, clock() - 1 / rate)
            if clock() > due + 0.5 / rate:
                self.late += 1
            self._closing.wait(max(due - clock(), 0.0))

    def _record(self, recorder: Recorder, activity: str, since: float, t: float) -> None:
        """Replies are recorded without what is said while they are written."""
        if self._config.record_what == 'session' or activity == 'speaking':
            recorder.switch(True, min(since, t) if activity == 'speaking' else t)
        elif t - since > AFTER:
            recorder.switch(False, t)
        for stretch in self._stage.played(t):
            recorder.sound(stretch)
        self.left_out = recorder.left_out
        self.problem = recorder.problem or self.problem

    def _change(self, screen: Screen) -> None:
        avatar, self._next = self._next, None
        assert avatar is not None
        try:
            screen.avatar(avatar)
            self._avatar, self.problem = avatar, ''
        except EmavatarError as error:
            self.problem = str(error)
