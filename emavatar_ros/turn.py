"""One turn without ROS: F(history H, input Q = {text, speech, face video}, avatar a) -> {emotion e, reply R}.

The rooms in a row, each from the profile's settings, as the nodes wire them. Models load beside each other and only
those the input needs; the face is seen while the words are heard; the reply is spoken and drawn while it is written.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from emavatar_ros.emotion.candidate import Candidate, Estimate
from emavatar_ros.language import guess
from emavatar_ros.listening.events import Utterance
from emavatar_ros.loading import Loading
from emavatar_ros.planning.script import Script
from emavatar_ros.reply import Line, Performance
from emavatar_ros.turn_input import Request
from emavatar_ros.turn_record import TurnRecord
from emavatar_ros.voice.instruction import delivery

IMAGES_PER_S: Final = 8.0
"""How many images of a video are looked at: an expression lasts longer than their distance."""
NOBODY: Final = 'none'
"""The model of a view that was not asked."""


@dataclass
class _Turn:
    """What is known of a turn so far. seconds: by stage; models: by job."""

    request: Request
    loading: Loading
    text: str = ''
    language: str = ''
    confidence: float = 0.0
    utterance: Utterance | None = None
    candidates: list[Candidate] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the block's wall time, without what it waited for models, to a stage."""
        began, waited = time.perf_counter(), self.loading.waited
        yield
        spent = time.perf_counter() - began - (self.loading.waited - waited)
        self.seconds[stage] = self.seconds.get(stage, 0.0) + max(spent, 0.0)


def turn(request: Request, folder: Path) -> TurnRecord:
    """Run one turn; reply.wav and reply.mp4 are written to `folder`, the record is what turn.json holds."""
    began = time.perf_counter()
    state = _Turn(request, Loading())
    _load(state)
    performance = Performance(folder, lambda: state.loading.get('voice'), request.rooms.renderer,
                              request.rooms.animator())
    try:
        _hear(state)
        _perceive(state)
        with state.timed('deliberation'):
            estimate: Estimate = request.rooms.arbiter().decide(state.candidates, request.history)
        performance.feel(estimate.label, estimate.confidence)
        script = _answer(state, estimate, performance)
        performed = performance.finish()
    except BaseException:
        performance.abandon()
        raise
    state.seconds.update(voice=performed.voice_s, face=performed.face_s, total=time.perf_counter() - began,
                         first_audio=performed.first_audio - began - state.loading.waited - performed.waited)
    state.models.update(speech=state.loading.get('voice').name, renderer=performed.renderer)
    return TurnRecord(state.text, state.language, state.confidence, estimate, tuple(state.candidates), script,
                      performed, state.seconds, state.models)


def _load(state: _Turn) -> None:
    """Begin to load what this turn needs, in the order it is needed; what takes longest goes early."""
    request, rooms, start = state.request, state.request.rooms, state.loading.start
    if request.audio is not None:
        start('activity', rooms.activity)
        start('recogniser', rooms.recogniser)
    start('planner', rooms.planner)
    if request.video is not None and request.video.has_images:
        start('face', rooms.face_view)
        start('seen', lambda: _see(state))
    if request.audio is not None or request.text is not None:
        start('words', rooms.words)
    if request.audio is not None:
        start('voice view', rooms.voice_view)
    start('voice', rooms.voice)


def _hear(state: _Turn) -> None:
    """What was said: the text given, else what the recogniser makes of the sound; silence and noise are no text."""
    request = state.request
    if request.audio is not None:
        from emavatar_ros.listening.recording import hear

        activity, recogniser = state.loading.get('activity'), state.loading.get('recogniser')
        state.models['listening'] = recogniser.name
        with state.timed('listening'):
            state.utterance = hear(request.audio, activity, recogniser)
        if state.utterance is not None and state.utterance.text:
            state.text, state.confidence = state.utterance.text, state.utterance.confidence
            state.language = state.utterance.language
    if request.text is not None:
        state.text, state.confidence = request.text, 1.0
        state.language = state.language or guess(request.text, request.avatar.languages[0])


def _see(state: _Turn) -> float:
    """Show the video to the face view, beside the hearing; returns the seconds it took."""
    view, video = state.loading.get('face'), state.request.video
    assert video is not None
    began = time.perf_counter()
    for image in video.images(most=IMAGES_PER_S):
        view.see(image.pixels, image.stamp)
    return time.perf_counter() - began


def _perceive(state: _Turn) -> None:
    """The candidates of words, voice and face; a view without anything to go by says why."""
    request, loading, said = state.request, state.loading, state.utterance
    if state.text:
        words = loading.get('words')
        with state.timed('perception'):
            state.candidates.append(words.read(state.text, state.language or 'en', request.history))
    else:
        _abstain(state, 'words', 'no words were given' if request.audio is None else 'no words were heard')
    if said is not None:
        voice = loading.get('voice view')
        with state.timed('perception'):
            state.candidates.append(voice.hear(said.audio, said.embedding))
    else:
        _abstain(state, 'voice', 'no sound was given' if request.audio is None else 'nobody speaks in the sound')
    video = request.video
    if video is not None and video.has_images:
        face = loading.get('face')
        seeing = loading.get('seen', counted=False)
        # A still picture, a typed text, or pictures of another time than the words: all that was seen counts.
        start, end = 0.0, video.seconds
        if said is not None and said.start < video.seconds:
            start, end = said.start, said.end
        with state.timed('perception'):
            state.candidates.append(face.candidate(start, end))
        state.seconds['perception'] += seeing
    else:
        _abstain(state, 'face', 'no picture was given' if video is None else 'the recording has no pictures')
    state.models.update({candidate.view: candidate.model for candidate in state.candidates
                         if not candidate.abstains})


def _abstain(state: _Turn, view: str, reason: str) -> None:
    state.candidates.append(Candidate.abstain(view, NOBODY, reason))


def _answer(state: _Turn, estimate: Estimate, performance: Performance) -> Script:
    """The reply's script; each beat is performed as soon as it is written."""
    planner, model = state.loading.get('planner')
    language = state.language or state.request.avatar.languages[0]
    script: Script | None = None
    said = 0
    with state.timed('planning'):
        for script in planner.plan(state.text, language, estimate, state.request.history):
            for beat in script.beats[said:]:
                performance.say(Line(beat.text, delivery(beat.instruction, beat.expression), beat.expression,
                                     script.language))
            said = len(script.beats)
    assert script is not None, 'a planner always answers'
    state.models['reply'] = model if script.composer == 'llm' else 'template'
    return script
