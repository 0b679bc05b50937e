"""Whether text, speech and face of a reply belong to one turn, one emotion and one person.

Empatheia trains this (its content and style synchronisers); here it is checked. A mismatch is reported, logged once a
kind and counted; it never stops a reply. Nothing a visitor said is in a report.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from emavatar_ros.avatars import Avatar
from emavatar_ros.planning.script import Script
from emavatar_ros.planning.tone import Realise, fits

log = logging.getLogger(__name__)
OLD: Final = (0.3, 0.6)
"""Share of an old person's shape from which a face is middle-aged, elderly."""


@dataclass(frozen=True)
class Mismatch:
    """Two things that should agree and don't. kind: what about (turn, emotion, expression, avatar, voice, age, gender,
    timbre, name); told: a sentence for the operator."""

    kind: str
    told: str


@dataclass(frozen=True)
class Part:
    """What one of a reply's parts (name: text, speech or face) says of itself; what it doesn't say is left empty.

    turn_id: the turn it answers, from 1. emotion: the visitor's feeling it goes with, a label or unsure. avatar: whose
    it is.
    """

    name: str
    turn_id: int = 0
    emotion: str = ''
    avatar: str = ''


class Watch:
    """Takes mismatches in: each counts, the first of a kind is logged."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts

    def report(self, found: Iterable[Mismatch]) -> None:
        """Note what was found."""
        for mismatch in found:
            key = f'mismatch: {mismatch.kind}'
            if not self._counts[key]:
                log.warning('%s does not agree: %s', mismatch.kind, mismatch.told)
            self._counts[key] += 1


def parts(given: Sequence[Part]) -> list[Mismatch]:
    """Where the parts of one reply contradict each other; the first that says something is what the others are held
    against."""
    found = []
    for field, kind in (('turn_id', 'turn'), ('emotion', 'emotion'), ('avatar', 'avatar')):
        said = [(part.name, getattr(part, field)) for part in given if getattr(part, field)]
        found += [Mismatch(kind, f'the {name} has {value}, the {said[0][0]} {said[0][1]}')
                  for name, value in said[1:] if value != said[0][1]]
    return found


def script(given: Script, realise: Realise | None = None) -> list[Mismatch]:
    """Where a script contradicts itself: one emotion in all of it, and each beat's face and instruction fit it.

    realise: what the voice makes of an instruction; without it only the faces are looked at. A fixed answer to somebody
    in danger is said in its own way.
    """
    found = []
    if given.chain_of_empathy.user_emotion != given.emotion:
        found.append(Mismatch('emotion', f'the script answers {given.emotion}, its chain of empathy '
                              f'{given.chain_of_empathy.user_emotion}'))
    if not given.care:
        found += [Mismatch('expression', f'beat {number}: a {beat.expression} face, said "{beat.instruction}", to '
                           f'somebody who is {given.emotion}')
                  for number, beat in enumerate(given.beats) if not fits(given.emotion, beat, realise)]
    return found


def identity(avatar: Avatar) -> list[Mismatch]:
    """Where what an avatar's folder says of the person contradicts itself: its profile, the face's shape, the voices,
    and whom the persona speaks as. What is left open contradicts nothing."""
    profile, found = avatar.profile, []
    seen = {'gender': shape_gender(avatar), 'age': shape_age(avatar)}
    for kind, value in seen.items():
        wanted = getattr(profile, kind)
        if wanted and value and value != wanted:
            found.append(Mismatch(kind, f'{avatar.name} is {wanted} by its profile, its face is {value}'))
    gender = profile.gender or seen['gender']
    for voice in (*avatar.voice.kokoro.values(), *avatar.voice.espeak.values()):
        heard = voice_gender(voice)
        if gender and heard and heard != gender:
            found.append(Mismatch('gender', f'{avatar.name} is {gender}, the voice {voice} is {heard}'))
    if (profile.timbre == 'low' and avatar.voice.pitch > 2) or (profile.timbre == 'high' and avatar.voice.pitch < -2):
        found.append(Mismatch('timbre', f'{avatar.name} has a {profile.timbre} voice by its profile, which is moved by '
                              f'{avatar.voice.pitch:+g} semitones'))
    named = re.search(r'\b(?:You are|Eres) ([A-Z]\w+)', avatar.persona)
    if named and named[1] not in avatar.title and re.match(r'[A-Z]\w+,', avatar.title):
        found.append(Mismatch('name', f'{avatar.name} is {avatar.title.split(",")[0]} by its title, {named[1]} by its '
                              'persona'))
    return found


def spoken(avatar: Avatar, language: str, voice: str) -> list[Mismatch]:
    """Whether `voice` (engine and voice, as a speech chunk names it) is one of the avatar's for this language (BCP 47);
    a language without a voice of its own has the first."""
    short = language.split('-')[0].lower()
    for voices in (avatar.voice.kokoro, avatar.voice.espeak):
        wanted = voices.get(short, next(iter(voices.values()), ''))
        if wanted and wanted in voice:
            return []
    return [Mismatch('voice', f'{voice} speaks {language} for {avatar.name}, whose voice it is not')] if voice else []


def speech(avatar: Avatar, said: Script, beat: int, expression: str, voice: str) -> list[Mismatch]:
    """Whether a piece of speech is this avatar's, and is shown as its beat of the script (from 0) has it; what it
    doesn't say is left out."""
    found = spoken(avatar, said.language, voice)
    if expression and beat < len(said.beats) and expression != said.beats[beat].expression:
        wanted = said.beats[beat].expression
        found.append(Mismatch('expression', f'beat {beat} is shown {expression}, written {wanted}'))
    return found


def voice_gender(voice: str) -> str:
    """female or male by a voice's name (Kokoro's af_heart, espeak's en-us+m3), '' when it doesn't tell."""
    letter = re.match(r'[a-z]([fm])_', voice) or re.search(r'\+([fm])\d', voice)
    return '' if letter is None else {'f': 'female', 'm': 'male'}[letter[1]]


def shape_gender(avatar: Avatar) -> str:
    """female or male by the targets that make the face, '' when they don't tell."""
    female, male = _share(avatar, '-female-'), _share(avatar, '-male-')
    return '' if female == male else 'female' if female > male else 'male'


def shape_age(avatar: Avatar) -> str:
    """young, middle-aged or elderly by the targets that make the face, '' when they don't tell."""
    if _share(avatar, '-child') + _share(avatar, '-baby'):
        return 'child'
    old, young = _share(avatar, '-old'), _share(avatar, '-young')
    if not old + young:
        return ''
    share = old / (old + young)
    return 'young' if share < OLD[0] else 'middle-aged' if share < OLD[1] else 'elderly'


def _share(avatar: Avatar, part: str) -> float:
    """How much of the basic shapes (whose names end with the age) has this in its name."""
    return sum(weight for name, weight in avatar.face.shape.items()
               if name.startswith('macrodetails/') and name.count('-') == 2 and part in name)
