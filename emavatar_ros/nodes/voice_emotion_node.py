"""What the voice shows: microphone/audio and the recogniser's encoder states -> candidates."""

from __future__ import annotations

from collections import deque

import numpy as np

from emavatar_ros.media.audio import Audio, Resampler
from emavatar_ros.msg import AudioChunk, EmotionCandidate, Transcript
from emavatar_ros.nodes.base import RELIABLE, SOUND, EmavatarNode
from emavatar_ros.nodes.convert import audio, candidate_message, seconds
from emavatar_ros.perception.voice import Config, create

RATE = 16000
KEPT_S = 40.0
"""How much sound is remembered: longer than the longest utterance."""


class VoiceEmotionNode(EmavatarNode):
    """microphone/audio, transcript -> candidates."""

    name = 'voice_emotion'
    Config = Config

    def configure(self) -> None:
        self.view = create(self.config)
        self.heard: deque[tuple[float, np.ndarray]] = deque()
        self.resampler: tuple[int, Resampler] | None = None
        self.publish = self.publisher(EmotionCandidate, 'candidates', RELIABLE)
        self.subscribe(AudioChunk, 'microphone/audio', self._remember, SOUND)
        self.subscribe(Transcript, 'transcript', self._judge, RELIABLE)

    def forget(self) -> None:
        self.view.forget()
        self.heard.clear()

    def _remember(self, chunk: AudioChunk) -> None:
        sound = audio(chunk).mono()
        if self.resampler is None or self.resampler[0] != sound.rate:
            self.resampler = (sound.rate, Resampler(sound.rate, RATE))
        begin = seconds(chunk.header.stamp)
        self.heard.append((begin, self.resampler[1](sound.samples)))
        while self.heard[0][0] < begin - KEPT_S:
            self.heard.popleft()

    def _judge(self, transcript: Transcript) -> None:
        if not transcript.final:
            return
        began = self.now()
        start, end = seconds(transcript.start), seconds(transcript.end)
        parts = [samples for begin, samples in self.heard if start - 0.05 <= begin <= end]
        sound = Audio(np.concatenate(parts) if parts else np.zeros(0, np.float32), RATE)
        embedding = np.asarray(transcript.embedding, dtype=np.float32)
        candidate = self.view.hear(sound, embedding if len(embedding) else None)
        self.publish(candidate_message(candidate, transcript.turn_id, transcript.person_id, start, end))
        self.trace(transcript.turn_id, 'voice', 'done', began, candidate.model)
