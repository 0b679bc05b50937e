"""Speaks scripts: script, turn, avatar_state -> speech. Each clause goes out as soon as it is spoken."""

from __future__ import annotations

from emavatar_ros import avatars
from emavatar_ros.msg import AvatarState, CompositeScript, SpeechChunk, Turn
from emavatar_ros.nodes import performing
from emavatar_ros.nodes.base import LATCHED, RELIABLE, SOUND, EmavatarNode
from emavatar_ros.nodes.convert import stamp
from emavatar_ros.nodes.settings import SpeechSettings
from emavatar_ros.planning.acknowledging import SUFFIX
from emavatar_ros.settings import chosen
from emavatar_ros.stage.playout import Floor
from emavatar_ros.stage.speaking import Line, Piece, Speaking, Wanted
from emavatar_ros.voice import rehearsed


class SpeechNode(EmavatarNode):
    """script, turn, avatar_state -> speech."""

    name = 'speech'
    Config = SpeechSettings

    def configure(self) -> None:
        self.speaking = Speaking(self.now)
        self._become(self.config.avatar)
        self.publish = self.publisher(SpeechChunk, 'speech', SOUND)
        self.subscribe(CompositeScript, 'script', self._script, RELIABLE, at_once=True)
        self.subscribe(Turn, 'turn', self._turn, LATCHED, at_once=True)
        self.subscribe(AvatarState, 'avatar_state', self._avatar, LATCHED)

    def _become(self, name: str) -> None:
        """Speak as this avatar."""
        module, settings = chosen(self.config, 'backend')
        avatar = avatars.load(name)
        self.voice = rehearsed.acknowledging(module.create(settings, avatar), avatar)
        self.voice.warm_up()
        self.avatar = avatar.name
        self.facts['model'] = self.voice.name

    def _avatar(self, state: AvatarState) -> None:
        if state.avatar and state.avatar != self.avatar:
            self._become(state.avatar)

    def _turn(self, turn: Turn) -> None:
        self.speaking.turn(turn.turn_id, Floor(turn.state))
        self._drop()

    def _script(self, script: CompositeScript) -> None:
        lines = tuple(Line(beat.text, beat.instruction, beat.expression) for beat in script.beats)
        self.speaking.script(Wanted(script.script_id, script.turn_id, script.priority, script.language, lines,
                                    script.complete, self.now()))
        self._drop()
        self.do(self._speak)

    def _drop(self) -> None:
        """A clause of a script that nobody will hear ends now, not when it is synthesised."""
        if self.speaking.abandoned:
            self.voice.stop()

    def _speak(self) -> None:
        for piece in self.speaking.pieces(self.voice):
            if not self.active:
                return
            self._publish(piece)
        self.problem = self.speaking.problem
        self.counts['scripts dropped'] = self.speaking.dropped

    def _publish(self, piece: Piece) -> None:
        turn_id = piece.script.turn_id
        message = performing.chunk_message(piece.speech, self.voice.rate, turn_id, piece.script.script_id,
                                           piece.number, piece.beat, piece.expression, self.voice.name)
        message.header.stamp = stamp(self.now())
        self.publish(message)
        if piece.script.script_id.endswith(SUFFIX):
            return
        if piece.number == 0:
            self.trace(turn_id, 'speech', 'first_chunk', self.now() - piece.waited, self.voice.name)
        if piece.speech is None:
            self.trace(turn_id, 'speech', 'done', self.now() - piece.waited, self.voice.name)
