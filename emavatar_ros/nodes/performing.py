"""Between the messages of the performing nodes (speech, face, stage) and the rooms' values."""

from __future__ import annotations

from array import array

import numpy as np

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.face.units import HIGHEST, UNITS, FaceState
from emavatar_ros.media.audio import Audio
from emavatar_ros.msg import FaceState as FaceMessage
from emavatar_ros.msg import Phoneme as PhonemeMessage
from emavatar_ros.msg import Playback, SpeechChunk
from emavatar_ros.nodes.convert import seconds, stamp
from emavatar_ros.stage.playout import Chunk, State, Status
from emavatar_ros.voice.speech import Phoneme, Speech


def chunk(message: SpeechChunk) -> Chunk:
    """The speech in a message; BadInput when it can't be played."""
    if not 8000 <= message.sample_rate <= 192_000:
        raise BadInput(f'speech at {message.sample_rate} Hz can not be played: 8000 to 192000 is possible')
    samples = np.array(message.samples, dtype=np.float32)
    if not np.isfinite(samples).all():
        raise BadInput('a chunk of speech holds samples that are no numbers')
    phonemes = tuple(Phoneme(item.symbol, item.start, item.duration) for item in message.phonemes)
    expression = message.expression if message.expression in LABELS else 'neutral'
    return Chunk(message.turn_id, message.script_id, message.chunk, message.last, Audio(samples, message.sample_rate),
                 phonemes, message.text, expression, message.beat)


def chunk_message(speech: Speech | None, rate: int, turn_id: int, script_id: str, number: int, beat: int,
                  expression: str, voice: str) -> SpeechChunk:
    """A stretch of speech as a message; None is the end of the script."""
    message = SpeechChunk(turn_id=turn_id, script_id=script_id, chunk=number, beat=beat, last=speech is None,
                          sample_rate=rate, expression=expression, voice=voice)
    if speech is not None:
        message.sample_rate = speech.audio.rate
        message.samples = array('f', speech.audio.samples.astype(np.float32).tobytes())
        message.phonemes = [PhonemeMessage(symbol=item.symbol, start=item.start, duration=item.duration)
                            for item in speech.phonemes]
        message.text = speech.text
    return message


def status(message: Playback) -> Status:
    """What is played, as a message tells it; the expression is not part of it."""
    return Status(seconds(message.header.stamp), State(message.state), message.turn_id, message.script_id,
                  message.position, message.queued, message.chunk, message.chunk_start, message.heard,
                  message.underruns)


def playback_message(status: Status) -> Playback:
    """What is played."""
    message = Playback(turn_id=status.turn_id, script_id=status.script_id, state=int(status.state),
                       position=float(status.position), queued=float(status.queued), chunk=status.chunk,
                       chunk_start=float(status.chunk_start), heard=status.heard, underruns=status.underruns)
    message.header.stamp = stamp(status.stamp)
    return message


def face(message: FaceMessage) -> FaceState:
    """The face state in a message; BadInput when it holds what is no number."""
    units = np.array(message.units, dtype=np.float32)
    values = (message.roll, message.pitch, message.yaw, message.gaze_yaw, message.gaze_pitch, message.breath)
    if units.shape != (len(UNITS),) or not np.isfinite(units).all() or not np.isfinite(values).all():
        raise BadInput(f'a face state needs {len(UNITS)} units and six angles that are numbers')
    return FaceState(np.clip(units, 0, HIGHEST), values[:3], values[3:5], values[5])


def face_message(state: FaceState, at: float) -> FaceMessage:
    """A face state to be seen at `at` (s)."""
    message = FaceMessage(units=np.clip(state.units, 0, HIGHEST).astype(np.float32), roll=float(state.head[0]),
                          pitch=float(state.head[1]), yaw=float(state.head[2]), gaze_yaw=float(state.gaze[0]),
                          gaze_pitch=float(state.gaze[1]), breath=float(state.breath))
    message.header.stamp = stamp(at)
    return message
