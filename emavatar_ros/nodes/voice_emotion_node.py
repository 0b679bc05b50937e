"""What the voice shows: each utterance's sound and the recogniser's encoder states -> candidates.

While somebody speaks, every partial transcript gives a running candidate (turn 0): what the voice shows so far. It is
no judgement of the turn and teaches the view nothing about the person; the final transcript asks for both.
"""

from __future__ import annotations

import numpy as np

from emavatar_ros.media.audio import Audio
from emavatar_ros.msg import AudioChunk, EmotionCandidate, Transcript
from emavatar_ros.nodes.base import RELIABLE, EmavatarNode
from emavatar_ros.nodes.convert import audio, candidate_message, seconds
from emavatar_ros.nodes.settings import VoiceEmotionSettings
from emavatar_ros.settings import chosen

SILENCE = Audio(np.zeros(0, np.float32), 16000)
RUNNING = 0
"""The turn of a candidate about an utterance that still goes on."""


class VoiceEmotionNode(EmavatarNode):
    """utterance, utterance_so_far, transcript -> candidates."""

    name = 'voice_emotion'
    Config = VoiceEmotionSettings

    def configure(self) -> None:
        module, settings = chosen(self.config, 'backend')
        self.view = module.create(settings)
        self.forget()
        self.publish = self.publisher(EmotionCandidate, 'candidates', RELIABLE)
        self.subscribe(AudioChunk, 'utterance', self._keep, RELIABLE)
        self.subscribe(AudioChunk, 'utterance_so_far', self._keep_so_far, RELIABLE)
        self.subscribe(Transcript, 'transcript', self._read, RELIABLE)

    def forget(self) -> None:
        self.view.forget()
        # A sound and its transcript come by different topics, in either order.
        self.sound: AudioChunk | None = None
        self.waiting: Transcript | None = None
        self.sound_so_far: AudioChunk | None = None
        self.text_so_far: Transcript | None = None

    def _keep(self, utterance: AudioChunk) -> None:
        self.sound = utterance
        self._judge()

    def _keep_so_far(self, sound: AudioChunk) -> None:
        self.sound_so_far = sound
        self._judge_so_far()

    def _read(self, transcript: Transcript) -> None:
        if transcript.final:
            self.waiting = transcript
            self.sound_so_far = self.text_so_far = None
            self._judge()
        else:
            self.text_so_far = transcript
            self._judge_so_far()

    def _judge(self) -> None:
        """The turn's own candidate, once its transcript and its sound are there; a typed line has no sound."""
        transcript, sound = self.waiting, SILENCE
        if transcript is None:
            return
        spoken = len(transcript.embedding) > 0
        if spoken:
            if self.sound is None or self.sound.sequence != transcript.turn_id:
                return
            sound = audio(self.sound)
        self.waiting = None
        began = self.now()
        candidate = self.view.hear(sound, np.asarray(transcript.embedding, np.float32) if spoken else None)
        self.publish(candidate_message(candidate, transcript.turn_id, transcript.person_id,
                                       seconds(transcript.start), seconds(transcript.end)))
        self.trace(transcript.turn_id, 'voice', 'done', began, candidate.model)

    def _judge_so_far(self) -> None:
        """A running candidate, once a partial transcript and a sound of the same turn are there."""
        transcript, sound = self.text_so_far, self.sound_so_far
        if transcript is None or sound is None or sound.sequence != transcript.turn_id:
            return
        self.text_so_far = self.sound_so_far = None
        if len(transcript.embedding):
            candidate = self.view.hear(audio(sound), np.asarray(transcript.embedding, np.float32), final=False)
            self.publish(candidate_message(candidate, RUNNING, transcript.person_id,
                                           seconds(transcript.start), seconds(transcript.end)))
