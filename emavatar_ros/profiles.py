"""Profiles: what one kind of machine wants different from the defaults in code.

`config/<name>.yaml` is a ROS 2 parameter file, so `ros2 run ... --params-file` takes it as it is:

    /**/planner:
      ros__parameters:
        llm.model: qwen-1.5b

Node names are the graph's; keys are those of the node's settings class, dotted or nested. ROS ignores an unknown
name in such a file silently; here it is an error. The same mapping serves the graph and `emavatar turn`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from emavatar_ros.errors import BadInput
from emavatar_ros.graph import NODES
from emavatar_ros.places import share
from emavatar_ros.settings import Value, build

PARAMETERS: Final = 'ros__parameters'
OTHERS: Final = frozenset({'models', 'reliability', 'cues'})
"""Files of the config folder that are no profiles."""


def names() -> tuple[str, ...]:
    """The profiles that come with the package, `embedded` (the default) first."""
    found = sorted(path.stem for path in share('config').glob('*.yaml') if path.stem not in OTHERS)
    return tuple(sorted(found, key=lambda name: name != 'embedded'))


def path(name: str) -> Path:
    """The parameter file of a profile by name, or of a path to one (it ends with .yaml); raises BadInput."""
    if name.endswith(('.yaml', '.yml')):
        if not Path(name).is_file():
            raise BadInput(f'the profile {name} does not exist')
        return Path(name)
    if name not in names():
        raise BadInput(f'unknown profile {name!r}; known: {", ".join(names())} (or give a parameter file, mine.yaml)')
    return share(f'config/{name}.yaml')


def load(name: str, known: Mapping[str, type] | None = None) -> dict[str, dict[str, Value]]:
    """The settings a profile changes: node name -> dotted setting name -> value; a node it leaves alone is not in it.

    known: settings class by node name; the graph's own unless given. Raises BadInput for an unknown profile, node or
    setting, and for a value that doesn't fit.
    """
    file = path(name)
    classes = _Graph() if known is None else known
    try:
        tree = yaml.safe_load(file.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f'{file} can\'t be read: {" ".join(str(error).split())}') from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise BadInput(f'{file} must hold node names with {PARAMETERS}')
    chosen: dict[str, dict[str, Value]] = {}
    for key, entry in tree.items():
        node = str(key).rsplit('/', 1)[-1]
        if node not in classes:
            near = difflib.get_close_matches(node, classes, 1)
            raise BadInput(f'{file}: unknown node {node!r}'
                           + (f'; did you mean {near[0]!r}?' if near else f'; known: {", ".join(classes)}'))
        if not isinstance(entry, dict) or set(entry) != {PARAMETERS} or not isinstance(entry[PARAMETERS], dict):
            raise BadInput(f'{file}: {node} must hold {PARAMETERS} and nothing else')
        values = dict(_flat(entry[PARAMETERS], ''))
        build(classes[node], values, f'{file}: {node}')
        chosen[node] = values
    return chosen


class _Graph(Mapping[str, type]):
    """The graph's settings classes; each is imported when it is asked for, as a profile seldom names every node."""

    def __getitem__(self, name: str) -> type:
        return NODES[name].config

    def __iter__(self) -> Iterator[str]:
        return iter(NODES)

    def __len__(self) -> int:
        return len(NODES)

    def __contains__(self, name: object) -> bool:
        return name in NODES


def _flat(tree: Mapping[Any, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value
