"""What to answer: transcript, turn, user_emotion -> script, care_event.

A turn is answered once its emotion is known. When the visitor goes on before the answer was heard, what they said is
kept and answered together with what follows: nothing they said is lost to a pause or a cough.
"""

from __future__ import annotations

import threading

from std_srvs.srv import Trigger

from emavatar_ros import avatars
from emavatar_ros.errors import EmavatarError
from emavatar_ros.goal import NORMAL
from emavatar_ros.history import Conversation, Line
from emavatar_ros.msg import (
    AvatarState,
    Beat,
    CareEvent,
    CompositeScript,
    Playback,
    SpeechChunk,
    Transcript,
    Turn,
    UserEmotion,
)
from emavatar_ros.nodes.base import LATCHED, RELIABLE, SOUND, EmavatarNode
from emavatar_ros.nodes.convert import estimate, seconds, stamp
from emavatar_ros.nodes.settings import PlannerSettings
from emavatar_ros.planning import acknowledging, composer, consistency
from emavatar_ros.planning.care import Concern
from emavatar_ros.planning.planner import create
from emavatar_ros.planning.script import Script, reply_id
from emavatar_ros.settings import chosen
from emavatar_ros.voice.instruction import delivery

KINDS = {'medical': 'medical_emergency'}
RESTS_S = 4.0
"""Longest time that the language model rests after a reply's first beat, while the voice makes its first sound: both at
once take twice as long."""


