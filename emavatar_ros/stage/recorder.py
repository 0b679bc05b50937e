"""Writes what was really shown and played to a movie, picture and sound at the moments they were seen and heard.

The movie's time runs only while the recording is on; what was not recorded is cut out, and the two tracks stay
together over the cuts. Encoding has its own thread: when it can't keep up, pictures are left out (and counted), never
sound, and nobody waits for it.
"""

from __future__ import annotations

import queue
import threading
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import EmavatarError
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.movie import Movie
from emavatar_ros.stage.clock import Stretch

WAITING: Final = 30
"""Pictures that may wait to be encoded."""
JOIN: Final = 0.02
"""Stretches of sound with a gap up to this, s, are joined: the gap is the clock's jitter, not silence."""


class Recorder:
    """One movie. width, height: px, other pictures are scaled to it; fps: pictures/s at most; rate: Hz of the sound.

    Times are seconds on the playout clock. Raises BadInput when the file can't be written.
    """

    def __init__(self, path: Path, width: int, height: int, fps: float, rate: int) -> None:
        self._movie = Movie(path, width, height, fps, rate)
        self._work: queue.Queue[tuple[NDArray[np.uint8] | Audio | None, float | None]] = queue.Queue()
        self._on = False
        self._start = 0.0  # when the stretch being recorded began, s
        self._base = 0.0  # the movie's time at that moment, s
        self._sound_end = 0.0  # up to when there is sound, s of the movie
        self._put = self._taken = 0  # pictures, each counted by one thread
        self.left_out = 0
        """Pictures that were not encoded because the machine was too slow."""
        self.problem = ''
        """Why nothing is recorded any more; '' while all is well."""
        self._thread = threading.Thread(target=self._encode, name='recorder', daemon=True)
        self._thread.start()

    @property
    def on(self) -> bool:
        """Whether it records at the moment."""
        return self._on

    @property
    def waiting(self) -> int:
        """Pictures that are still to be encoded."""
        return self._put - self._taken

    def switch(self, on: bool, t: float) -> None:
        """Go on or pause."""
        if on and not self._on:
            self._start = t
        elif self._on and not on:
            self._base += max(t - self._start, 0.0)
        self._on = on

    def image(self, rgb: NDArray[np.uint8], t: float) -> None:
        """A picture, uint8 [height, width, 3], that was seen from `t` on."""
        if not self._on or t < self._start or self.problem:
            return
        if self.waiting >= WAITING:
            self.left_out += 1
            return
        self._put += 1
        self._work.put((rgb, self._base + t - self._start))

    def sound(self, stretch: Stretch) -> None:
        """Sound that was heard."""
        if not self._on or stretch.samples is None or stretch.until <= self._start or self.problem:
            return
        skip = max(round((self._start - stretch.when) * self._movie.rate), 0)
        begin = self._base + max(stretch.when - self._start, 0.0)
        stamp = begin if begin - self._sound_end > JOIN else None
        samples = stretch.samples[skip:]
        self._sound_end = (begin if stamp is not None else self._sound_end) + len(samples) / self._movie.rate
        self._work.put((Audio(samples, self._movie.rate), stamp))

    def close(self, t: float) -> None:
        """Complete the file; waits for what is still to be encoded. Raises BadInput when it could not be written."""
        self.switch(False, t)
        rest = self._base - self._sound_end
        if rest > JOIN and not self.problem:
            self._work.put((Audio(np.zeros(1, np.float32), self._movie.rate), self._base))
        self._work.put((None, None))
        self._thread.join()
        if not self.problem:
            self._movie.close()

    def _encode(self) -> None:
        while True:
            piece, stamp = self._work.get()
            if piece is None:
                return
            self._taken += not isinstance(piece, Audio)
            if self.problem:
                continue
            try:
                if isinstance(piece, Audio):
                    self._movie.sound(piece, stamp)
                else:
                    self._movie.image(self._fit(piece), stamp)
            except EmavatarError as error:  # the movie has cleaned up after itself
                self.problem = str(error)

    def _fit(self, rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
        size = self._movie.width, self._movie.height
        if rgb.shape[1::-1] == size:
            return rgb
        how = cv2.INTER_AREA if rgb.shape[1] > size[0] else cv2.INTER_CUBIC
        return np.asarray(cv2.resize(rgb, size, interpolation=how), dtype=np.uint8)
