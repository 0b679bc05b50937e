"""What words, voice and face show together, where a server has a model that takes all three: utterance, transcript,
camera/image_raw -> candidates.

Without a server it abstains at once, so that nobody waits, and looks at nothing.
"""

from __future__ import annotations

from emavatar_ros.history import Conversation, Line
from emavatar_ros.msg import CompositeScript, EmotionCandidate, Transcript
from emavatar_ros.nodes.base import RELIABLE, EmavatarNode
from emavatar_ros.nodes.convert import candidate_message, seconds
from emavatar_ros.nodes.witness import Witness
from emavatar_ros.perception.whole import Config, create
from emavatar_ros.planning.acknowledging import SUFFIX


class WholeEmotionNode(EmavatarNode):
    """utterance, transcript, camera/image_raw, script -> candidates."""

    name = 'whole_emotion'
    Config = Config

    def configure(self) -> None:
        self.view = create(self.config)
        self.history = Conversation()
        self.waiting: Transcript | None = None
        self.witness = Witness(self, self._heard) if self.view.wanted else None
        self.publish = self.publisher(EmotionCandidate, 'candidates', RELIABLE)
        self.subscribe(Transcript, 'transcript', self._said, RELIABLE)
        self.subscribe(CompositeScript, 'script', self._answered, RELIABLE)

    def forget(self) -> None:
        self.history.forget()
        self.waiting = None
        if self.witness is not None:
            self.witness.forget()

    def _heard(self, turn_id: int) -> None:
        if self.waiting is not None and self.waiting.turn_id == turn_id:
            self._said(self.waiting)

    def _said(self, transcript: Transcript) -> None:
        if not transcript.final:
            return
        began = self.now()
        start, end = seconds(transcript.start), seconds(transcript.end)
        sound, pictures = None, []
        if self.witness is not None:
            sound = self.witness.sound(transcript.turn_id) if len(transcript.embedding) else None
            if len(transcript.embedding) and sound is None:
                self.waiting = transcript
                return
            pictures = self.witness.pictures(start, end)
        self.waiting = None
        candidate = self.view.judge(transcript.text, sound, pictures, self.history.lines)
        self.publish(candidate_message(candidate, transcript.turn_id, transcript.person_id, start, end))
        self.history.add(Line('visitor', transcript.text, candidate.label))
        self.trace(transcript.turn_id, 'whole', 'done', began, candidate.model)

    def _answered(self, script: CompositeScript) -> None:
        if script.complete and not script.script_id.endswith(SUFFIX):
            self.history.add(Line('avatar', script.text))
