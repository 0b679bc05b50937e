"""A turn's input: read and checked before any model is loaded, so that bad input costs nothing and leaves nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from emavatar_ros import avatars, profiles
from emavatar_ros.avatars import Avatar
from emavatar_ros.errors import BadInput
from emavatar_ros.history import Line, lines_of
from emavatar_ros.media.files import open_video, read_audio
from emavatar_ros.rooms import Rooms
from emavatar_ros.senses import Input
from emavatar_ros.typed import check_text


@dataclass(frozen=True)
class Request:
    """What the visitor gave (one of sound, pictures and text at least), who answers, and what makes the models that the
    profile names."""

    given: Input
    avatar: Avatar
    rooms: Rooms


def check(audio: Path | None = None, video: Path | None = None, text: str | None = None, history: Path | None = None,
          avatar: str = 'mira', profile: str = 'embedded') -> Request:
    """Read a turn's input. A video's sound is taken when there is no `audio`. Raises BadInput in one sentence."""
    if audio is None and video is None and text is None:
        raise BadInput('there is nothing to answer: give --audio, --video or --text')
    who = avatars.load(avatar)
    rooms = Rooms(profiles.load(profile), who)
    said = None if text is None else check_text(text)
    lines = read_history(history) if history is not None else ()
    return Request(replace(recording(video, audio), text=said, history=lines, language=who.languages[0]), who, rooms)


def recording(video: Path | None, audio: Path | None = None) -> Input:
    """A recording of any kind, read and checked; its own sound is taken when there is no `audio`. Raises BadInput."""
    pictures = open_video(video) if video is not None else None
    source = audio or (video if pictures is not None and pictures.has_audio else None)
    return Input(read_audio(source) if source is not None else None, pictures)


def read_history(path: Path) -> tuple[Line, ...]:
    """The lines of a history file, oldest first; raises BadInput that says which entry is wrong."""
    try:
        content = json.loads(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise BadInput(f'{path} can\'t be read: {error.strerror}') from None
    except UnicodeDecodeError:
        raise BadInput(f'{path} is no UTF-8 text: save it as UTF-8') from None
    except ValueError as error:
        raise BadInput(f'{path} is no JSON file: {error}') from None
    except RecursionError:
        raise BadInput(f'{path} is nested too deeply for a history') from None
    return lines_of(content, str(path))
