"""Between ROS messages and the rooms' values; nothing here decides anything."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time

from emavatar_ros.emotion.candidate import Candidate, Estimate, Exchange
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.errors import BadInput
from emavatar_ros.media.audio import Audio
from emavatar_ros.msg import (
    AudioChunk,
    CompositeScript,
    EmotionCandidate,
    EmotionQuestion,
    SpeechChunk,
    UserEmotion,
)
from emavatar_ros.planning.script import Beat, ChainOfEmpathy, Script
from emavatar_ros.voice.speech import Phoneme, Speech


def stamp(seconds: float) -> Time:
    """Seconds as a ROS time; before 0 is 0."""
    nanoseconds = max(0, round(seconds * 1e9))
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def seconds(time: Any) -> float:
    """A ROS time in seconds."""
    return float(time.sec) + time.nanosec * 1e-9


def audio(chunk: AudioChunk) -> Audio:
    """The chunk's sound, float32 [n] or [n, channels]; BadInput when it doesn't say how to read it."""
    if len(chunk.data) % {AudioChunk.F32LE: 4, AudioChunk.S16LE: 2}.get(chunk.encoding, 1):
        raise BadInput(f'a sound chunk of {len(chunk.data)} bytes does not divide into {chunk.encoding} samples')
    if chunk.encoding == AudioChunk.F32LE:
        samples = np.frombuffer(chunk.data, dtype='<f4').astype(np.float32)
    elif chunk.encoding == AudioChunk.S16LE:
        samples = np.frombuffer(chunk.data, dtype='<i2').astype(np.float32) / 32768
    else:
        raise BadInput(f'unknown sound encoding {chunk.encoding!r}; use {AudioChunk.S16LE} or {AudioChunk.F32LE}')
    if chunk.channels < 1 or len(samples) % chunk.channels:
        raise BadInput(f'a sound chunk of {len(samples)} samples does not divide into {chunk.channels} channels')
    return Audio(samples if chunk.channels == 1 else samples.reshape(-1, chunk.channels), chunk.sample_rate)


def audio_chunk(samples: np.ndarray, rate: int, at: float, sequence: int, where: str) -> AudioChunk:
    """Float samples [n] or [n, channels] as a 16 bit chunk captured at `at` (s)."""
    whole = np.clip(np.rint(samples * 32767), -32768, 32767).astype('<i2')
    message = AudioChunk(sample_rate=rate, channels=1 if samples.ndim == 1 else samples.shape[1],
                         encoding=AudioChunk.S16LE, sequence=sequence)
    message.data = array('B', whole.tobytes())
    message.header.stamp = stamp(at)
    message.header.frame_id = where
    return message


def candidate_message(candidate: Candidate, turn_id: int, person_id: str, start: float, end: float) -> EmotionCandidate:
    """A candidate with the turn and the stretch of time (s) it speaks about."""
    message = EmotionCandidate(
        turn_id=turn_id, person_id=person_id, view=candidate.view, model=candidate.model, label=candidate.label or '',
        confidence=float(candidate.confidence), valence=float(candidate.valence), arousal=float(candidate.arousal),
        evidence=candidate.evidence, reason=candidate.reason, start=stamp(start), measures=list(candidate.measures),
        values=[float(value) for value in candidate.measures.values()])
    if candidate.distribution is not None:
        message.distribution = np.asarray(candidate.distribution.p, dtype=np.float32)
    message.header.stamp = stamp(end)
    return message


def candidate(message: EmotionCandidate) -> Candidate:
    """The candidate in a message; BadInput when its distribution is none."""
    measures = {name: float(value) for name, value in zip(message.measures, message.values)}
    if not message.label:
        return Candidate.abstain(message.view, message.model, message.reason, measures)
    return Candidate(message.view, message.model, message.label, message.confidence,
                     Distribution.of(message.distribution), message.valence, message.arousal, message.evidence,
                     measures=measures)


def emotion_message(estimate: Estimate, turn_id: int, person_id: str, at: float,
                    candidates: list[EmotionCandidate], latency: float = 0.0, provisional: bool = False) -> UserEmotion:
    """The arbiter's belief with everything it rests on; `at`: capture time of the newest evidence (s)."""
    message = UserEmotion(
        turn_id=turn_id, person_id=person_id, label=estimate.label, confidence=float(estimate.confidence),
        valence=float(estimate.valence), arousal=float(estimate.arousal), conflict=estimate.conflict,
        rounds=estimate.rounds, method=estimate.method, reasons=list(estimate.reasons), provisional=provisional,
        candidates=candidates, latency=latency,
        questions=[EmotionQuestion(round=q.round, question=q.question, answer=q.answer, source=q.source)
                   for q in estimate.questions])
    message.distribution = np.asarray(estimate.distribution.p, dtype=np.float32)
    message.header.stamp = stamp(at)
    return message


def estimate(message: UserEmotion) -> Estimate:
    """The belief in a message."""
    return Estimate(message.label, message.confidence, Distribution.of(message.distribution), message.valence,
                    message.arousal, message.conflict, message.method, tuple(message.reasons),
                    tuple(Exchange(q.round, q.question, q.answer, q.source) for q in message.questions))


def script(message: CompositeScript) -> Script:
    """The composite script in a message."""
    scores = {name: getattr(message, name) or None for name in ('coherence', 'empathy', 'feasibility', 'alignment')}
    chain = ChainOfEmpathy(message.event_scenario, message.user_emotion, message.emotion_cause,
                           message.goal_to_response)
    beats = tuple(Beat(beat.text, beat.instruction, beat.expression) for beat in message.beats)
    composer = 'llm' if message.composer == 'llm' else 'template'
    return Script(beats, message.emotion, message.language, composer, chain, message.complete, message.iterations,
                  scores)


def speech(message: SpeechChunk) -> Speech:
    """The speech in a message."""
    phonemes = tuple(Phoneme(p.symbol, p.start, p.duration) for p in message.phonemes)
    return Speech(Audio(np.asarray(message.samples, dtype=np.float32), message.sample_rate), phonemes, message.text)
