"""A visitor for the graph: plays a recording to it in real time and notes what comes back.

The demo and the turn bench meet the graph through this, so they see exactly what a robot's own camera and microphone
would see: topics, over DDS, from another process.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import Image

from emavatar_ros.errors import Unavailable
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import open_video
from emavatar_ros.media.pace import wait_until
from emavatar_ros.msg import (
    AudioChunk,
    AvatarState,
    CompositeScript,
    Playback,
    SpeechChunk,
    Transcript,
    Turn,
    TurnTrace,
    UserEmotion,
)
from emavatar_ros.nodes.base import LATCHED, PICTURE, RELIABLE, SOUND
from emavatar_ros.nodes.convert import audio_chunk, seconds, stamp

CHUNK_S = 0.064
ROOM = 3e-4
"""Amplitude of the room's noise while the visitor is silent: a microphone that gives only zeros is a broken one."""


@dataclass
class Seen:
    """What came back for one turn, in the order it came; times are s on the wall clock."""

    turn_id: int = 0
    transcript: Transcript | None = None
    emotion: UserEmotion | None = None
    script: CompositeScript | None = None
    speech: list[SpeechChunk] = field(default_factory=list)
    traces: list[TurnTrace] = field(default_factory=list)
    first_sample: float | None = None
    last_sample: float | None = None
    dropped: str = ''
    renderer: str = ''

    @property
    def finished(self) -> bool:
        """The reply was played to its end, or none is owed."""
        return self.last_sample is not None or bool(self.dropped)


