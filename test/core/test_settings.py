"""Settings: declared once, refused when wrong."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from emavatar_ros.errors import BadInput
from emavatar_ros.settings import backend as backend_setting
from emavatar_ros.settings import build, chosen, setting, specs


@dataclass(frozen=True)
class Inner:
    gain: float = setting(1.0, 'gain', low=0.0, high=2.0)


@dataclass(frozen=True)
class Outer:
    name: str = setting('a', 'name', choices=('a', 'b'))
    count: int = setting(3, 'count', low=1)
    on: bool = setting(False, 'switch')
    inner: Inner = field(default_factory=Inner)


@dataclass(frozen=True)
class Speaks:
    backend: str = backend_setting('espeak', 'voice', 'what speaks')


def test_specs_are_flat_and_ordered():
    assert [spec.name for spec in specs(Outer)] == ['name', 'count', 'on', 'inner.gain']


def test_build_takes_what_is_named_and_keeps_the_rest():
    made = build(Outer, {'inner.gain': 2, 'count': 5})
    assert made == Outer(count=5, inner=Inner(gain=2.0))
    assert isinstance(made.inner.gain, float)


@pytest.mark.parametrize(('values', 'said'), [
    ({'cuont': 1}, "did you mean 'count'"),
    ({'count': 0}, 'between 1'),
    ({'count': True}, 'must be int'),
    ({'name': 'c'}, 'one of a, b'),
    ({'inner.gain': 3.0}, 'between 0'),
    ({'on': 1}, 'must be bool'),
    ({'inner.gain': float('nan')}, 'between'),
])
def test_wrong_values_are_refused_by_name(values, said):
    with pytest.raises(BadInput, match=said):
        build(Outer, values, 'my.yaml')


def test_a_backend_brings_its_own_settings_only_when_chosen():
    made = build(Speaks, {'espeak.first_words': 3})
    module, config = chosen(made, 'backend')
    assert module.__name__ == 'emavatar_ros.voice.espeak' and config.first_words == 3
    with pytest.raises(BadInput, match=r'kokoro\.threads'):
        build(Speaks, {'kokoro.threads': 1})
    assert chosen(build(Speaks, {'backend': 'kokoro', 'kokoro.threads': 1}), 'backend')[1].threads == 1


def test_an_unknown_backend_is_refused():
    with pytest.raises(BadInput, match='no backend of voice'):
        build(Speaks, {'backend': 'gramophone'})
    with pytest.raises(BadInput, match='no backend of voice'):
        build(Speaks, {'backend': 'nowhere.at_all'})
