"""Reads recordings: sound, video and still pictures of any usual kind, whatever a phone or a studio made of them.

FFmpeg (through PyAV) does the decoding. A file is handed to it as an open file, never as a name, and no protocol
is allowed, so a playlist or a name with special signs can't make it open anything else. What can't be used raises
BadInput with one sentence that names the file. Time 0 is the start of the recording, the same for its sound and
its images. Nothing here keeps state between calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import av
import av.error
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import BadInput
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.declip import declip

LONGEST: Final = 600.0
"""Longest recording taken, in seconds: a turn is one utterance, ten minutes are a mistake."""
MOST_SAMPLES: Final = 120_000_000
"""Most samples of all channels together (480 MB as float32)."""
MOST_PIXELS: Final = 100_000_000
"""Largest picture: 8K has 33 million pixels, a decompression bomb has more than this."""
SMALLEST: Final = 16
"""Fewest pixels a side a picture needs to show anything."""
SELF_DELIMITING: Final = frozenset({'mp3', 'aac', 'ac3', 'eac3', 'amr', 'loas', 'mpegts', 'h264', 'hevc', 'm4v'})
"""Formats whose stated length is a guess from the bit rate, so that it can't tell whether the end is missing."""
MEDIA_ERRORS: Final = (av.error.FFmpegError, EOFError, ValueError, IndexError)


@dataclass(frozen=True)
class Image:
    """One image of a video. pixels: uint8 [height, width, 3], RGB; stamp: seconds from the start of the recording."""

    pixels: NDArray[np.uint8]
    stamp: float


