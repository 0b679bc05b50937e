"""The launch files against the node list. ROS 2's launch is on no package index, so a recorder stands in for it here;
with the real packages the files are tried by hand (see the README)."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

import pytest

from emavatar_ros.graph import NODES, PARTS, PROCESSES
from emavatar_ros.nodes import host
from emavatar_ros.nodes.launch_description import ARGUMENTS, choices_of
from emavatar_ros.places import share

FILES = {'perceive': ('perceive',), 'converse': ('converse',), 'perform': ('perform',), 'kiosk': PARTS}


class Recorded:
    """Keeps what an action was made with."""

    def __init__(self, *args, **options):
        self.args, self.options = args, options


@pytest.fixture
def launch(monkeypatch):
    """Stand-ins for launch, launch.actions and launch_ros.actions."""
    for name, members in {'launch': ('LaunchDescription',), 'launch_ros': (), 'launch_ros.actions': ('Node',),
                          'launch.actions': ('DeclareLaunchArgument', 'OpaqueFunction', 'SetEnvironmentVariable')
                          }.items():
        module = types.ModuleType(name)
        for member in members:
            setattr(module, member, type(member, (Recorded,), {}))
        monkeypatch.setitem(sys.modules, name, module)


def started(file: str, **given: str) -> list[Recorded]:
    path = share(f'launch/{file}.launch.py')
    spec = importlib.util.spec_from_file_location(f'launch_file_{file}', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (actions,) = module.generate_launch_description().args
    declared = {action.args[0]: action.options['default_value'] for action in actions[:-1]}
    assert set(declared) == set(ARGUMENTS)
    context = types.SimpleNamespace(launch_configurations={**declared, **given})
    function = actions[-1].options
    made = function['function'](context, **function['kwargs'])
    return [action for action in made if type(action).__name__ == 'Node']


def parsed(node: Recorded):
    return host.parser().parse_args(node.options['arguments'])


@pytest.mark.parametrize('file', FILES)
def test_a_file_starts_exactly_its_nodes(launch, file):
    names = [name for node in started(file) for name in parsed(node).names]
    assert sorted(names) == sorted(name for name, node in NODES.items() if node.part in FILES[file])


def test_every_process_names_what_exists(launch):
    settings = {}
    for node in started('kiosk', avatar='tomas', microphone='none', namespace='lobby'):
        assert node.options['package'] == 'emavatar_ros' and node.options['executable'] == 'host'
        assert node.options['namespace'] == 'lobby'
        given = parsed(node)
        assert set(given.settings) <= set(given.names)
        settings |= given.settings
    assert settings['planner']['avatar'] == settings['stage']['avatar'] == 'tomas'
    assert settings['microphone']['source'] == 'none'


def test_composed_is_one_process_and_autostart_can_be_left_to_a_manager(launch):
    (node,) = started('kiosk', composed='true', autostart='false')
    assert sorted(parsed(node).names) == sorted(NODES) and parsed(node).wait


def test_the_executable_is_installed():
    prefixes = [Path(sys.prefix), *Path(__file__).resolve().parents]
    assert any((prefix / 'lib/emavatar_ros/host').is_file() for prefix in prefixes)


def test_every_node_is_in_one_process_and_has_a_class():
    grouped = [name for group in PROCESSES for name in group]
    assert sorted(grouped) == sorted(NODES)
    for name, node in NODES.items():
        assert node.node_class.name == name and node.node_class.Config is node.config


def test_arguments_offer_what_there_is():
    assert 'embedded' in choices_of('profile') and 'tomas' in choices_of('avatar')
    assert choices_of('camera') is None
