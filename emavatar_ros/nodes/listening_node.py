"""Hears who speaks and what they say: microphone/audio, typed -> turn, utterance, transcript.

Owns the turn: a visitor who begins to speak opens a new one, and so does a typed line, once nobody speaks. Turn ids
that others open are seen on the same topic, so that ids never repeat.
"""

from __future__ import annotations

from collections import deque
from functools import partial

from emavatar_ros.language import guess
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
from emavatar_ros.nodes.base import ANYBODY, LATCHED, RELIABLE, SOUND, EmavatarNode
from emavatar_ros.nodes.convert import audio, audio_chunk, seconds, stamp
from emavatar_ros.srv import SetListening
from emavatar_ros.typed import check_text

RATE = 16000
ECHO_S = 0.4
"""How long the avatar's own voice may still come back after it stopped (room and device delay)."""
SO_FAR_S = 8.0
"""Of an utterance that still goes on at most so much sound is handed out: what was long ago says little of now."""
LINES = 16
"""Typed lines that may wait for a visitor to finish."""
GONE_S = 3.0
"""Without sound for so long the microphone is gone, and who spoke into it is no longer waited for."""


class ListeningNode(EmavatarNode):
    """microphone/audio, typed, playback -> turn, utterance, transcript."""

    name = 'listening'
    Config = ListeningConfig

    def configure(self) -> None:
        self.listener = create(self.config)
        self.facts['model'] = self.listener.recogniser.name
        self.publish_turn = self.publisher(Turn, 'turn', LATCHED)
        self.publish_transcript = self.publisher(Transcript, 'transcript', RELIABLE)
        self.publish_utterance = self.publisher(AudioChunk, 'utterance', RELIABLE)
        self.publish_so_far = self.publisher(AudioChunk, 'utterance_so_far', RELIABLE)
        self.subscribe(AudioChunk, 'microphone/audio', self._hear, SOUND)
        self.subscribe(Transcript, 'typed', self._type, RELIABLE)
        self.subscribe(Playback, 'playback', self._played, RELIABLE)
        self.subscribe(Turn, 'turn', self._count, LATCHED, at_once=True)
        self.create_service(SetListening, 'set_listening', self._set_listening)
        self.turn_id = 0
        self.turns: dict[float, int] = {}
        self.typed: deque[Transcript] = deque(maxlen=LINES)
        self.heard_at = 0.0
        self.listening = True
        self.resampler: tuple[int, Resampler] | None = None
        self.deaf_until = 0.0

    def _hear(self, chunk: AudioChunk) -> None:
        sound = audio(chunk).mono()
        self.heard_at = self.now()
        if self.resampler is None or self.resampler[0] != sound.rate:
            self.resampler = (sound.rate, Resampler(sound.rate, RATE))
        samples = self.resampler[1](sound.samples)
        # The resampler holds back a little; the stream's own length tells where these samples belong.
        begin = seconds(chunk.header.stamp) + len(sound.samples) / sound.rate - len(samples) / RATE
        # Without an echo canceller the avatar would answer itself: while it speaks, nothing counts as speech.
        for event in self.listener.feed(samples, begin, ignore=not self.listening or begin < self.deaf_until):
            self._tell(event)
        self._answer_typed()

    def _type(self, line: Transcript) -> None:
        """Somebody typed a line."""
        line.text = check_text(line.text)
        if self.turns and self.now() - self.heard_at > GONE_S:
            self.forget()
        self.typed.append(line)
        self._answer_typed()

    def _answer_typed(self) -> None:
        """Give each typed line a turn of its own, as if it had just been said: once nobody speaks."""
        while self.typed and not self.turns:
            line = self.typed.popleft()
            self.turn_id += 1
            line.turn_id, line.final, line.model = self.turn_id, True, 'typed'
            line.person_id = line.person_id or ANYBODY
            line.language = line.language or guess(line.text, 'en')
            turn = Turn(turn_id=line.turn_id, state=Turn.AVATAR, person_id=line.person_id, start=line.start,
                        end=line.end, reason='a line was typed')
            turn.header.stamp = stamp(self.now())
            self.publish_turn(turn)
            self.publish_transcript(line)

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
                turn_id = self.turns[event.start]
                self.publish_so_far(self._sound(event, turn_id, longest=SO_FAR_S))
                self._transcript(event, turn_id, final=False)
            case SpeechEnded(start, end, _, reason):
                self._turn(Turn.AVATAR, self.turns[start], start, end, reason)
                self.trace(self.turns[start], 'endpoint', 'done', end)
            case Utterance():
                turn_id = self.turns.pop(event.start)
                self.publish_utterance(self._sound(event, turn_id))
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

    def _sound(self, event: Partial | Utterance, turn_id: int, longest: float = 60.0) -> AudioChunk:
        """The sound an event was heard in, at most its last `longest` seconds."""
        samples = event.audio.samples[-round(longest * RATE):]
        start = event.audio_start + (len(event.audio.samples) - len(samples)) / RATE
        return audio_chunk(samples, RATE, start, turn_id, 'microphone')

    def _transcript(self, event: Partial | Utterance, turn_id: int, final: bool) -> None:
        message = Transcript(turn_id=turn_id, person_id=ANYBODY, text=event.text, final=final,
                             language=event.language, confidence=float(event.confidence), start=stamp(event.start),
                             end=stamp(event.end), model=self.facts['model'])
        if event.embedding is not None:
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