class PlannerNode(EmavatarNode):
    """transcript, turn, user_emotion, speech, playback -> script, care_event."""

    name = 'planner'
    Config = PlannerSettings

    def configure(self) -> None:
        self.llm = None
        if self.config.composer == 'llm':
            module, settings = chosen(self.config, 'backend')
            self.llm = module.create(settings)
            self.facts['model'] = self.llm.name
        self.watch = consistency.Watch(self.counts)
        self.planner = create(self.config, '', self.llm, delivery, self.counts)
        self._become(self.config.avatar)
        self.history = Conversation()
        self.acknowledging = acknowledging.Acknowledging(self.config.soon)
        self.current = 0
        self.said = Transcript()
        self.emotion: UserEmotion | None = None
        self.unheard: list[str] = []
        self.answered = self.cancelled = 0
        self.feeling = ''
        self.script: Script | None = None
        self.sounding = threading.Event()
        self.asked: float | None = None
        self.publish = self.publisher(CompositeScript, 'script', RELIABLE)
        self.publish_care = self.publisher(CareEvent, 'care_event', LATCHED)
        self.create_service(Trigger, 'wipe_memory', self._wipe)
        self.subscribe(Turn, 'turn', self._follow, RELIABLE, at_once=True)
        self.subscribe(Turn, 'turn', self._resume, RELIABLE)
        self.subscribe(Transcript, 'transcript', self._hear, RELIABLE)
        self.subscribe(UserEmotion, 'user_emotion', self._feel, LATCHED)
        self.subscribe(CompositeScript, 'script', self._withdraw, RELIABLE, at_once=True)
        self.subscribe(SpeechChunk, 'speech', self._spoken, SOUND, at_once=True)
        self.subscribe(Playback, 'playback', self._played, RELIABLE)
        self.subscribe(AvatarState, 'avatar_state', self._avatar, LATCHED)

    def deactivate(self) -> None:
        self.sounding.set()

    def cleanup(self) -> None:
        if self.llm is not None:
            self.llm.close()

    def _become(self, name: str) -> None:
        """Speak as this avatar: its persona is the beginning of every prompt."""
        avatar = avatars.load(name)
        self.planner.persona = avatar.persona
        self.planner.warm_up(avatar.languages)
        self.avatar, self.who = avatar.name, avatar
        self.watch.report(consistency.identity(avatar))

    def _avatar(self, state: AvatarState) -> None:
        if state.avatar and state.avatar != self.avatar:
            self._become(state.avatar)

    def forget(self) -> None:
        self.planner.visit.forget()
        self.history.forget()
        self.unheard.clear()
        self.emotion = None
        self.said = Transcript()

    def _follow(self, turn: Turn) -> None:
        if turn.state == Turn.VISITOR and turn.turn_id < self.current:
            # The listening node was started again and counts anew.
            self.current, self.answered = turn.turn_id, turn.turn_id - 1
        if turn.turn_id > self.current:
            self.current = turn.turn_id
            self.sounding.set()

    def _resume(self, turn: Turn) -> None:
        """What opened this turn was no speech: the answer it interrupted is still owed."""
        if turn.state == Turn.DROPPED and turn.turn_id == self.current and self.unheard and self.emotion is not None \
                and self.said.turn_id != self.cancelled:
            self._answer(turn.turn_id, self.emotion)

    def _hear(self, transcript: Transcript) -> None:
        if transcript.final and transcript.text:
            if self.said.turn_id and self.said.turn_id == self.cancelled:
                self.unheard.clear()
            self.said = transcript
            self.unheard.append(transcript.text)

    def _withdraw(self, script: CompositeScript) -> None:
        """Somebody cancels the reply to a turn: it is planned no further, and not owed any more."""
        if script.complete and not script.beats and script.script_id == reply_id(script.turn_id):
            self.cancelled = script.turn_id
            self.sounding.set()

    def _feel(self, emotion: UserEmotion) -> None:
        self.emotion = emotion
        if emotion.turn_id and emotion.turn_id == self.said.turn_id and emotion.turn_id > self.answered:
            self._answer(emotion.turn_id, emotion)

    def _answer(self, turn_id: int, emotion: UserEmotion) -> None:
        if self._gone(turn_id):
            return
        self.answered = turn_id
        began = self.now()
        text, language, felt = ' '.join(self.unheard), self.said.language or 'en', estimate(emotion)
        self.sounding.clear()
        self.feeling, self.script, self.asked = composer.feeling(felt, language), None, began
        said = self._acknowledge(turn_id, text, language, felt.label)
        growing = self.planner.plan(text, language, felt, self.history.lines, said)
        for number, script in enumerate(growing):
            if self._gone(turn_id):
                growing.close()
                self.trace(turn_id, 'planning', 'dropped', began, script.composer)
                return
            self.script = script
            self.publish(self._message(script, turn_id))
            if number == 0:
                self.trace(turn_id, 'planning', 'first_beat', began, script.composer)
                if script.care:
                    self._alarm(script.care, turn_id)
                if self.llm is not None and self.llm.resumes and script.composer == 'llm' and not self._gone(turn_id):
                    self.sounding.wait(RESTS_S)
        self.trace(turn_id, 'planning', 'fallback' if script.fallback else 'done', began, script.composer)

    def _gone(self, turn_id: int) -> bool:
        """Nobody waits for a reply to this turn any more."""
        return turn_id < self.current or turn_id == self.cancelled

    def _acknowledge(self, turn_id: int, text: str, language: str, emotion: str) -> str:
        """Let the visitor hear at once that they were heard, where that helps; gives what is said."""
        quiet = not self.config.acknowledge or self.planner.visit.care.notice(text, language) is not None
        beat = None if quiet else self.acknowledging.choose(text, language, emotion)
        if beat is None:
            return ''
        message = CompositeScript(
            turn_id=turn_id, script_id=f'{reply_id(turn_id)}{acknowledging.SUFFIX}', person_id=self.said.person_id,
            text=beat.text, instruction=beat.instruction, emotion=emotion, language=language, composer='template',
            complete=True, priority=NORMAL,
            beats=[Beat(text=beat.text, instruction=beat.instruction, expression=beat.expression)])
        message.header.stamp = stamp(self.now())
        self.publish(message)
        return str(beat.text)

    def _spoken(self, chunk: SpeechChunk) -> None:
        if chunk.script_id == reply_id(self.current):
            self.sounding.set()
            if self.script is not None:
                self.watch.report(consistency.speech(self.who, self.script, chunk.beat, chunk.expression, chunk.voice))
            if chunk.last:
                self.do(self._read_ahead, self.current)

    def _read_ahead(self, turn_id: int) -> None:
        """The voice has said all of the reply: the processor is free, and the model reads what was said until the next
        visitor speaks. (Reading along while they do takes the processor from the recogniser, for no gain.)"""
        if turn_id == self.answered and self.script is not None and self.unheard:
            self.planner.read(self.said.language or 'en', (*self.history.lines, *self._exchange(self.script.text)),
                              lambda: not self.active or self.current != turn_id)

    def _played(self, playback: Playback) -> None:
        """Only what was heard enters the history, and only then is the visitor answered."""
        if playback.script_id != reply_id(playback.turn_id):
            return
        if playback.state == Playback.PLAYING and self.asked is not None:
            self.acknowledging.waited(seconds(playback.header.stamp) - playback.position - self.asked)
            self.asked = None
        if playback.state in (Playback.FINISHED, Playback.STOPPED) and playback.heard and self.unheard:
            whole = playback.state == Playback.FINISHED and self.script is not None
            # As the model wrote it, it is in the model's memory still.
            exchange = self._exchange(self.script.text if whole else playback.heard)
            self.history.add(*exchange)
            if self.script is not None and self.emotion is not None:
                self.planner.visit.heard(*exchange, estimate(self.emotion), self.script)
            self.unheard.clear()

    def _exchange(self, answer: str) -> tuple[Line, Line]:
        label = self.emotion.label if self.emotion is not None else None
        asked = Line('visitor', ' '.join(self.unheard), None if label == 'unsure' else label, self.feeling)
        return asked, Line('avatar', answer)

    def _wipe(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Somebody asks that what was remembered of visitors is deleted, at once and on disk too."""
        memory = self.planner.visit.memory
        response.success, response.message = True, 'nothing is remembered'
        if memory is not None:
            try:
                memory.wipe()
                response.message = 'what was remembered of visitors is deleted'
            except EmavatarError as error:
                response.success, response.message = False, str(error)
        return response

    def _alarm(self, care: Concern, turn_id: int) -> None:
        event = CareEvent(turn_id=turn_id, person_id=self.said.person_id, kind=KINDS.get(care.kind, care.kind),
                          about=care.about, urgency=care.urgency, over=care.over, language=care.language,
                          answer=care.text, confidence=care.confidence)
        event.header.stamp = self.said.header.stamp
        self.publish_care(event)

    def _message(self, script: Script, turn_id: int) -> CompositeScript:
        chain = script.chain_of_empathy
        scores = {name: value or 0 for name, value in script.scores.items()}
        message = CompositeScript(
            turn_id=turn_id, script_id=reply_id(turn_id), person_id=self.said.person_id, text=script.text,
            instruction=script.instruction, emotion=script.emotion, language=script.language,
            composer='care' if script.care else script.composer, iterations=script.iterations, **scores,
            event_scenario=chain.event_scenario, user_emotion=chain.user_emotion, emotion_cause=chain.emotion_cause,
            goal_to_response=chain.goal_to_response, complete=script.complete, priority=NORMAL,
            beats=[Beat(text=beat.text, instruction=beat.instruction, expression=beat.expression)
                   for beat in script.beats])
        message.header.stamp = stamp(self.now())
        return message
