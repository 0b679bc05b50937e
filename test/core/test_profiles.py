"""Profiles: the shipped ones hold only known settings; a wrong name or value is refused with the file's name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from emavatar_ros import profiles
from emavatar_ros.errors import BadInput
from emavatar_ros.graph import NODES
from emavatar_ros.settings import build, setting


@dataclass(frozen=True)
class Inner:
    threads: int = setting(1, 'threads', low=1, high=8)


@dataclass(frozen=True)
class Outer:
    name: str = setting('a', 'name')
    inner: Inner = field(default_factory=Inner)


KNOWN = {'planner': Outer, 'speech': Outer}


def write(folder: Path, text: str) -> str:
    file = folder / 'mine.yaml'
    file.write_text(text)
    return str(file)


def test_the_profiles_there_are() -> None:
    assert profiles.names() == ('embedded', 'jetson', 'workstation')


@pytest.mark.parametrize('name', ['embedded', 'workstation', 'jetson'])
def test_shipped_profiles_change_what_they_say(name: str) -> None:
    for node, values in profiles.load(name).items():
        config = NODES[node].config
        assert build(config, values) != build(config, {}), f'{node}: nothing differs from the defaults'


def test_nested_and_dotted_names_are_the_same(tmp_path: Path) -> None:
    dotted = profiles.load(write(tmp_path, '/**/planner: {ros__parameters: {inner.threads: 3}}'), KNOWN)
    nested = profiles.load(write(tmp_path, 'planner: {ros__parameters: {inner: {threads: 3}}}'), KNOWN)
    assert dotted == nested == {'planner': {'inner.threads': 3}}


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert profiles.load(write(tmp_path, '# nothing\n'), KNOWN) == {}


@pytest.mark.parametrize(('text', 'says'), [
    ('/**/planer: {ros__parameters: {name: b}}', "did you mean 'planner'"),
    ('/**/kitchen: {ros__parameters: {name: b}}', 'known: planner, speech'),
    ('/**/planner: {ros__parameters: {inner.thread: 3}}', "did you mean 'inner.threads'"),
    ('/**/planner: {ros__parameters: {inner.threads: 99}}', 'between 1 and 8'),
    ('/**/planner: {ros__parameters: {inner.threads: many}}', 'must be int'),
    ('/**/planner: {name: b}', 'ros__parameters'),
    ('/**/planner: {ros__parameters: [name]}', 'ros__parameters'),
    ('- a list', 'node names'),
    ('a: [', "can't be read"),
])
def test_mistakes_are_named(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        profiles.load(write(tmp_path, text), KNOWN)
    assert says in str(error.value)
    assert 'mine.yaml' in str(error.value)


def test_an_unknown_profile_lists_the_known_ones() -> None:
    with pytest.raises(BadInput, match='embedded, jetson, workstation'):
        profiles.load('mainframe')
