"""What the voice shows: each utterance's sound and the recogniser's encoder states -> candidates."""

from __future__ import annotations

import numpy as np

from emavatar_ros.media.audio import Audio
from emavatar_ros.msg import AudioChunk, EmotionCandidate, Transcript
from emavatar_ros.nodes.base import RELIABLE, EmavatarNode
from emavatar_ros.nodes.convert import audio, candidate_message, seconds
from emavatar_ros.nodes.settings import VoiceEmotionSettings
from emavatar_ros.settings import chosen

SILENCE = Audio(np.zeros(0, np.float32), 16000)


class VoiceEmotionNode(EmavatarNode):
    """utterance, transcript -> candidates."""

    name = 'voice_emotion'
    Config = VoiceEmotionSettings

    def configure(self) -> None:
        module, settings = chosen(self.config, 'backend')
        self.view = module.create(settings)
        self.sound: tuple[int, Audio] = (0, SILENCE)
        self.waiting: Transcript | None = None
        self.publish = self.publisher(EmotionCandidate, 'candidates', RELIABLE)
        self.subscribe(AudioChunk, 'utterance', self._keep, RELIABLE)
        self.subscribe(Transcript, 'transcript', self._judge, RELIABLE)

    def forget(self) -> None:
        self.view.forget()
        self.sound, self.waiting = (0, SILENCE), None

    def _keep(self, utterance: AudioChunk) -> None:
        """The turn's sound. It and its transcript come by different topics, in either order."""
        self.sound = (utterance.sequence, audio(utterance))
        if self.waiting is not None:
            self._judge(self.waiting)

    def _judge(self, transcript: Transcript) -> None:
        if not transcript.final:
            return
        spoken = len(transcript.embedding) > 0
        if spoken and self.sound[0] != transcript.turn_id:
            self.waiting = transcript
            return
        self.waiting = None
        began = self.now()
        start, end = seconds(transcript.start), seconds(transcript.end)
        embedding = np.asarray(transcript.embedding, dtype=np.float32)
        candidate = self.view.hear(self.sound[1] if spoken else SILENCE, embedding if spoken else None)
        self.publish(candidate_message(candidate, transcript.turn_id, transcript.person_id, start, end))
        self.trace(transcript.turn_id, 'voice', 'done', began, candidate.model)
