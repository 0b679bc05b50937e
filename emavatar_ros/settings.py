"""Settings: declared once, used as ROS parameters, profile entries and constructor arguments.

A settings class is a frozen dataclass whose fields are made with `setting(...)`, which carries help, unit and
range. Nested dataclasses give dotted names (`recogniser.model`). `specs` lists them (a node declares its ROS
parameters from that list), `build` makes the object from a flat mapping and refuses unknown keys and values out
of range: ROS itself ignores an unknown key in a parameter file silently.

A backend is chosen by a setting made with `backend(...)`: its value is the name of a file in a room, or the dotted path
of somebody's own module. `resolve` adds the chosen module's `Config` to the settings class under the module's name, so
that `kokoro.threads` exists exactly when Kokoro was chosen; a backend may choose one of its own the same way
(`llm.openai.url`). There is no list of backends to keep.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, TypeVar, get_type_hints

from emavatar_ros.errors import BadInput

T = TypeVar('T')
Value = bool | int | float | str


@dataclass(frozen=True)
class Spec:
    """One declared setting: dotted name, default, and what a person needs to choose a value."""

    name: str
    default: Value
    help: str
    unit: str = ''
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def kind(self) -> type:
        """The type a value must have: bool, int, float or str."""
        return type(self.default)

    def check(self, value: object) -> Value:
        """Return `value` in this setting's type, or raise BadInput naming the setting and what is allowed."""
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not self.kind:
            raise BadInput(f'{self.name} must be {self.kind.__name__}, not {value!r}')
        assert isinstance(value, (bool, int, float, str))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            low = -float('inf') if self.low is None else self.low
            high = float('inf') if self.high is None else self.high
            if not low <= value <= high:
                raise BadInput(f'{self.name} must be between {self.low} and {self.high} {self.unit}'.rstrip()
                               + f', not {value}')
        if self.choices and value not in self.choices:
            raise BadInput(f'{self.name} must be one of {", ".join(self.choices)}, not {value!r}')
        return value


def setting(default: Value, help: str, *, unit: str = '', low: float | None = None, high: float | None = None,
            choices: tuple[str, ...] = ()) -> Any:
    """Declare one field of a settings class; `unit` is SI where there is one."""
    return field(default=default, metadata={'spec': (help, unit, low, high, choices)})


def backend(default: str, room: str, help: str) -> Any:
    """Declare the field that chooses a backend: a file's name in `room`, or the dotted path of a module."""
    where = 'emavatar_ros/' + room.replace('.', '/')
    told = f'{help}: a file in {where}, or the dotted path of a module'
    return field(default=default, metadata={'spec': (told, '', None, None, ()), 'room': room})


def module(room: str, name: str) -> ModuleType:
    """The backend's module; BadInput when there is none of that name. Its own imports may raise what they raise."""
    path = name if '.' in name else f'emavatar_ros.{room}.{name}'
    try:
        found = find_spec(path) is not None
    except ModuleNotFoundError:
        found = False
    loaded = import_module(path) if found else None
    if loaded is None or not hasattr(loaded, 'create') or not hasattr(loaded, 'Config'):
        raise BadInput(f'{name!r} is no backend of {room}: it must be a module with Config and create(config, ...)')
    return loaded


def resolve(cls: type, values: Mapping[str, object]) -> type:
    """The settings class with the Config of each backend that `values` (or the default) chooses, under its name."""
    added: list[tuple[str, Any, Any]] = []
    for item in dataclasses.fields(cls):
        if 'room' in item.metadata:
            name = str(values.get(item.name, item.default))
            short = name.rsplit('.', 1)[-1]
            own = {key.removeprefix(short + '.'): value for key, value in values.items() if key.startswith(short + '.')}
            config = resolve(module(item.metadata['room'], name).Config, own)
            added.append((short, config, field(default_factory=config)))
    if not added:
        return cls
    return dataclasses.make_dataclass(cls.__name__, added, bases=(cls,), frozen=True)


def chosen(config: object, field_name: str) -> tuple[ModuleType, Any]:
    """The module and the Config of the backend chosen by a field of a settings object made from a resolved class."""
    room = next(f.metadata['room'] for f in dataclasses.fields(config) if f.name == field_name)  # type: ignore[arg-type]
    name = str(getattr(config, field_name))
    loaded = module(room, name)
    return loaded, getattr(config, name.rsplit('.', 1)[-1], loaded.Config())


def specs(cls: type, prefix: str = '') -> Iterator[Spec]:
    """Every setting of a settings class, nested ones with dotted names, in the order declared."""
    hints = get_type_hints(cls)
    for item in dataclasses.fields(cls):
        if dataclasses.is_dataclass(hints[item.name]):
            yield from specs(hints[item.name], f'{prefix}{item.name}.')
        else:
            default: Any = item.default
            yield Spec(prefix + item.name, default, *item.metadata['spec'])


def build(cls: type[T], values: Mapping[str, object], where: str = 'settings') -> T:
    """Make a settings object from a flat mapping of dotted names; what is not named keeps its default.

    Raises BadInput for an unknown name (with the nearest known one) or a value that doesn't fit; `where` says
    in the message which file or node the mapping came from.
    """
    try:
        cls = resolve(cls, values)
    except BadInput as error:
        raise BadInput(f'{where}: {error}') from None
    known = {spec.name: spec for spec in specs(cls)}
    for name in values:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise BadInput(f'{where}: unknown setting {name!r}' + (f'; did you mean {near[0]!r}?' if near else ''))
    try:
        return _build(cls, {name: known[name].check(value) for name, value in values.items()}, '')
    except BadInput as error:
        raise BadInput(f'{where}: {error}') from None


def _build(cls: type[T], values: Mapping[str, Value], prefix: str) -> T:
    hints = get_type_hints(cls)
    chosen: dict[str, Any] = {}
    for item in dataclasses.fields(cls):  # type: ignore[arg-type]
        name = prefix + item.name
        if dataclasses.is_dataclass(hints[item.name]):
            chosen[item.name] = _build(hints[item.name], values, name + '.')
        elif name in values:
            chosen[item.name] = values[name]
    return cls(**chosen)
