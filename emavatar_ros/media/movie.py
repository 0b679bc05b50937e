"""Writes a movie: H.264 images and AAC sound in an .mp4 that every browser and phone plays.

The encoder is what the installed PyAV wheel brings: today libx264 (GPL-2.0 or later, part of that wheel, not of
this project), or Cisco's libopenh264 (BSD) where a build has it. The file is written under a temporary name beside
the target and renamed when it is complete, so a reader never meets half of one. One thread at a time.
"""

from __future__ import annotations

import contextlib
import os
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import av
import av.codec
import av.error
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.media.audio import Audio, Resampler

ENCODERS: Final = ('libopenh264', 'libx264')
"""H.264 encoders in order of choice: the freer licence first. Hardware encoders are left alone: they may be listed
and still not work."""
CLOCK: Final = 90_000
"""Ticks of the images' clock per second: fine enough for any image rate."""
BT709: Final = 1
LIMITED: Final = 1


class Movie:
    """An .mp4 being written. width, height: px, cropped to even numbers; fps: images/s when no stamps are given;
    rate: Hz of the sound track.

    `sound` and `image` may be called in any order; each keeps its own time from 0. `close` completes the file;
    leaving a `with` block by an error removes it. Raises BadInput when the file can't be written (the folder is
    read-only, the disk is full): nothing is left behind then.
    """

    def __init__(self, path: str | Path, width: int, height: int, fps: float, rate: int = 24_000, *,
                 preset: str = 'veryfast', quality: int = 20) -> None:
        if min(width, height) < 2 or not 0 < fps <= 240 or rate < 8000:
            raise BadInput(f'a movie needs at least 2x2 px, up to 240 images/s and 8000 Hz, '
                           f'not {width}x{height}, {fps}, {rate}')
        self.path = Path(path)
        self.width, self.height, self.fps, self.rate = width - width % 2, height - height % 2, fps, rate
        self._part = self.path.with_name(f'.{self.path.name}.{os.getpid()}.part')
        self._images = 0
        self._last_tick = -1
        self._samples = 0
        self._resampler: tuple[int, Resampler] | None = None
        self._container: Any = None
        try:
            self._container = av.open(str(self._part), 'w', format='mp4', options={'movflags': '+faststart'})
            self._video = self._add_video(preset, quality)
            self._sound = self._container.add_stream('aac', rate=rate)
            self._sound.layout = 'mono'
            self._sound.bit_rate = 96_000
            self._container.start_encoding()
        except (av.error.FFmpegError, OSError) as error:
            raise self._failed(error) from error

    def _add_video(self, preset: str, quality: int) -> Any:
        encoder = next((name for name in ENCODERS if name in av.codec.codecs_available), None)
        if encoder is None:
            raise Missing('no H.264 encoder in the installed av package: pip install --only-binary :all: av')
        stream = self._container.add_stream(encoder, rate=Fraction(self.fps).limit_denominator(1001))
        stream.width, stream.height, stream.pix_fmt = self.width, self.height, 'yuv420p'
        stream.codec_context.time_base = Fraction(1, CLOCK)
        stream.time_base = Fraction(1, CLOCK)
        stream.codec_context.color_range = LIMITED
        for name in ('colorspace', 'color_primaries', 'color_trc'):
            setattr(stream.codec_context, name, BT709)
        if encoder == 'libx264':
            stream.options = {'preset': preset, 'crf': str(quality)}
        else:
            stream.bit_rate = int(self.width * self.height * self.fps * 0.1)
        return stream

    @property
    def image_seconds(self) -> float:
        """Time the next image without a stamp gets, in seconds."""
        return self._images / self.fps

    @property
    def sound_seconds(self) -> float:
        """How much sound was given, in seconds."""
        return self._samples / self.rate

    def image(self, rgb: NDArray[np.uint8], stamp: float | None = None) -> None:
        """Add an image: uint8 [height, width, 3] RGB of the movie's size; stamp in seconds from the start.

        Without a stamp it follows the last one at the movie's rate. One not later than the last is dropped.
        """
        if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.shape[0] < self.height or rgb.shape[1] < self.width:
            raise BadInput(f'the movie takes {self.width}x{self.height} RGB images, not {rgb.shape}')
        tick = round((self._images / self.fps if stamp is None else stamp) * CLOCK)
        self._images += 1
        if tick <= self._last_tick:
            return
        self._last_tick = tick
        picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb[:self.height, :self.width]), format='rgb24')
        picture = picture.reformat(format='yuv420p', dst_colorspace=BT709, dst_color_range=LIMITED)
        picture.pts, picture.time_base = tick, Fraction(1, CLOCK)
        self._write(self._video, picture)

    def sound(self, audio: Audio, stamp: float | None = None) -> None:
        """Add sound after what was given so far, or at `stamp` seconds with silence before it."""
        if stamp is not None and (gap := round(stamp * self.rate) - self._samples) > 0:
            self._add(np.zeros(gap, np.float32))
        if self._resampler is None or self._resampler[0] != audio.rate:
            self._flush_resampler()
            self._resampler = (audio.rate, Resampler(audio.rate, self.rate))
        self._add(self._resampler[1](audio.mono().samples))

    def close(self) -> None:
        """Complete the file and give it its name."""
        if self._container is None:
            return
        self._flush_resampler()
        self._write(self._video, None)
        self._write(self._sound, None)
        try:
            self._container.close()
            self._container = None
            with self._part.open('rb+') as file:
                os.fsync(file.fileno())  # a full disk may only show here
            with av.open(str(self._part)) as written:
                if not written.duration and (self._images or self._samples):
                    raise OSError('the file is incomplete')
            os.replace(self._part, self.path)
        except (av.error.FFmpegError, OSError) as error:
            raise self._failed(error) from error

    def abort(self) -> None:
        """Give up: nothing is left on the disk."""
        container, self._container = self._container, None
        if container is not None:
            with contextlib.suppress(av.error.FFmpegError, OSError):  # the first error is the one that counts
                container.close()
        self._part.unlink(missing_ok=True)

    def _flush_resampler(self) -> None:
        if self._resampler is not None:
            rest = self._resampler[1](np.zeros(0, np.float32), last=True)
            self._resampler = None
            self._add(rest)

    def _add(self, samples: NDArray[np.float32]) -> None:
        """Encode mono samples at the movie's rate, a second at a time."""
        for start in range(0, len(samples), self.rate):
            piece = np.clip(np.nan_to_num(samples[start:start + self.rate]), -1, 1)
            sound = av.AudioFrame.from_ndarray(np.ascontiguousarray(piece[None], np.float32), format='fltp',
                                               layout='mono')
            sound.sample_rate, sound.pts, sound.time_base = self.rate, self._samples, Fraction(1, self.rate)
            self._samples += len(piece)
            self._write(self._sound, sound)

    def _write(self, stream: Any, piece: Any) -> None:
        if self._container is None:
            raise BadInput(f'{self.path} is already closed')
        try:
            for packet in stream.encode(piece):
                self._container.mux(packet)
        except (av.error.FFmpegError, OSError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> BadInput:
        with contextlib.suppress(OSError):  # a read-only folder can't be cleaned, and nothing was written there
            self.abort()
        reason = getattr(error, 'strerror', None) or str(error)
        return BadInput(f'{self.path} can\'t be written ({reason}): choose another folder or free some space')

    def __enter__(self) -> Movie:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()
