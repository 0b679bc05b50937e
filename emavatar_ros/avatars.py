"""Avatars: who the visitor meets. Each is a folder `avatars/<name>/` of data, no code:

avatar.yaml (title, languages, profile, voice, face, consent), persona.md (what the language model is told it is),
face/head.npz (made by tools/build_head.py). Folders are looked for in the installed share folder
(`<prefix>/share/emavatar_ros/avatars`) and, in a source checkout, beside the Python package; a path to such a
folder serves as well as a name.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

import yaml

from emavatar_ros.errors import BadInput

T = TypeVar('T')
Colour = tuple[float, float, float]
"""Red, green, blue as seen on screen (sRGB), 0 to 1 each."""


@dataclass(frozen=True)
class VoiceProfile:
    """Which voice speaks: ids by language (BCP 47) for each engine, and how this person speaks in general.

    rate: speed, 1 is the voice's own (0.5 to 2). pitch: shift in semitones (-12 to 12).
    """

    kokoro: Mapping[str, str]
    espeak: Mapping[str, str]
    rate: float = 1.0
    pitch: float = 0.0


@dataclass(frozen=True)
class Profile:
    """Who this person is in a listener's ears and eyes, in AvaMERG's words; '' leaves it open.

    age: child, young, middle-aged or elderly. gender: female or male. timbre: high, mid or low.
    """

    age: str = ''
    gender: str = ''
    timbre: str = ''


PROFILES: Final[Mapping[str, tuple[str, ...]]] = {
    'age': ('child', 'young', 'middle-aged', 'elderly'), 'gender': ('female', 'male'), 'timbre': ('high', 'mid', 'low')}
"""What a profile may say."""


@dataclass(frozen=True)
class FaceProfile:
    """How the face looks: colours as sRGB 0 to 1, amounts 0 to 1.

    neckline: height of the garment's edge behind and in front of the neck, width of its border, depth of a V; dm in
    the base mesh. style: the hair, see face/hairline.py. shape: targets that make the person; for tools/build_head.py.
    """


    skin: Colour = (0.88, 0.70, 0.60)
    lips: Colour = (0.72, 0.36, 0.34)
    iris: Colour = (0.35, 0.24, 0.13)
    hair: Colour = (0.20, 0.12, 0.07)
    hair_tips: Colour = (0.32, 0.19, 0.10)
    brows: Colour = (0.13, 0.08, 0.05)
    grey: float = 0.0
    blush: float = 0.5
    freckles: float = 0.0
    stubble: float = 0.0
    age: float = 0.0
    lashes: float = 0.8
    brow_weight: float = 0.6
    garment: Colour = (0.20, 0.30, 0.38)
    collar: Colour = (0.20, 0.30, 0.38)
    neckline: tuple[float, float, float, float] = (5.98, 5.62, 0.11, 0.0)
    backdrop: tuple[Colour, Colour] = ((0.80, 0.81, 0.80), (0.52, 0.56, 0.58))
    style: str = 'bob'
    shape: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Avatar:
    """One avatar, read from its folder. persona: the text a language model gets as its system text.

    name: what `load` takes to get this avatar again, also in another process: its name, or the absolute path of a
    folder that is no avatar's by name. languages: BCP 47, the first is the one it greets in. consent: whose likeness
    this is and what allows its use.
    """

    name: str
    title: str
    folder: Path
    persona: str
    languages: tuple[str, ...]
    voice: VoiceProfile
    face: FaceProfile
    consent: str
    profile: Profile = Profile()


def folders() -> tuple[Path, ...]:
    """The folders that avatars are looked for in, the first found wins: source checkout, overlays, installation."""
    places = [Path(__file__).resolve().parent.parent]
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    places += [Path(prefix) / 'share' / 'emavatar_ros' for prefix in prefixes if prefix]
    return tuple(dict.fromkeys(place / 'avatars' for place in places if (place / 'avatars').is_dir()))


def names() -> tuple[str, ...]:
    """Names of the avatars that can be loaded, sorted."""
    return tuple(sorted({item.parent.name for place in folders() for item in place.glob('*/avatar.yaml')}))


def load(name: str | os.PathLike[str]) -> Avatar:
    """Read an avatar by name, or from a path to its folder.

    Raises BadInput for an unknown name (listing the known ones) and for a folder that can't be used.
    """
    text = os.fspath(name)
    if os.sep in text or text.startswith('.'):
        folder = Path(text).resolve()
        if not (folder / 'avatar.yaml').is_file():
            raise BadInput(f'{text} is no avatar folder: it has no avatar.yaml; known avatars: {_known()}')
        named = _find(folder.name)
        return _read(folder, folder.name if named is not None and named.resolve() == folder else str(folder))
    if (found := _find(text)) is None:
        raise BadInput(f'unknown avatar {text!r}; known: {_known()} (or give a folder, as ./mine)')
    return _read(found, text)


def _known() -> str:
    return ', '.join(names()) or 'none'


def _find(name: str) -> Path | None:
    """The folder of the avatar with this name."""
    return next((place / name for place in folders() if name and (place / name / 'avatar.yaml').is_file()), None)


def _read(folder: Path, name: str) -> Avatar:
    file = folder / 'avatar.yaml'
    try:
        content = yaml.safe_load(file.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f'{file} cannot be read: {" ".join(str(error).split())}') from None
    content = _mapping(content, str(file))
    unknown = set(content) - {'title', 'languages', 'profile', 'voice', 'face', 'consent'}
    if unknown:
        raise BadInput(f'{file}: unknown entry {sorted(map(str, unknown))[0]!r}')
    languages = content.get('languages', ['en'])
    if not isinstance(languages, list) or not languages or not all(isinstance(item, str) for item in languages):
        raise BadInput(f'{file}: languages must be a list such as [en, es]')
    voice = _values(VoiceProfile, content.get('voice'), f'{file}: voice')
    if not 0.5 <= voice.rate <= 2 or not -12 <= voice.pitch <= 12:
        raise BadInput(f'{file}: voice.rate must be between 0.5 and 2, voice.pitch between -12 and 12')
    profile = _values(Profile, content.get('profile') or {}, f'{file}: profile')
    for key, known in PROFILES.items():
        if getattr(profile, key) not in ('', *known):
            raise BadInput(f'{file}: profile.{key} must be one of {", ".join(known)}')
    try:
        persona = (folder / 'persona.md').read_text(encoding='utf-8').strip()
    except (OSError, UnicodeDecodeError):
        persona = ''
    if not persona:
        raise BadInput(f'{folder / "persona.md"} is missing or empty: write what the avatar is told to be')
    face = _values(FaceProfile, content.get('face') or {}, f'{file}: face')
    return Avatar(name, _text(content, 'title', file), folder, persona, tuple(languages), voice, face,
                  _text(content, 'consent', file), profile)


def _text(content: Mapping[str, Any], key: str, file: Path) -> str:
    value = content.get(key)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f'{file}: {key} must be a text')
    return ' '.join(value.split())


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f'{where} must hold names and values')
    return value


def _values(cls: type[T], value: object, where: str) -> T:
    """A profile from what YAML holds, each value checked against the type of its field."""
    content = _mapping(value, where)
    hints = get_type_hints(cls)
    chosen: dict[str, Any] = {}
    for key, item in content.items():
        if key not in hints:
            raise BadInput(f'{where}: unknown entry {key!r}')
        chosen[key] = _check(hints[key], item, f'{where}.{key}')
    for item in dataclasses.fields(cls):  # type: ignore[arg-type]
        if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING \
                and item.name not in chosen:
            raise BadInput(f'{where}.{item.name} is missing')
    return cls(**chosen)


def _check(hint: Any, value: Any, where: str) -> Any:
    if hint is float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadInput(f'{where} must be a number, not {value!r}')
        return float(value)
    if hint is str:
        if not isinstance(value, str):
            raise BadInput(f'{where} must be a text, not {value!r}')
        return value
    if hint == Colour:
        if not isinstance(value, list) or len(value) != 3:
            raise BadInput(f'{where} must be a colour: red, green and blue, 0 to 1 each')
        colour = tuple(_check(float, item, where) for item in value)
        if not all(0 <= item <= 1 for item in colour):
            raise BadInput(f'{where} must be a colour: red, green and blue, 0 to 1 each')
        return colour
    if hint == tuple[Colour, Colour]:
        if not isinstance(value, list) or len(value) != 2:
            raise BadInput(f'{where} must be two colours')
        return tuple(_check(Colour, item, where) for item in value)
    if get_origin(hint) is tuple:
        if not isinstance(value, list) or len(value) != len(get_args(hint)):
            raise BadInput(f'{where} must be a list of {len(get_args(hint))} numbers')
        return tuple(_check(float, item, where) for item in value)
    inner = hint.__args__[1]
    return {str(key): _check(inner, item, f'{where}.{key}') for key, item in _mapping(value, where).items()}
