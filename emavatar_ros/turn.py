"""One turn without ROS: F(history H, input Q = {text, speech, face video}, avatar a) -> {emotion e, reply R}.

The rooms in a row, each from the profile's settings, as the nodes wire them. Models load beside each other and only
those the input needs; the face is seen while the words are heard; the reply is spoken and drawn while it is written.
"""

from __future__ import annotations

import time
from pathlib import Path

from emavatar_ros.deliberation.roles import Case
from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.loading import Loading, Stopwatch
from emavatar_ros.planning.script import Script
from emavatar_ros.reply import Line, Performance
from emavatar_ros.senses import Perceived, Senses, pictures_of
from emavatar_ros.turn_input import Request
from emavatar_ros.turn_record import TurnRecord
from emavatar_ros.voice.instruction import delivery


def turn(request: Request, folder: Path) -> TurnRecord:
    """Run one turn; reply.wav and reply.mp4 are written to `folder`, the record is what turn.json holds."""
    began = time.perf_counter()
    given, rooms, loading = request.given, request.rooms, Loading()
    watch = Stopwatch(loading)
    senses = Senses(rooms, watch)
    # In the order in which they are needed; what takes longest goes early.
    senses.load_hearing(given)
    loading.start('planner', rooms.planner)
    senses.load_views(given)
    loading.start('voice', rooms.voice)
    performance = Performance(folder, lambda: loading.get('voice'), rooms.renderer, rooms.animator())
    try:
        perceived = senses.perceive(given)
        with watch('deliberation'):
            arbiter, said = rooms.arbiter(), perceived.utterance
            estimate: Estimate = arbiter.decide(Case.of(
                perceived.candidates, perceived.text, given.history, None if said is None else said.audio,
                pictures_of(given, arbiter.pictures)))
        performance.feel(estimate.label, estimate.confidence)
        script = _answer(request, watch, perceived, estimate, performance)
        performed = performance.finish()
    except BaseException:
        performance.abandon()
        raise
    seconds = watch.seconds | {
        'voice': performed.voice_s, 'face': performed.face_s, 'total': time.perf_counter() - began,
        'first_audio': performed.first_audio - began - loading.waited - performed.waited}
    models = {} if given.audio is None else {'listening': senses.recogniser()}
    models |= {candidate.view: candidate.model for candidate in perceived.candidates if not candidate.abstains}
    models |= {'reply': loading.get('planner')[1] if script.composer == 'llm' else 'template',
               'speech': loading.get('voice').name, 'renderer': performed.renderer}
    return TurnRecord(perceived, estimate, script, performed, seconds, models)


def _answer(request: Request, watch: Stopwatch, perceived: Perceived, estimate: Estimate, performance: Performance
            ) -> Script:
    """The reply's script; each beat is performed as soon as it is written."""
    planner, _ = watch.loading.get('planner')
    language = perceived.language or request.avatar.languages[0]
    script: Script | None = None
    said = 0
    with watch('planning'):
        for script in planner.plan(perceived.text, language, estimate, request.given.history):
            for beat in script.beats[said:]:
                performance.say(Line(beat.text, delivery(beat.instruction, beat.expression), beat.expression,
                                     script.language))
            said = len(script.beats)
    assert script is not None, 'a planner always answers'
    return script
