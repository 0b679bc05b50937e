"""The launch files' common part: the node list as `ros2 launch` wants it. Needs ROS 2's launch and launch_ros."""

from __future__ import annotations

from typing import Any

from emavatar_ros import avatars, profiles
from emavatar_ros.graph import NODES
from emavatar_ros.launching import Choices, environment, processes

ARGUMENTS: dict[str, tuple[str, str]] = {
    'profile': ('embedded', 'which models and devices: a file in config/'),
    'avatar': ('', 'who is on the screen: a folder in avatars/; empty for the profile\'s'),
    'namespace': ('', 'namespace of every node'),
    'params_file': ('', 'a ROS parameter file that overrides the profile'),
    'camera': ('', 'camera: index, path, part of its name, file, URL, or none'),
    'microphone': ('', 'microphone: part of its name, index, file, or none'),
    'speaker': ('', 'speaker: part of its name, index, or none'),
    'screen': ('', 'screen: a window, fullscreen, or none'),
    'composed': ('false', 'all nodes in one process'),
    'log_level': ('info', 'least severity that is logged'),
    'autostart': ('true', 'configure and activate the nodes; false leaves it to a lifecycle manager'),
}
"""Launch arguments by name: default and description."""


def choices_of(name: str) -> list[str] | None:
    """The values an argument may have, None for any."""
    match name:
        case 'profile':
            return list(profiles.names())
        case 'avatar':
            return ['', *avatars.names()]
        case 'composed' | 'autostart':
            return ['true', 'false']
        case 'log_level':
            return ['debug', 'info', 'warn', 'error', 'fatal']
    return None


def describe(*parts: str) -> Any:
    """A LaunchDescription of the nodes of these parts (perceive, converse, perform)."""
    from launch.actions import DeclareLaunchArgument, OpaqueFunction

    from launch import LaunchDescription

    declared = [DeclareLaunchArgument(name, default_value=default, description=help, choices=choices_of(name))
                for name, (default, help) in ARGUMENTS.items()]
    return LaunchDescription([*declared, OpaqueFunction(function=_nodes, kwargs={'parts': parts})])


def _nodes(context: Any, parts: tuple[str, ...]) -> list[Any]:
    from launch.actions import SetEnvironmentVariable
    from launch_ros.actions import Node

    given = {name: context.launch_configurations[name] for name in ARGUMENTS}
    choices = Choices(**{name: given[name] for name in
                         ('profile', 'avatar', 'camera', 'microphone', 'speaker', 'screen', 'params_file')})
    only = [name for name, node in NODES.items() if node.part in parts]
    wait = [] if given['autostart'] == 'true' else ['--wait']
    return [SetEnvironmentVariable(name, value) for name, value in environment().items()] + [
        Node(package='emavatar_ros', executable='host', namespace=given['namespace'], output='screen',
             arguments=[*process.arguments, *wait], respawn=True, respawn_delay=2.0,
             ros_arguments=['--log-level', given['log_level']])
        for process in processes(choices, only, given['composed'] == 'true')]
