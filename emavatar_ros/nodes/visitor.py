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
from emavatar_ros.language import guess
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
from emavatar_ros.nodes.base import ANYBODY, LATCHED, PICTURE, RELIABLE, SOUND
from emavatar_ros.nodes.convert import audio_chunk, seconds, stamp
from emavatar_ros.stage.activity import answers

CHUNK_S = 0.064
ROOM = 3e-4
"""Amplitude of the room's noise while the visitor is silent: a microphone that gives only zeros is a broken one."""
QUIET_S = 8.0
"""When no turn has begun so long after a recording's end, nobody was heard to speak in it."""
DROPPED_S = 3.0
"""A turn dropped so long ago gets no reply, unless an earlier one is still owed."""
MATCH_S = 5.0
"""Longest wait for the graph to listen to what is typed."""


class Unheard(Unavailable):
    """Nobody was heard to speak in what was played."""


@dataclass
class Seen:
    """What came back for one turn, in the order it came; times are s on the wall clock."""

    turn_id: int = 0
    transcript: Transcript | None = None
    emotion: UserEmotion | None = None
    script: CompositeScript | None = None
    speech: list[SpeechChunk] = field(default_factory=list)
    traces: list[TurnTrace] = field(default_factory=list)
    first_sound: float | None = None
    """Of the reply, or of an acknowledgement before it."""
    first_sample: float | None = None
    last_sample: float | None = None
    dropped: str = ''
    dropped_at: float = 0.0
    renderer: str = ''

    @property
    def answered(self) -> bool:
        """The reply was played to its end."""
        return self.script is not None and self.last_sample is not None

    @property
    def owed(self) -> bool:
        """Words were heard, and no reply to them was."""
        return self.transcript is not None and bool(self.transcript.text) and self.last_sample is None


def settled(turns: dict[int, Seen], before: int, now: float) -> bool:
    """Whether no reply to the turns after `before` may come any more, at `now` (s on the monotonic clock).

    A turn that is dropped, a cough or a door, may be given the reply to the turn it interrupted.
    """
    mine = [seen for number, seen in sorted(turns.items()) if number > before]
    if not mine or mine[-1].script is not None:
        return bool(mine) and mine[-1].answered
    return bool(mine[-1].dropped) and now - mine[-1].dropped_at >= DROPPED_S and not any(seen.owed for seen in mine)


def newest(turns: dict[int, Seen], before: int) -> Seen:
    """The newest turn after `before` that was answered, else the newest; there must be one.

    What is answered under the number of a dropped turn was heard and felt in an earlier one, which is filled in.
    """
    mine = [seen for number, seen in sorted(turns.items(), reverse=True) if number > before]
    found = next((seen for seen in mine if seen.answered), mine[0])
    if found.script is not None:
        known = [seen for seen in mine if seen.turn_id <= found.turn_id]
        found.transcript = next((seen.transcript for seen in known if seen.transcript and seen.transcript.text),
                                found.transcript)
        found.emotion = next((seen.emotion for seen in known if seen.emotion), None)
    return found


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
        self._typed = self.node.create_publisher(Transcript, 'typed', RELIABLE)
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
        nothing came back in time, Unheard when nobody was heard to speak.
        """
        before = self._current
        over = threading.Event()
        looking = threading.Thread(target=self._show, args=(video, images_per_s, over.is_set), daemon=True)
        looking.start()
        try:
            end = self._talk(audio, before, wait)
        finally:
            over.set()
            looking.join(2.0)
        with self._changed:
            if self._current == before:
                raise Unheard('nobody was heard to speak')
            seen = newest(self.turns, before)
            if not seen.answered and not self._settled(before):
                raise Unavailable(f'the avatar gave no answer within {wait:.0f} s')
        return seen, end

    def type(self, text: str, wait: float, expected: str = 'en') -> Seen:
        """Hand the graph a typed line and wait for its reply; Unavailable after `wait` s.

        expected: the language (BCP 47) it is in unless it looks like another.
        """
        wait_until(time.monotonic() + MATCH_S, lambda: self._typed.get_subscription_count() > 0)
        before, now = self._current, stamp(time.time())
        line = Transcript(person_id=ANYBODY, text=text, final=True, confidence=1.0,
                          language=guess(text, expected), start=now, end=now, model='typed')
        line.header.stamp = now
        self._typed.publish(line)

        def mine() -> Seen | None:
            """The turn that the graph gave the line."""
            return next((seen for number, seen in sorted(self.turns.items()) if number > before
                         and seen.transcript is not None and seen.transcript.model == 'typed'), None)

        def over() -> bool:
            seen = mine()
            return seen is not None and (seen.answered or bool(seen.dropped))

        with self._changed:
            if not self._changed.wait_for(over, wait):
                raise Unavailable(f'the avatar gave no answer within {wait:.0f} s')
            seen = mine()
            assert seen is not None
        return seen

    def _settled(self, before: int) -> bool:
        with self._changed:
            return settled(self.turns, before, time.monotonic())

    def _over(self, before: int, since: float, wait: float) -> bool:
        """Whether nothing more is to be waited for, `since` s after the recording's end."""
        limit = wait if self._current > before else min(wait, QUIET_S)
        return since > limit or self._settled(before)

    def _talk(self, audio: Audio | None, before: int, wait: float) -> float:
        """Sound in real time: the recording, then the room, until it is over; gives the recording's end (s)."""
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
            if first > len(samples) and self._over(before, time.time() - end, wait):
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
            seen = self._of(turn.turn_id)
            if turn.state == Turn.DROPPED:
                seen.dropped, seen.dropped_at = turn.reason or 'no speech', time.monotonic()

    def _heard(self, transcript: Transcript) -> None:
        if transcript.final:
            self._of(transcript.turn_id).transcript = transcript

    def _felt(self, emotion: UserEmotion) -> None:
        if emotion.turn_id:
            self._of(emotion.turn_id).emotion = emotion

    def _written(self, script: CompositeScript) -> None:
        if answers(script.script_id):
            self._of(script.turn_id).script = script

    def _spoken(self, chunk: SpeechChunk) -> None:
        if answers(chunk.script_id):
            self._of(chunk.turn_id).speech.append(chunk)

    def _played(self, playback: Playback) -> None:
        if playback.turn_id and playback.state == Playback.PLAYING:
            seen = self._of(playback.turn_id)
            began = seconds(playback.header.stamp) - playback.position
            seen.first_sound = seen.first_sound or began
            if answers(playback.script_id):
                seen.first_sample = seen.first_sample or began
        elif not answers(playback.script_id):
            return
        # One that was stopped before a word of it was heard is no answer: it may be given again.
        elif playback.turn_id and (playback.state == Playback.FINISHED
                                   or (playback.state == Playback.STOPPED and playback.heard)):
            seen = self._of(playback.turn_id)
            seen.last_sample = seen.last_sample or seconds(playback.header.stamp)

    def _traced(self, trace: TurnTrace) -> None:
        self._of(trace.turn_id).traces.append(trace)

    def _acting(self, state: AvatarState) -> None:
        self.avatar = state
