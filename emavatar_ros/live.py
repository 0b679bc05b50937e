"""What camera and microphone give, as a source for the timeline: `emavatar perceive --live`.

One thread for each device, so that a model at work costs images, never sound. Time is in seconds from the start.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from emavatar_ros.errors import BadInput, EmavatarError, Missing
from emavatar_ros.listening.voice_activity import RATE
from emavatar_ros.media.audio import Audio, Resampler, Samples
from emavatar_ros.media.camera import Camera, CameraConfig
from emavatar_ros.media.files import Image
from emavatar_ros.media.microphone import Microphone, MicrophoneConfig
from emavatar_ros.senses import IMAGES_PER_S
from emavatar_ros.timeline import NOTHING_HEARD, STEP, Step

MOST_IMAGES: Final = 8
MOST_CHUNKS: Final = 2000
"""Images and chunks that wait: two minutes of sound."""
OPENED: Final = 3.0
"""Within this time (s) one of the devices must have opened."""


class Live:
    """Camera and microphone by name, part of it, index or file, as the nodes take them; `none` for neither."""

    def __init__(self, camera: str = '', microphone: str = '', longest: float = float('inf'),
                 tell: Callable[[str], None] = lambda problem: None) -> None:
        """longest: ends after so many seconds. tell: called with each new problem of a device, one sentence."""
        if camera == microphone == 'none':
            raise BadInput('there is nothing to perceive with neither camera nor microphone')
        self.heard, self.seen = microphone != 'none', camera != 'none'
        self._camera = Camera(CameraConfig(source=camera, images_per_s=IMAGES_PER_S))
        self._microphone = Microphone(MicrophoneConfig(source=microphone))
        self._longest, self._tell = longest, tell
        self._images: deque[Image] = deque(maxlen=MOST_IMAGES)
        self._chunks: deque[tuple[Samples, float]] = deque(maxlen=MOST_CHUNKS)
        self._stopped = threading.Event()
        self._now = 0.0

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return self._now

    def left(self, now: float) -> float:
        """Seconds still to come, as far as is known."""
        return self._longest - now

    def steps(self) -> Iterator[Step]:
        """In real time, until `longest`, the end of a file given for a device, or `close` of this iterator.

        Raises Missing when none of the devices opens.
        """
        self._start = time.time()
        running = [threading.Thread(target=work, name=name, daemon=True)
                   for wanted, work, name in ((self.seen, self._see, 'camera'), (self.heard, self._hear, 'microphone'))
                   if wanted]
        for thread in running:
            thread.start()
        told: dict[str, str] = {}
        try:
            while self._now < self._longest and any(thread.is_alive() for thread in running):
                self._stopped.wait(STEP)
                self._now = min(time.time() - self._start, self._longest)
                self._complain(told)
                yield self._step()
            yield self._step()
        finally:
            self._stopped.set()
            for thread in running:
                thread.join(2.0)

    def _step(self) -> Step:
        chunks = [self._chunks.popleft() for _ in range(len(self._chunks))]
        images = tuple(self._images.popleft() for _ in range(len(self._images)))
        sound = np.concatenate([samples for samples, _ in chunks]) if chunks else NOTHING_HEARD
        return Step(self._now, sound, chunks[0][1] if chunks else self._now, images)

    def _see(self) -> None:
        def take() -> None:
            for pixels in self._camera.images(self._stopped.is_set):
                self._images.append(Image(pixels, time.time() - self._start))

        self._guard(self._camera, take)

    def _hear(self) -> None:
        def take() -> None:
            resampler, last = None, 0
            for samples, rate, captured in self._microphone.chunks(self._stopped.is_set):
                if resampler is None or rate != last:
                    resampler, last = Resampler(rate, RATE), rate
                self._chunks.append((resampler(Audio(samples, rate).mono().samples), captured - self._start))

        self._guard(self._microphone, take)

    def _guard(self, device: Camera | Microphone, work: Callable[[], object]) -> None:
        """A file that can't be read is a problem to be told, not a thread's last words."""
        try:
            work()
        except EmavatarError as error:
            device.problem = str(error)

    def _complain(self, told: dict[str, str]) -> None:
        problems = {name: device.problem for name, device, wanted in (
            ('camera', self._camera, self.seen), ('microphone', self._microphone, self.heard)) if wanted}
        for name, problem in problems.items():
            if problem and told.get(name) != problem:
                self._tell(problem)
            told[name] = problem
        if self._now > OPENED and all(problems.values()) and not (self._camera.device or self._microphone.device):
            raise Missing('neither camera nor microphone opens: ' + '; '.join(problems.values()))
