"""What to start: the processes of the graph with their parameters, for `emavatar up` and for the launch files alike."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from emavatar_ros import avatars, profiles
from emavatar_ros.graph import NODES, PROCESSES
from emavatar_ros.nodes import THREADS
from emavatar_ros.places import share
from emavatar_ros.settings import Value, build, specs

SHARED_MEMORY = 256 << 20
"""Free bytes in /dev/shm that the shared-memory transport of the whole graph may need."""


WINDOWS = {'window': 'sized', 'fullscreen': 'full'}
"""Screens that are a way to show the window; any other names the screen itself."""


@dataclass(frozen=True)
class Choices:
    """What the person who starts the graph chose; '' leaves it to the profile."""

    profile: str = 'embedded'
    avatar: str = ''
    camera: str = ''
    microphone: str = ''
    speaker: str = ''
    screen: str = ''
    params_file: str = ''
    record: str = ''

    def settings(self) -> dict[str, dict[str, Value]]:
        """Every node's settings that differ from the defaults; BadInput for an unknown name, value or avatar."""
        chosen = {name: dict(values) for name, values in profiles.load(self.profile).items()}
        if self.params_file:
            for name, values in profiles.load(self.params_file).items():
                chosen.setdefault(name, {}).update(values)
        direct = {('camera', 'source'): self.camera, ('microphone', 'source'): self.microphone,
                  ('stage', 'speaker'): self.speaker, ('stage', 'record'): self.record,
                  ('stage', 'window' if self.screen in WINDOWS else 'screen'): WINDOWS.get(self.screen, self.screen)}
        for (name, key), value in direct.items():
            if value:
                chosen.setdefault(name, {})[key] = value
        if self.avatar:
            for name, node in NODES.items():
                if any(spec.name == 'avatar' for spec in specs(node.config)):
                    chosen.setdefault(name, {})['avatar'] = self.avatar
        for name, values in chosen.items():
            build(NODES[name].config, values, name)
            if 'avatar' in values:
                avatars.load(str(values['avatar']))
        return chosen


@dataclass(frozen=True)
class Process:
    """One process to start: `host` with these nodes and, by node, their settings that differ from the defaults."""

    names: tuple[str, ...]
    settings: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    @property
    def arguments(self) -> list[str]:
        """The command line of `host`. The settings are on it: a file of them would have to be removed by somebody."""
        return [*self.names, '--settings', json.dumps(self.settings)] if self.settings else [*self.names]


def processes(choices: Choices, only: Collection[str] = NODES, composed: bool = False) -> list[Process]:
    """The processes of the graph, those nodes that are in `only`."""
    settings = choices.settings()
    groups = [tuple(name for name in group if name in only) for group in PROCESSES]
    if composed:
        groups = [tuple(name for group in groups for name in group)]
    return [Process(group, {name: settings[name] for name in group if settings.get(name)}) for group in groups if group]


def keep_apart() -> None:
    """Let this process and the graph it starts see neither another host's nor another graph's nodes; a user's own
    choice wins. Called before ROS is started."""
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))


def environment() -> dict[str, str]:
    """What a node's process needs in its environment beside what is there; a user's own choice always wins."""
    wanted = {**THREADS, 'PYTHONUNBUFFERED': '1'}
    shared = Path('/dev/shm')
    if shared.is_dir() and shutil.disk_usage(shared).free >= SHARED_MEMORY:
        wanted['FASTDDS_DEFAULT_PROFILES_FILE'] = str(share('config/fastdds.xml'))
    return {name: value for name, value in wanted.items() if name not in os.environ}