def read_audio(path: str | Path, longest_seconds: float = LONGEST) -> Audio:
    """The sound of a file as it was recorded: float32 in [-1, 1], [n] for one channel, else [n, channels].

    Samples that are no numbers become 0; peaks cut off at full scale are rounded; what goes beyond 1 is scaled down as
    a whole. Raises BadInput when the file is missing, cut off, broken, silent for lack of a sound track, has no samples
    that are numbers, or is longer than `longest_seconds`.
    """
    with _opened(path) as container:
        stream = next((s for s in container.streams.audio if s.codec_context is not None), None)
        if stream is None:
            raise BadInput(f'{path} has no sound' + (' of a kind that can be read' if container.streams.audio else ''))
        _check_riff(Path(path))
        _check_length(path, _declared(container, stream), longest_seconds)
        stream.thread_type = 'AUTO'
        pieces: list[NDArray[np.float32]] = []
        rate = channels = total = broken = 0
        first: float | None = None
        for decoded in _decode(container, stream):
            if decoded is None:
                broken += 1
                continue
            piece = _floats(decoded)
            if first is None and len(piece):
                rate, channels, first = decoded.sample_rate, piece.shape[1], decoded.time
            if piece.shape[1] != channels or decoded.sample_rate != rate:
                raise BadInput(f'{path} changes its sampling rate or channels midway: convert it first')
            pieces.append(piece)
            total += len(piece)
            _check_length(path, total / rate, longest_seconds)
            if total * channels > MOST_SAMPLES:
                raise BadInput(f'{path} holds more samples than fit: give a shorter piece or fewer channels')
        _check_whole(path, container, stream, total / rate if rate else 0.0, broken, len(pieces))
        if not total:
            raise BadInput(f'{path} has a sound track without any samples')
        late = round(((first or 0.0) - _start(container)) * rate) if len(container.streams.video) else 0
    samples = np.concatenate(pieces)
    if 0 < late <= longest_seconds * rate:  # the microphone started after the camera: keep them in step
        samples = np.concatenate([np.zeros((late, channels), np.float32), samples])
    if not np.isfinite(samples).any():
        raise BadInput(f'{path} has no sound: none of its samples is a number')
    samples = np.nan_to_num(samples, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    samples = np.stack([declip(channel) for channel in samples.T], axis=1)
    peak = float(np.abs(samples).max())
    if peak > 1:
        samples /= peak
    return Audio(samples[:, 0] if channels == 1 else samples, rate)


class Video:
    """A recording that may have images. fps: images/s on average, 0 for a still picture; seconds: its length, 0 for
    a still picture; width, height: px as shown (rotated, scaled); has_images, has_audio: what is in it."""

    def __init__(self, path: Path, longest: int, longest_seconds: float) -> None:
        self.path = path
        self.longest = longest
        self.fps = self.seconds = 0.0
        self.width = self.height = self.count = 0
        with _opened(path) as container:
            self.has_audio = bool(len(container.streams.audio))
            stream = _images_of(container)
            self.has_images = stream is not None
            if stream is None:
                if not self.has_audio:
                    raise BadInput(f'{path} has neither images nor sound')
                _check_length(path, _declared(container, container.streams.audio[0]), longest_seconds)
                self.seconds = _declared(container, container.streams.audio[0])
                return
            _check_size(path, stream.width, stream.height)
            _check_length(path, _declared(container, stream), longest_seconds)
            stamps, end = _packet_times(container, stream)
            self.count = len(stamps)
            length = end - min(stamps) if stamps else 0.0
            _check_length(path, length, longest_seconds)
            if self.count > 1 or self.has_audio:
                _check_whole(path, container, stream, length, 0, self.count)
                self.seconds = max(length, 0.0)
                self.fps = self.count / length if length > 0 else 0.0
        first = next(self.images(), None)
        if first is None:
            raise BadInput(f'{path} has no image that can be decoded')
        self.height, self.width = first.pixels.shape[:2]

    @property
    def still(self) -> bool:
        """True for a single picture."""
        return self.has_images and self.fps == 0.0

    def images(self, most: float | None = None) -> Iterator[Image]:
        """The images in the order shown, upright, at most `longest` px a side, each with its own time.

        `most`: at most about so many images/s; those between are decoded but not converted. May be called again;
        each call reads from the start. A damaged image is left out.
        """
        if not self.has_images:
            return
        with _opened(self.path) as container:
            stream = _images_of(container)
            assert stream is not None
            stream.thread_type = 'AUTO'
            start = _start(container)
            last = due = -float('inf')
            for number, decoded in enumerate(d for d in _decode(container, stream) if d is not None):
                stamp = number / (self.fps or 25.0) if decoded.time is None else max(decoded.time - start, 0.0)
                if stamp <= last or stamp < due:
                    continue
                last = stamp
                if most is not None:
                    # the next one due on a regular grid, so that 30 thinned to 25 stays 25 on average
                    due = max(due + 1 / most, stamp) if due > 0 else stamp + 0.999 / most
                yield Image(_upright(decoded, self.longest), stamp)


def open_video(path: str | Path, longest: int = 1280, longest_seconds: float = LONGEST) -> Video:
    """A video, a still picture, or a recording with sound only (has_images False), checked so that reading works.

    `longest`: images are scaled down to at most so many px a side. Raises BadInput as `read_audio` does, and for
    a picture smaller than 16 px a side or larger than 100 million px.
    """
    return Video(Path(path), longest, longest_seconds)


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    """The open container; whatever FFmpeg or the file system complains about becomes BadInput."""
    path = Path(path)
    if path.is_dir():
        raise BadInput(f'{path} is a folder, not a recording')
    if not path.exists():
        raise BadInput(f'{path} does not exist')
    if not path.is_file():
        raise BadInput(f'{path} is not an ordinary file')
    try:
        size = path.stat().st_size
        if not size:
            raise BadInput(f'{path} is empty')
        with path.open('rb') as file, av.open(file, mode='r', container_options={'protocol_whitelist': 'none'},
                                              metadata_errors='replace') as container:
            yield container
    except MEDIA_ERRORS as error:
        raise BadInput(f'{path} is not a recording that can be read, or it is damaged or cut off') from error
    except MemoryError as error:
        raise BadInput(f'{path} is too large for the memory here') from error
    except OSError as error:
        raise BadInput(f'{path} can\'t be read: {error.strerror or error}') from error


def _images_of(container: Any) -> Any:
    """The stream of moving images; the cover picture of a song is none."""
    covers = av.stream.Disposition.attached_pic
    known = (stream for stream in container.streams.video if stream.codec_context is not None)
    return next((stream for stream in known if not stream.disposition & covers), None)


def _decode(container: Any, stream: Any) -> Iterator[Any]:
    """Decoded pieces in order; None where a packet was damaged."""
    for packet in container.demux(stream):
        try:
            yield from packet.decode()
        except (av.error.InvalidDataError, av.error.EOFError):
            yield None


def _floats(decoded: Any) -> NDArray[np.float32]:
    """A decoded piece of sound as float32 [n, channels] in [-1, 1]."""
    data = decoded.to_ndarray()
    channels = decoded.layout.nb_channels
    data = data.T if decoded.format.is_planar else data.reshape(-1, channels)
    if data.dtype == np.uint8:
        return np.asarray((data.astype(np.float32) - 128) / 128, np.float32)
    if np.issubdtype(data.dtype, np.integer):
        return np.asarray(data / -float(np.iinfo(data.dtype).min), np.float32)
    return np.asarray(data, np.float32)


def _upright(decoded: Any, longest: int) -> NDArray[np.uint8]:
    """RGB of a decoded image, scaled to `longest` and turned as its rotation flag says."""
    scale = min(1.0, longest / max(decoded.width, decoded.height))
    width, height = (max(1, round(side * scale)) for side in (decoded.width, decoded.height))
    rgb = decoded.reformat(width=width, height=height, format='rgb24', interpolation='AREA').to_ndarray()
    turns = round(decoded.rotation / 90) % 4  # quarter turns, counter-clockwise
    return np.ascontiguousarray(np.rot90(rgb, turns), dtype=np.uint8)


def _packet_times(container: Any, stream: Any) -> tuple[list[float], float]:
    """Times at which images are shown, without decoding them, and when the last one ends, in seconds."""
    stamps: list[float] = []
    end = 0.0
    step = float(1 / stream.average_rate) if stream.average_rate else 0.0
    for packet in container.demux(stream):
        if packet.size and packet.pts is not None:
            stamp = float(packet.pts * stream.time_base)
            stamps.append(stamp)
            end = max(end, stamp + (float(packet.duration * stream.time_base) if packet.duration else step))
    return stamps, end


def _start(container: Any) -> float:
    """Time of the recording's earliest stream on its own clock, in seconds."""
    return container.start_time / av.time_base if container.start_time is not None else 0.0


def _declared(container: Any, stream: Any) -> float:
    """Length the file states for this stream, in seconds; 0 when it states none."""
    if stream.duration is not None and stream.time_base is not None:
        return float(stream.duration * stream.time_base)
    return container.duration / av.time_base if container.duration and len(container.streams) == 1 else 0.0


def _check_length(path: str | Path, seconds: float, longest: float) -> None:
    if seconds > longest:
        raise BadInput(f'{path} is longer than {longest:g} s: give the part that counts')


def _check_size(path: str | Path, width: int, height: int) -> None:
    if not width or not height:
        raise BadInput(f'{path} is not a picture that can be read, or it is damaged or cut off')
    if min(width, height) < SMALLEST:
        raise BadInput(f'{path} shows {width}x{height} px: a picture needs at least {SMALLEST} px a side')
    if width * height > MOST_PIXELS:
        raise BadInput(f'{path} shows {width}x{height} px: scale it below {MOST_PIXELS // 1_000_000} million px')


def _check_whole(path: str | Path, container: Any, stream: Any, seconds: float, broken: int, good: int) -> None:
    """BadInput when much less could be read than the file states, or most of it is damaged."""
    declared = _declared(container, stream)
    short = declared - seconds > max(0.25, 0.03 * declared)
    if (short and not set(container.format.name.split(',')) & SELF_DELIMITING) or broken > good:
        raise BadInput(f'{path} is damaged or cut off: {seconds:.1f} of {declared:.1f} s can be read')


def _check_riff(path: Path) -> None:
    """BadInput for a .wav that ends before its header says; FFmpeg takes the file's length instead and says nothing."""
    with path.open('rb') as file:
        head = file.read(12)
        if head[:4] != b'RIFF' or head[8:] != b'WAVE':
            return
        while len(part := file.read(8)) == 8:
            size = int.from_bytes(part[4:], 'little')
            if part[:4] == b'data':
                left = path.stat().st_size - file.tell()
                # a size around 2 or 4 GB is what programs write that don't know the length yet
                if left < size - max(0.03 * size, 4096) and size < 0x7FFF0000:
                    raise BadInput(f'{path} is cut off: {left} of {size} bytes of sound are there')
                return
            file.seek(size + size % 2, 1)
