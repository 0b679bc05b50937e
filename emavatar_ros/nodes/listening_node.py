"""Hears who speaks and what they say: microphone/audio -> turn, transcript.

Owns the turn: a visitor who begins to speak opens a new one. Turn ids that others open (a typed line) are seen on the
same topic, so that ids never repeat.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from emavatar_ros.listening.events import Event, MicrophoneSilent, Partial, SpeechDropped, SpeechStarted, Utterance
from emavatar_ros.listening.listener import ListeningConfig, create
from emavatar_ros.media.audio import Resampler
from emavatar_ros.msg import AudioChunk, Playback, Transcript, Turn
from emavatar_ros.nodes.base import LATCHED, RELIABLE, SOUND, EmavatarNode
from emavatar_ros.nodes.convert import audio, seconds, stamp
from emavatar_ros.srv import SetListening

RATE = 16000
ANYBODY = 'anonymous_speaker'
ECHO_S = 0.4
"""How long the avatar's own voice may still come back after it stopped (room and device delay)."""


class ListeningNode(EmavatarNode):
    """microphone/audio, playback -> turn, transcript."""

    name = 'listening'
    Config = ListeningConfig

    def configure(self) -> None:
        self.listener = create(self.config)
        self.facts['model'] = self.listener.recogniser.name
        self.publish_turn = self.publisher(Turn, 'turn', LATCHED)
        self.publish_transcript = self.publisher(Transcript, 'transcript', RELIABLE)
        self.subscribe(AudioChunk, 'microphone/audio', self._hear, SOUND)
        self.subscribe(Playback, 'playback', self._played, RELIABLE)
        self.subscribe(Turn, 'turn', self._count, LATCHED, at_once=True)
        self.create_service(SetListening, 'set_listening', self._set_listening)
        self.turn_id = 0
        self.listening = True
        self.resampler: tuple[int, Resampler] | None = None
        self.deaf_until = 0.0

    def _hear(self, chunk: AudioChunk) -> None:
        sound = audio(chunk).mono()
        if self.resampler is None or self.resampler[0] != sound.rate:
            self.resampler = (sound.rate, Resampler(sound.rate, RATE))
        samples = self.resampler[1](sound.samples)
        begin = seconds(chunk.header.stamp)
        if not self.listening or begin < self.deaf_until:
            # Without an echo canceller the avatar would answer itself; it hears silence while it speaks.
            samples = np.zeros_like(samples)
        for event in self.listener.feed(samples, begin):
            self._tell(event)

    def _played(self, playback: Playback) -> None:
        if self.config.while_speaking == 'ignore' and playback.state in (Playback.PLAYING, Playback.WAITING):
            self.deaf_until = seconds(playback.header.stamp) + playback.queued + ECHO_S
        elif playback.state in (Playback.FINISHED, Playback.STOPPED):
            self.deaf_until = min(self.deaf_until, seconds(playback.header.stamp) + ECHO_S)

    def _tell(self, event: Event) -> None:
        match event:
            case SpeechStarted():
                self.turn_id += 1
                self._turn(Turn.VISITOR, event.stamp, event.stamp, 'speech began')
            case Partial():
                self._transcript(event, final=False)
            case Utterance():
                self._transcript(event, final=True)
                said = bool(event.text)
                self._turn(Turn.AVATAR if said else Turn.DROPPED, event.start, event.end,
                           'the visitor finished' if said else 'no words were heard')
                self.trace(self.turn_id, 'listening', 'done', event.end, self.facts['model'])
            case SpeechDropped():
                self._turn(Turn.DROPPED, event.start, event.end, event.reason)
            case MicrophoneSilent():
                self.problem = event.reason

    def _turn(self, state: int, start: float, end: float, reason: str) -> None:
        message = Turn(turn_id=self.turn_id, state=state, person_id=ANYBODY, start=stamp(start), end=stamp(end),
                       reason=reason)
        message.header.stamp = stamp(self.now())
        self.publish_turn(message)

    def _transcript(self, event: Partial | Utterance, final: bool) -> None:
        message = Transcript(turn_id=self.turn_id, person_id=ANYBODY, text=event.text, final=final,
                             language=event.language, confidence=float(event.confidence), start=stamp(event.start),
                             end=stamp(event.end), model=self.facts['model'])
        if isinstance(event, Utterance) and event.embedding is not None:
            message.embedding = event.embedding
        message.header.stamp = message.end
        self.publish_transcript(message)

    def _count(self, turn: Turn) -> None:
        self.turn_id = max(self.turn_id, turn.turn_id)

    def _set_listening(self, request: SetListening.Request,
                       response: SetListening.Response) -> SetListening.Response:
        self.do(partial(setattr, self, 'listening', request.listening))
        response.success = True
        response.message = 'listening' if request.listening else 'not listening'
        return response