class Visitor:
    """Context manager: a node that plays recordings and typed lines to the graph and gathers what each turn gave."""

    def __init__(self) -> None:
        self.turns: dict[int, Seen] = {}
        self.avatar: AvatarState | None = None
        self.states: dict[str, tuple[bool, str]] = {}
        self._changed = threading.Condition()
        self._current = 0

    def __enter__(self) -> Visitor:
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = Node('visitor', context=self._context)
        self._image = self.node.create_publisher(Image, 'camera/image_raw', PICTURE)
        self._audio = self.node.create_publisher(AudioChunk, 'microphone/audio', SOUND)
        self._turn = self.node.create_publisher(Turn, 'turn', LATCHED)
        self._transcript = self.node.create_publisher(Transcript, 'transcript', RELIABLE)
        for kind, topic, callback, qos in (
                (DiagnosticArray, '/diagnostics', self._diagnosed, RELIABLE), (Turn, 'turn', self._floor, LATCHED),
                (Transcript, 'transcript', self._heard, RELIABLE), (UserEmotion, 'user_emotion', self._felt, LATCHED),
                (CompositeScript, 'script', self._written, RELIABLE), (SpeechChunk, 'speech', self._spoken, SOUND),
                (Playback, 'playback', self._played, RELIABLE), (TurnTrace, 'turn_trace', self._traced, RELIABLE),
                (AvatarState, 'avatar_state', self._acting, LATCHED)):
            self.node.create_subscription(kind, topic, self._noting(callback), qos)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._spinner = threading.Thread(target=self._spin, daemon=True)
        self._spinner.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._executor.shutdown(timeout_sec=1.0)
        self._spinner.join(2.0)
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def wait_ready(self, names: Collection[str], timeout: float) -> None:
        """Until all these nodes are active; Unavailable names the ones that aren't after `timeout` s and says why."""
        def ready() -> bool:
            return all(self.states.get(name, (False, ''))[0] for name in names)

        with self._changed:
            if not self._changed.wait_for(ready, timeout):
                late = [f'{name} ({self.states[name][1]})' if name in self.states else f'{name} (not seen)'
                        for name in names if not self.states.get(name, (False, ''))[0]]
                raise Unavailable(f'not ready after {timeout:.0f} s: {", ".join(late)}')

    def play(self, audio: Audio | None, video: Path | None, wait: float,
             images_per_s: float = 15.0) -> tuple[Seen, float]:
        """Play one recording in real time, then be silent until its reply was played or `wait` s have passed.

        Gives what the graph made of it and the wall time (s) of the recording's last sample. Raises Unavailable when
        nothing came back in time.
        """
        before = self._current
        over = threading.Event()
        looking = threading.Thread(target=self._show, args=(video, images_per_s, over.is_set), daemon=True)
        looking.start()
        try:
            end = self._talk(audio, lambda: self._answered(before), wait)
        finally:
            over.set()
            looking.join(2.0)
        seen = self.turns.get(self._current)
        if self._current == before or seen is None or not seen.finished:
            raise Unavailable(f'the avatar gave no answer within {wait:.0f} s')
        return seen, end

    def type(self, text: str, wait: float) -> Seen:
        """Hand the graph a typed line and wait for its reply; Unavailable after `wait` s."""
        self._current += 1
        turn_id = self._current
        self.turns[turn_id] = Seen(turn_id)
        now = stamp(time.time())
        turn = Turn(turn_id=turn_id, state=Turn.AVATAR, person_id='anonymous_speaker', start=now, end=now,
                    reason='a line was typed')
        line = Transcript(turn_id=turn_id, person_id='anonymous_speaker', text=text, final=True, confidence=1.0,
                          start=now, end=now, model='typed')
        turn.header.stamp = line.header.stamp = now
        self._turn.publish(turn)
        self._transcript.publish(line)
        with self._changed:
            if not self._changed.wait_for(lambda: self.turns[turn_id].finished, wait):
                raise Unavailable(f'the avatar gave no answer within {wait:.0f} s')
        return self.turns[turn_id]

    def _answered(self, before: int) -> bool:
        with self._changed:
            return self._current > before and self._of(self._current).finished

    def _talk(self, audio: Audio | None, answered: Callable[[], bool], wait: float) -> float:
        """Sound in real time: the recording, then the room, until answered; gives the recording's end (s)."""
        audio = audio or Audio(np.zeros(16000, np.float32), 16000)
        rate, samples = audio.rate, audio.samples
        size = int(CHUNK_S * rate)
        noise = np.random.default_rng(0)
        start, wall = time.monotonic(), time.time()
        end = wall + audio.seconds
        sequence = 0
        while True:
            first = sequence * size
            chunk = samples[first:first + size]
            if len(chunk) < size:
                room = noise.normal(0, ROOM, (size - len(chunk), *samples.shape[1:])).astype(np.float32)
                chunk = np.concatenate([chunk, room])
            if first > len(samples) and (answered() or time.time() > end + wait):
                return end
            wait_until(start + (first + size) / rate, lambda: False)
            self._audio.publish(audio_chunk(chunk, rate, wall + first / rate, sequence, 'microphone'))
            sequence += 1

    def _show(self, path: Path | None, images_per_s: float, stopped: Callable[[], bool]) -> None:
        """Pictures in real time; the last one stays until stopped."""
        if path is None:
            return
        start, due, last = time.monotonic(), 0.0, None
        for image in open_video(path, longest=640).images():
            if image.stamp < due:
                continue
            due = image.stamp + 0.9 / images_per_s
            if not wait_until(start + image.stamp, stopped):
                return
            last = image.pixels
            self._publish_image(last)
        while last is not None and wait_until(time.monotonic() + 1 / images_per_s, stopped):
            self._publish_image(last)

    def _publish_image(self, pixels: np.ndarray) -> None:
        height, width = pixels.shape[:2]
        message = Image(height=height, width=width, encoding='rgb8', step=3 * width)
        message.header.stamp = stamp(time.time())
        message.header.frame_id = 'camera'
        message.data = array('B', pixels.tobytes())
        self._image.publish(message)

    def _spin(self) -> None:
        with suppress(ExternalShutdownException):
            self._executor.spin()

    def _noting(self, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        def note(message: Any) -> None:
            with self._changed:
                callback(message)
                self._changed.notify_all()
        return note

    def _of(self, turn_id: int) -> Seen:
        return self.turns.setdefault(turn_id, Seen(turn_id))

    def _diagnosed(self, message: DiagnosticArray) -> None:
        for status in message.status:
            active = any(fact.key == 'lifecycle' and fact.value == 'active' for fact in status.values)
            self.states[status.name.rsplit('/', 1)[-1]] = (active, status.message)

    def _floor(self, turn: Turn) -> None:
        if turn.turn_id:
            self._current = max(self._current, turn.turn_id)
            if turn.state == Turn.DROPPED:
                self._of(turn.turn_id).dropped = turn.reason

    def _heard(self, transcript: Transcript) -> None:
        if transcript.final:
            self._of(transcript.turn_id).transcript = transcript

    def _felt(self, emotion: UserEmotion) -> None:
        if emotion.turn_id:
            self._of(emotion.turn_id).emotion = emotion

    def _written(self, script: CompositeScript) -> None:
        self._of(script.turn_id).script = script

    def _spoken(self, chunk: SpeechChunk) -> None:
        self._of(chunk.turn_id).speech.append(chunk)

    def _played(self, playback: Playback) -> None:
        if playback.turn_id and playback.state == Playback.PLAYING:
            seen = self._of(playback.turn_id)
            if seen.first_sample is None:
                seen.first_sample = seconds(playback.header.stamp) - playback.position
        elif playback.turn_id and playback.state in (Playback.FINISHED, Playback.STOPPED):
            seen = self._of(playback.turn_id)
            seen.last_sample = seen.last_sample or seconds(playback.header.stamp)

    def _traced(self, trace: TurnTrace) -> None:
        self._of(trace.turn_id).traces.append(trace)

    def _acting(self, state: AvatarState) -> None:
        self.avatar = state
