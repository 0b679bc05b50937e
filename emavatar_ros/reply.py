"""Performs a reply into files: speech to reply.wav, the speaking face to reply.mp4, in step from the first sample.

Three things go on side by side: the caller hands over beats as they are written, one thread speaks them clause by
clause, one thread draws the face to what has been spoken. The pieces follow each other without a gap, so a slow writer
costs time and leaves no hole. Drawing keeps to a budget: where OpenGL runs on the processor, the face has fewer images
a second rather than taking minutes.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.errors import BadInput
from emavatar_ros.face.animator import Animator
from emavatar_ros.face.units import FaceState, units
from emavatar_ros.media.audio import Audio
from emavatar_ros.voice.speech import Phoneme, Speech, Voice

WAV: Final = 'reply.wav'
MP4: Final = 'reply.mp4'
TAIL: Final = 0.4
"""Seconds the picture goes on after the last sample: the mouth closes, the expression rests."""
AHEAD: Final = 0.3
"""Seconds of speech the face must know of beyond the moment drawn: a mouth prepares the next sound."""
RATES: Final = (25.0, 20.0, 15.0, 12.5, 10.0)
"""Image rates to choose from, best first."""
BUDGET: Final = 8.0
"""Seconds that drawing a reply of usual length may take."""
USUAL: Final = 7.0
"""Seconds of speech in a reply of usual length."""


class Renderer(Protocol):
    """What is needed of a renderer."""

    width: int
    height: int

    @property
    def info(self) -> dict[str, str]: ...
    def draw(self, state: FaceState) -> None: ...
    def read(self) -> NDArray[np.uint8]: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Line:
    """One beat to be performed. expression: a name in face.expression.EXPRESSIONS; language: BCP 47."""

    text: str
    delivery: Delivery
    expression: str
    language: str


@dataclass(frozen=True)
class Performed:
    """What was made. seconds, phonemes: of reply.wav; images: how many reply.mp4 has; voice_s, face_s: seconds of work;
    first_audio: when the first samples were there, on time.perf_counter's clock; waited: seconds that the first words
    waited for the voice to be loaded."""

    sample_rate: int
    seconds: float
    phonemes: tuple[Phoneme, ...]
    fps: float
    width: int
    height: int
    images: int
    renderer: str
    voice_s: float
    face_s: float
    first_audio: float
    waited: float = 0.0


class Performance:
    """One reply on its way into `folder`. `voice` and `renderer` make theirs in the thread that uses them."""

    def __init__(self, folder: Path, voice: Callable[[], Voice], renderer: Callable[[], Renderer],
                 animator: Animator) -> None:
        self._folder = folder
        self._make_voice, self._make_renderer = voice, renderer
        self._animator = animator
        self._lines: queue.Queue[Line | None] = queue.Queue()
        self._spoken: queue.Queue[Speech | None] = queue.Queue()
        self._expressions: queue.Queue[str] = queue.Queue()
        self._pieces: list[Speech] = []
        self._stopped = threading.Event()
        self._errors: list[BaseException] = []
        self._voice_s = self._face_s = self._first_audio = self._waited = 0.0
        self._shown: tuple[float, int, int, int, str] = (0.0, 0, 0, 0, '')
        self._threads = [threading.Thread(target=self._guarded, args=(work,), name=work.__name__, daemon=True)
                         for work in (self._speak, self._draw)]
        for thread in self._threads:
            thread.start()

    def feel(self, label: str, confidence: float) -> None:
        """What the visitor feels: the face answers it from the first image on."""
        self._animator.feel(-1.0, label, confidence)

    def say(self, line: Line) -> None:
        """Perform this after what was given before."""
        self._check()
        self._lines.put(line)

    def finish(self) -> Performed:
        """Wait until all is said and drawn; writes reply.wav last. Raises what went wrong in a thread."""
        self._lines.put(None)
        for thread in self._threads:
            while thread.is_alive():
                thread.join(0.2)
                self._check()
        self._check()
        if not self._pieces:
            raise BadInput('there is nothing in the text that can be said')
        rate = self._pieces[0].audio.rate
        samples = np.concatenate([piece.audio.samples for piece in self._pieces])
        write_wav(self._folder / WAV, Audio(samples, rate))
        phonemes: list[Phoneme] = []
        at = 0.0
        for piece in self._pieces:
            phonemes += [Phoneme(p.symbol, p.start + at, p.duration) for p in piece.phonemes]
            at += piece.seconds
        return Performed(rate, len(samples) / rate, tuple(phonemes), *self._shown, self._voice_s, self._face_s,
                         self._first_audio, self._waited)

    def abandon(self) -> None:
        """Stop both threads as soon as they notice; nothing more is written."""
        self._stopped.set()
        self._lines.put(None)
        self._spoken.put(None)
        for thread in self._threads:
            thread.join(5.0)

    def _check(self) -> None:
        if self._errors:
            raise self._errors[0]

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # handed to the caller by the next call
            self._errors.append(error)
            self._stopped.set()
            self._spoken.put(None)

    def _speak(self) -> None:
        line = self._lines.get()
        began = time.perf_counter()
        voice = self._make_voice()
        self._waited = time.perf_counter() - began
        while line is not None and not self._stopped.is_set():
            began = time.perf_counter()
            for speech in voice.speak(line.text, line.delivery, line.language):
                if self._stopped.is_set():
                    return
                if not self._pieces:
                    self._first_audio = time.perf_counter()
                self._pieces.append(speech)
                self._expressions.put(line.expression)
                self._spoken.put(speech)
            self._voice_s += time.perf_counter() - began
            line = self._lines.get()
        self._spoken.put(None)

    def _draw(self) -> None:
        from emavatar_ros.media.movie import Movie

        renderer = self._make_renderer()
        try:
            renderer.draw(FaceState(units()))  # the first image also compiles and is no measure
            renderer.read()
            first = self._spoken.get()
            if first is None or self._stopped.is_set():
                return
            fps = self._image_rate(renderer)
            with Movie(self._folder / MP4, renderer.width, renderer.height, fps, first.audio.rate) as movie:
                images, known = 0, 0.0
                speech: Speech | None = first
                while not self._stopped.is_set():
                    if speech is not None:
                        self._animator.speak(known, speech, self._expressions.get())
                        movie.sound(speech.audio)
                        known += speech.seconds
                    until = known - AHEAD if speech is not None else known + TAIL
                    began = time.perf_counter()
                    while images / fps < until and not self._stopped.is_set():
                        renderer.draw(self._animator.at(images / fps))
                        movie.image(renderer.read(), images / fps)
                        images += 1
                    self._face_s += time.perf_counter() - began
                    if speech is None:
                        break
                    speech = self._spoken.get()
                if self._stopped.is_set():
                    movie.abort()
                    return
            info = renderer.info
            self._shown = (fps, movie.width, movie.height, images, info.get('renderer', '') or 'unknown')
        finally:
            renderer.close()

    def _image_rate(self, renderer: Renderer) -> float:
        """The best rate at which a reply of usual length is drawn within the budget."""
        began = time.perf_counter()
        for _ in range(2):
            renderer.draw(self._animator.at(0.0))
            renderer.read()
        each = (time.perf_counter() - began) / 2
        return next((rate for rate in RATES if rate * USUAL * each <= BUDGET), RATES[-1])


def write_wav(path: Path, audio: Audio) -> None:
    """Mono 16-bit PCM; raises BadInput when the disk is full or the folder read-only."""
    samples = np.round(np.clip(np.nan_to_num(audio.mono().samples), -1, 1) * 32767).astype('<i2')
    try:
        with path.open('wb') as file:
            with wave.open(file, 'wb') as out:
                out.setnchannels(1)
                out.setsampwidth(2)
                out.setframerate(audio.rate)
                out.writeframes(samples.tobytes())
            file.flush()
            os.fsync(file.fileno())  # a full disk may only show here
    except OSError as error:
        raise BadInput(f'{path.name} can\'t be written ({error.strerror}): choose another folder or free some space'
                       ) from None

