"""Checks what a build has made, away from the source tree: `check_install.py PREFIX` of colcon, or `... FILE.whl`.

colcon's: the environment it writes gives a package of that prefix, whose messages load their type support, and every
launch file, configuration, avatar and executable is there. A wheel: the same files are in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROBE = """
import importlib, pkgutil, sys
import emavatar_ros
from emavatar_ros import avatars, graph, msg, profiles
assert emavatar_ros.__file__.startswith(sys.argv[1]), f'{emavatar_ros.__file__} is not of {sys.argv[1]}'
kinds = [kind for kind in vars(msg).values() if isinstance(kind, type)]
assert kinds, 'no messages'
for kind in kinds:
    kind.__class__.__import_type_support__()
for node in graph.NODES.values():
    node.config, node.node_class
assert avatars.names() and profiles.names()
for name in profiles.names():
    profiles.load(name)
print(len(kinds), 'messages,', len(graph.NODES), 'nodes,', ', '.join(avatars.names()))
"""


def shared_files() -> list[str]:
    """Every file of launch, config and avatars, as paths in the share folder."""
    return [str(path.relative_to(ROOT)) for top in ('launch', 'config', 'avatars') for path in (ROOT / top).rglob('*')
            if path.is_file() and '__pycache__' not in path.parts]


def code() -> list[str]:
    """Every file of the Python package that is in the source tree itself."""
    built = {'msg', 'srv', 'action', '__pycache__'}
    return [str(path.relative_to(ROOT)) for path in (ROOT / 'emavatar_ros').rglob('*')
            if path.is_file() and not built & set(path.parts) and path.suffix not in ('.so', '.pyc')]


def check_prefix(prefix: Path) -> list[str]:
    """What is wrong with a folder that colcon installed into."""
    share, programs = prefix / 'share' / 'emavatar_ros', prefix / 'lib' / 'emavatar_ros'
    missing = [f'share/{name}' for name in shared_files() if not (share / name).is_file()]
    nodes = [path.name.removesuffix('_node.py') for path in (ROOT / 'emavatar_ros' / 'nodes').glob('*_node.py')]
    missing += [f'lib/{name}' for name in [*nodes, 'host', 'emavatar'] if not os.access(programs / name, os.X_OK)]
    package = next(iter(prefix.glob('**/*-packages/emavatar_ros')), prefix)
    missing += [name for name in code() if not (package.parent / name).is_file()]
    if missing:
        return [f'not installed: {name}' for name in missing]
    env = {name: value for name, value in os.environ.items() if name != '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
    script = 'source "$0" && exec "$1" -c "$2" "$3"'
    command = ['bash', '-c', script, prefix.parent / 'setup.bash', sys.executable, PROBE,
               prefix]
    done = subprocess.run(command, cwd='/', env=env, capture_output=True, text=True, check=False)
    print(done.stdout.strip())
    return [] if done.returncode == 0 else [done.stderr.strip() or f'ended with {done.returncode}']


def check_wheel(wheel: Path) -> list[str]:
    """What is wrong with a wheel."""
    names = zipfile.ZipFile(wheel).namelist()
    wanted = code() + [f'share/emavatar_ros/{name}' for name in shared_files()]
    wanted += ['emavatar_ros/msg/__init__.py', 'emavatar_ros/srv/__init__.py', 'emavatar_ros/action/__init__.py',
               'emavatar_ros_s__rosidl_typesupport_fastrtps_c.so', 'entry_points.txt']
    print(f'{wheel.name}: {len(names)} files')
    return [f'not in the wheel: {name}' for name in wanted if not any(found.endswith(name) for found in names)]


def main() -> int:
    """Check the target named on the command line; 0 when nothing is wrong."""
    target = Path(sys.argv[1]).resolve()
    wrong = check_wheel(target) if target.suffix == '.whl' else check_prefix(target)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
