"""What the words say: transcript -> candidates."""

from __future__ import annotations

from emavatar_ros.history import Conversation, Line
from emavatar_ros.msg import CompositeScript, EmotionCandidate, Transcript
from emavatar_ros.nodes.base import RELIABLE, EmavatarNode
from emavatar_ros.nodes.convert import candidate_message, seconds
from emavatar_ros.nodes.settings import TextEmotionSettings
from emavatar_ros.planning.acknowledging import SUFFIX
from emavatar_ros.settings import chosen


class TextEmotionNode(EmavatarNode):
    """transcript, script -> candidates."""

    name = 'text_emotion'
    Config = TextEmotionSettings

    def configure(self) -> None:
        module, settings = chosen(self.config, 'backend')
        self.view = module.create(settings)
        self.view.warm_up()
        self.history = Conversation()
        self.publish = self.publisher(EmotionCandidate, 'candidates', RELIABLE)
        self.subscribe(Transcript, 'transcript', self._read, RELIABLE)
        self.subscribe(CompositeScript, 'script', self._answered, RELIABLE)

    def forget(self) -> None:
        self.history.forget()

    def _read(self, transcript: Transcript) -> None:
        if not transcript.final:
            return
        began = self.now()
        candidate = self.view.read(transcript.text, transcript.language or 'en', self.history.lines)
        self.publish(candidate_message(candidate, transcript.turn_id, transcript.person_id,
                                       seconds(transcript.start), seconds(transcript.end)))
        self.history.add(Line('visitor', transcript.text, candidate.label))
        self.trace(transcript.turn_id, 'words', 'done', began, candidate.model)

    def _answered(self, script: CompositeScript) -> None:
        if script.complete and not script.script_id.endswith(SUFFIX):
            self.history.add(Line('avatar', script.text))
