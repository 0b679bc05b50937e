"""Hears who speaks and what they say: microphone/audio -> turn, utterance, transcript.

Owns the turn: a visitor who begins to speak opens a new one. Turn ids that others open (a typed line) are seen on the
same topic, so that ids never repeat.
"""

from __future__ import annotations

from functools import partial

from emavatar_ros.listening.events import (
    Event,
    MicrophoneBack,
    MicrophoneSilent,
    Partial,
    SpeechDropped,
    SpeechEnded,
    SpeechStarted,
    Utterance,
)
from emavatar_ros.listening.listener import ListeningConfig, create
from emavatar_ros.media.audio import Resampler
from emavatar_ros.msg import AudioChunk, Playback, Transcript, Turn
from emavatar_ros.nodes.base import LATCHED, RELIABLE, SOUND, EmavatarNode
from emavatar_ros.nodes.convert import audio, audio_chunk, seconds, stamp
from emavatar_ros.srv import SetListening

RATE = 16000
ANYBODY = 'anonymous_speaker'
ECHO_S = 0.4
"""How long the avatar's own voice may still come back after it stopped (room and device delay)."""


class ListeningNode(EmavatarNode):
    """microphone/audio, playback -> turn, utterance, transcript."""

    name = 'listening'
    Config = ListeningConfig

    def configure(self) -> None:
        self.listener = create(self.config)
        self.facts['model'] = self.listener.recogniser.name
        self.publish_turn = self.publisher(Turn, 'turn', LATCHED)
        self.publish_transcript = self.publisher(Transcript, 'transcript', RELIABLE)
        self.publish_utterance = self.publisher(AudioChunk, 'utterance', RELIABLE)
        self.subscribe(AudioChunk, 'microphone/audio', self._hear, SOUND)
        self.subscribe(Playback, 'playback', self._played, RELIABLE)
        self.subscribe(Turn, 'turn', self._count, LATCHED, at_once=True)
        self.create_service(SetListening, 'set_listening', self._set_listening)
        self.turn_id = 0
        self.turns: dict[float, int] = {}
        self.listening = True
        self.resampler: tuple[int, Resampler] | None = None
        self.deaf_until = 0.0

    def _hear(self, chunk: AudioChunk) -> None:
        sound = audio(chunk).mono()
        if self.resampler is None or self.resampler[0] != sound.rate:
            self.resampler = (sound.rate, Resampler(sound.rate, RATE))
        samples = self.resampler[1](sound.samples)
        # The resampler holds back a little; the stream's own length tells where these samples belong.
        begin = seconds(chunk.header.stamp) + len(sound.samples) / sound.rate - len(samples) / RATE
        # Without an echo canceller the avatar would answer itself: while it speaks, nothing counts as speech.
        for event in self.listener.feed(samples, begin, ignore=not self.listening or begin < self.deaf_until):
            self._tell(event)

    def forget(self) -> None:
        self.listener.forget()
        for start, turn_id in self.turns.items():
            self._turn(Turn.DROPPED, turn_id, start, start, 'the visitor has left')
        self.turns.clear()

    def _played(self, playback: Playback) -> None:
        if self.config.while_speaking == 'ignore' and playback.state in (Playback.PLAYING, Playback.WAITING):
            self.deaf_until = seconds(playback.header.stamp) + playback.queued + ECHO_S
        elif playback.state in (Playback.FINISHED, Playback.STOPPED):
            self.deaf_until = min(self.deaf_until, seconds(playback.header.stamp) + ECHO_S)

    def _tell(self, event: Event) -> None:
        match event:
            case SpeechStarted(start):
                self.turn_id += 1
                self.turns[start] = self.turn_id
                self._turn(Turn.VISITOR, self.turn_id, start, start, 'speech began')
            case Partial():
                self._transcript(event, self.turns[event.start], final=False)
            case SpeechEnded(start, end, _, reason):
                self._turn(Turn.AVATAR, self.turns[start], start, end, reason)
                self.trace(self.turns[start], 'endpoint', 'done', end)
            case Utterance():
                turn_id = self.turns.pop(event.start)
                self.publish_utterance(audio_chunk(event.audio.samples, RATE, event.audio_start, turn_id, 'microphone'))
                self._transcript(event, turn_id, final=True)
                self.trace(turn_id, 'listening', 'done', event.end, self.facts['model'])
                if not event.text:
                    self._turn(Turn.DROPPED, turn_id, event.start, event.end, 'no words were heard')
            case SpeechDropped(start, end, reason):
                self._turn(Turn.DROPPED, self.turns.pop(start), start, end, reason)
            case MicrophoneSilent():
                self.problem = event.reason
            case MicrophoneBack():
                self.problem = ''

    def _turn(self, state: int, turn_id: int, start: float, end: float, reason: str) -> None:
        message = Turn(turn_id=turn_id, state=state, person_id=ANYBODY, start=stamp(start), end=stamp(end),
                       reason=reason)
        message.header.stamp = stamp(self.now())
        self.publish_turn(message)

    def _transcript(self, event: Partial | Utterance, turn_id: int, final: bool) -> None:
        message = Transcript(turn_id=turn_id, person_id=ANYBODY, text=event.text, final=final,
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
