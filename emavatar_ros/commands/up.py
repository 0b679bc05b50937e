"""`emavatar up`: the whole graph, started and watched."""

from __future__ import annotations

import argparse

from emavatar_ros.commands import Commands, add_avatar, add_profile, command


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'up', 'start the ROS 2 graph and keep it running', run,
                     'One Ctrl-C stops all of it. A process that dies is started again.')
    add_avatar(parser)
    add_profile(parser)
    add_devices(parser)
    parser.add_argument('--params-file', default='', metavar='FILE',
                        help='a ROS parameter file that overrides the profile')
    parser.add_argument('--namespace', default='', metavar='NAME', help='namespace of every node')
    parser.add_argument('--composed', action='store_true', help='all nodes in one process')
    parser.add_argument('--log-level', default='info', choices=('debug', 'info', 'warn', 'error', 'fatal'),
                        help='least severity that is logged (default: info)')


def add_devices(parser: argparse.ArgumentParser) -> None:
    """The options that name this machine's devices; empty takes the first or the system's own."""
    parser.add_argument('--camera', default='', metavar='NAME',
                        help='index, path, part of its name, file, URL, or none')
    parser.add_argument('--microphone', default='', metavar='NAME', help='part of its name, index, file, or none')
    parser.add_argument('--speaker', default='', metavar='NAME', help='part of its name, index, or none')
    parser.add_argument('--screen', default='', metavar='NAME', help='window, fullscreen or none')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros import up
    from emavatar_ros.launching import Choices

    choices = Choices(args.profile, args.avatar, args.camera, args.microphone, args.speaker, args.screen,
                      args.params_file)
    return up.run(choices, composed=args.composed, namespace=args.namespace, log_level=args.log_level)
