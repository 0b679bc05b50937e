"""One line answered on paper: the planner alone, without senses, voice and face. `emavatar plan`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from emavatar_ros import avatars, profiles
from emavatar_ros.avatars import Avatar
from emavatar_ros.emotion.affect import CIRCUMPLEX
from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.errors import BadInput
from emavatar_ros.history import Line
from emavatar_ros.language import guess
from emavatar_ros.planning import consistency
from emavatar_ros.planning.script import Script
from emavatar_ros.rooms import Rooms
from emavatar_ros.turn_input import read_history
from emavatar_ros.typed import check_text
from emavatar_ros.voice.instruction import delivery

COMPOSERS: Final = ('llm', 'template')


@dataclass(frozen=True)
class Request:
    """What the visitor says and feels, in which language (BCP 47), what was said before, who answers, and the rooms."""

    text: str
    estimate: Estimate
    language: str
    history: tuple[Line, ...]
    avatar: Avatar
    rooms: Rooms


@dataclass(frozen=True)
class Planned:
    """A script and how it came to be. first_beat, whole_script: seconds from the question, models loaded; model: the
    language model's name, or template; mismatches: what does not agree, in sentences."""

    script: Script
    model: str
    first_beat: float
    whole_script: float
    mismatches: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """`script` as in turn.json, and what is not in there."""
        care = self.script.care.kind if self.script.care else ''
        return {'script': self.script.as_json(), 'care': care, 'fallback': self.script.fallback,
                'revisions': list(self.script.revisions), 'mismatches': list(self.mismatches), 'model': self.model,
                'timings': {'first_beat': round(self.first_beat, 4), 'whole_script': round(self.whole_script, 4)}}

    def lines(self) -> Iterator[str]:
        """For a person."""
        script, chain = self.script, self.script.chain_of_empathy
        for beat in script.beats:
            yield f'{beat.text}\n    {beat.instruction}; face: {beat.expression}'
        yield ''
        yield f'what happened   {chain.event_scenario}'
        yield f'what they feel  {chain.user_emotion}'
        yield f'because of      {chain.emotion_cause}'
        yield f'so the reply is to  {chain.goal_to_response}'
        yield 'scores          ' + ', '.join(f'{name} {"-" if score is None else score}'
                                             for name, score in script.scores.items())
        for number, plan in enumerate(script.revisions, 1):
            yield f'rewrite {number}       {plan}'
        for told in self.mismatches:
            yield f'does not agree  {told}'
        by = self.model if script.composer == 'llm' else 'a fixed answer' if script.care else 'template'
        yield f'written by      {by}' + (f' ({script.fallback})' if script.fallback else '')
        yield f'first beat {self.first_beat:.3f} s, whole script {self.whole_script:.3f} s'


def check(text: str, emotion: str = UNSURE, conflict: bool = False, history: Path | None = None, language: str = '',
          composer: str = '', avatar: str = 'mira', profile: str = 'embedded') -> Request:
    """Check what is asked for before a model is loaded; raises BadInput in one sentence. A language of '' is what the
    text seems to be in, a composer of '' the profile's."""
    who = avatars.load(avatar)
    settings = profiles.load(profile)
    if composer not in ('', *COMPOSERS):
        raise BadInput(f'unknown composer {composer!r}; known: {", ".join(COMPOSERS)}')
    if composer:
        settings['planner'] = {**settings.get('planner', {}), 'composer': composer}
    said = check_text(text)
    return Request(said, replace(estimate(emotion), conflict=conflict), language or guess(said, who.languages[0]),
                   read_history(history) if history is not None else (), who, Rooms(settings, who))


def estimate(emotion: str) -> Estimate:
    """The belief that the visitor feels this (a label or unsure), told and not perceived; raises BadInput."""
    if emotion == UNSURE:
        return Estimate(UNSURE, 0.0, Distribution.uniform(), 0.0, 0.0, method='told')
    if emotion not in LABELS:
        raise BadInput(f'unknown emotion {emotion!r}; known: {", ".join((*LABELS, UNSURE))}')
    return Estimate(emotion, 1.0, Distribution.from_mapping({emotion: 1.0}), *CIRCUMPLEX[emotion], method='told')


def plan(request: Request) -> Planned:
    """Answer it; models are loaded before time is taken."""
    languages = request.avatar.languages
    planner, model = request.rooms.planner(1 if request.language == languages[0] else len(languages))
    planner.visit.recall(*request.history)
    began = time.perf_counter()
    with closing(planner.plan(request.text, request.language, request.estimate, request.history)) as growing:
        script = next(growing)
        first = time.perf_counter() - began
        for script in growing:  # noqa: B007 (the last counts)
            pass
    whole = time.perf_counter() - began
    found = (*consistency.script(script, delivery), *consistency.identity(request.avatar))
    return Planned(script, model, first, whole, tuple(mismatch.told for mismatch in found))
