"""An avatar says a text: reply.wav, reply.mp4, and say.json about them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emavatar_ros import avatars, profiles
from emavatar_ros.avatars import Avatar
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.language import guess
from emavatar_ros.loading import Loading
from emavatar_ros.reply import Line, Performance
from emavatar_ros.rooms import Rooms
from emavatar_ros.turn_record import dumps, face, speech
from emavatar_ros.typed import check_text
from emavatar_ros.voice.instruction import delivery

JSON: Final = 'say.json'


@dataclass(frozen=True)
class Request:
    """What to say and how. instruction: plain words; emotion: what the face shows; language: BCP 47."""

    text: str
    instruction: str
    emotion: str
    language: str
    avatar: Avatar
    rooms: Rooms


def check(text: str, instruction: str = '', emotion: str = 'neutral', language: str = '', avatar: str = 'mira',
          profile: str = 'embedded') -> Request:
    """Check what is asked for before a model is loaded; raises BadInput in one sentence. A language of '' is what
    the text seems to be in."""
    who = avatars.load(avatar)
    if emotion not in LABELS:
        raise BadInput(f'unknown emotion {emotion!r}; known: {", ".join(LABELS)}')
    said = check_text(text)
    return Request(said, check_text(instruction) if instruction else '', emotion,
                   language or guess(said, who.languages[0]), who, Rooms(profiles.load(profile), who))


def say(request: Request, folder: Path) -> float:
    """Perform it into `folder`; returns the speech's length in seconds."""
    began = time.perf_counter()
    loading = Loading()
    loading.start('voice', request.rooms.voice)
    performance = Performance(folder, lambda: loading.get('voice'), request.rooms.renderer, request.rooms.animator())
    try:
        performance.say(Line(request.text, delivery(request.instruction, request.emotion), request.emotion,
                             request.language))
        performed = performance.finish()
    except BaseException:
        performance.abandon()
        raise
    content = {'text': request.text, 'instruction': request.instruction, 'emotion': request.emotion,
               'language': request.language, 'speech': speech(performed, loading.get('voice').name),
               'face': face(performed),
               'timings': {'voice': round(performed.voice_s, 3), 'face': round(performed.face_s, 3),
                           'total': round(time.perf_counter() - began, 3)}}
    (folder / JSON).write_text(dumps(content), encoding='utf-8')
    return performed.seconds
