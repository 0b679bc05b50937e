"""The catalogue of models: what `config/models.yaml` says, checked and as values.

A model is a folder of files. Every file has a size, a sha256 and sources in order; whichever source answers first
is used, and the sha256 decides whether what came is the file.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from emavatar_ros.errors import BadInput
from emavatar_ros.places import share


@dataclass(frozen=True)
class Url:
    """A file at an address, or with `member` one file inside the archive at that address."""

    url: str
    member: str = ''
    bytes: int = 0
    """Size of the archive; 0: not known."""
    sha256: str = ''
    """Of the archive; '': not known, the member's own sha256 decides."""

    def __str__(self) -> str:
        return self.url.split('/')[2]


@dataclass(frozen=True)
class Pypi:
    """Files inside wheels on the Python package index, joined in order; an empty member is the wheel itself."""

    parts: tuple[tuple[str, str], ...]
    """(package==version, path inside the wheel) each."""

    def __str__(self) -> str:
        first, last = self.parts[0][0], self.parts[-1][0]
        return f'pip {first}' + (f' .. {last}' if len(self.parts) > 1 else '')


@dataclass(frozen=True)
class Npm:
    """One file inside a package of the npm registry."""

    package: str
    member: str

    def __str__(self) -> str:
        return f'npm {self.package}'


Source = Url | Pypi | Npm


@dataclass(frozen=True)
class ModelFile:
    """One file of a model: name inside the model's folder, size in bytes, sha256 in hex, sources in order."""

    name: str
    bytes: int
    sha256: str
    sources: tuple[Source, ...]
    published: bool = True
    """Whether the publisher names this sha256; else it was computed from a carrier."""


@dataclass(frozen=True)
class Model:
    """One model of the catalogue."""

    name: str
    job: str
    licence: str
    profiles: tuple[str, ...]
    files: tuple[ModelFile, ...]

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.bytes for file in self.files)


class Catalogue:
    """All models by name, from a YAML file (config/models.yaml unless told); raises BadInput where it is wrong."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or share('config/models.yaml')
        try:
            tree = yaml.safe_load(self.path.read_text(encoding='utf-8'))
            self.models = {name: _model(name, entry) for name, entry in tree['models'].items()}
        except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f'{self.path} is not a catalogue of models: {type(error).__name__} {error}') from None

    def __getitem__(self, name: str) -> Model:
        """The model called `name`; raises BadInput that lists the known ones."""
        if name not in self.models:
            near = difflib.get_close_matches(name, self.models, 1)
            raise BadInput(f'there is no model {name!r}' + (f', did you mean {near[0]!r}?' if near else ';')
                           + f' known are {", ".join(self.models)}')
        return self.models[name]

    @property
    def profiles(self) -> tuple[str, ...]:
        """Every profile that some model belongs to, in the order first named."""
        return tuple(dict.fromkeys(profile for model in self.models.values() for profile in model.profiles))

    def profile(self, name: str) -> tuple[str, ...]:
        """Names of the models a profile needs; raises BadInput that lists the known profiles."""
        if name not in self.profiles:
            raise BadInput(f'there is no profile {name!r}; known are {", ".join(self.profiles)}')
        return tuple(model.name for model in self.models.values() if name in model.profiles)


def _model(name: str, entry: Mapping[str, Any]) -> Model:
    if not re.fullmatch(r'[a-z0-9][a-z0-9._-]*', name):
        raise ValueError(f'{name!r} is no name for a model')
    shared = entry.get('sources', ())
    files = tuple(_file(file, file.get('sources', shared)) for file in entry['files'])
    if not files:
        raise ValueError(f'{name} has no files')
    return Model(name, entry['job'], entry['licence'], tuple(entry['profiles']), files)


def _file(entry: Mapping[str, Any], sources: list[Mapping[str, Any]]) -> ModelFile:
    name, digest = entry['name'], entry['sha256']
    if not re.fullmatch(r'[A-Za-z0-9_-][A-Za-z0-9._-]*', name):
        raise ValueError(f'{name!r} is no name for a file')
    _check_digest(digest)
    chosen = tuple(_source(source, name) for source in sources)
    if not chosen:
        raise ValueError(f'{name} has no source')
    return ModelFile(name, int(entry['bytes']), digest, chosen, entry.get('published', True))


def _source(entry: Mapping[str, Any], name: str) -> Source:
    def fill(text: str) -> str:
        return text.replace('{name}', name).replace('{stem}', Path(name).stem)

    if 'url' in entry:
        digest = entry.get('sha256', '')
        if digest:
            _check_digest(digest)
        if not re.match('https?://[^/]', entry['url']):
            raise ValueError(f'{entry["url"]!r} is no address')
        return Url(fill(entry['url']), fill(entry.get('member', '')), entry.get('bytes', 0), digest)
    if 'npm' in entry:
        if not re.fullmatch(r'(@[a-z0-9-]+/)?[a-z0-9][a-z0-9._-]*@[0-9][a-z0-9.-]*', entry['npm']):
            raise ValueError(f'{entry["npm"]!r} must be given as package@version')
        return Npm(entry['npm'], fill(entry['member']))
    parts = tuple((part['package'], fill(part.get('member', ''))) for part in entry['pypi'])
    for package, _ in parts:
        if not re.fullmatch(r'[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+', package):
            raise ValueError(f'{package!r} must be given as package==version')
    return Pypi(parts)


def _check_digest(digest: str) -> None:
    if not re.fullmatch(r'[0-9a-f]{64}', digest):
        raise ValueError(f'{digest!r} is no sha256')
