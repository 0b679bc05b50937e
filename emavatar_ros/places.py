"""Where the project's data folders (config, avatars) are: in the source tree, or installed under share/emavatar_ros."""

from __future__ import annotations

from pathlib import Path

from emavatar_ros.errors import Missing


def share(relative: str) -> Path:
    """The file or folder `relative` ('config/models.yaml', 'avatars'); raises Missing when the installation lacks it.

    Looked for beside the package (a source tree, `pip install -e`), then under `share/emavatar_ros` of every folder
    above it: that is where pip and colcon put it, whatever the depth of their library folder.
    """
    package = Path(__file__).resolve().parent
    for folder in (package.parent, *(above / 'share' / 'emavatar_ros' for above in package.parents)):
        if (folder / relative).exists():
            return folder / relative
    raise Missing(f'{relative} is not installed with the emavatar_ros package in {package}: install the package anew')
