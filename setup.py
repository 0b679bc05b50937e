"""pip build: runs the package's own CMake project against the ROS 2 wheels and repacks what it installs.

colcon never reads this file: package.xml says ament_cmake.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

NAME = 'emavatar_ros'
GENERATED = ('msg', 'srv', 'action')
HERE = Path(__file__).resolve().parent


def ros_prefix() -> Path:
    """Where the ROS wheels are installed: the environment, or pip's isolated build environment."""
    import rosidl_adapter

    return Path(rosidl_adapter.__file__).resolve().parents[4]


class AmentBuild(build_ext):
    """Generates the messages with CMake; their Python code goes into the package, their libraries beside it."""

    def run(self) -> None:
        build = Path(self.build_temp).resolve() / 'ament'
        stage = build / 'stage'
        shutil.rmtree(stage, ignore_errors=True)
        build.mkdir(parents=True, exist_ok=True)
        prefix = str(ros_prefix())
        env = dict(os.environ, AMENT_PREFIX_PATH=prefix, CMAKE_PREFIX_PATH=prefix)
        subprocess.check_call(
            ['cmake', '-S', str(HERE), '-B', str(build), '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release',
             '-DBUILD_TESTING=OFF', f'-DCMAKE_INSTALL_PREFIX={stage}', f'-DPython3_EXECUTABLE={sys.executable}'],
            env=env)
        subprocess.check_call(['cmake', '--build', str(build), '--target', 'install'], env=env)
        self._take_generated_code(stage)
        self._take_shared_files(stage)
        # setuptools' editable_wheel asks has_data(), which no Distribution has, and so leaves data_files out of
        # `pip install -e` (seen with setuptools 65 to 82).
        self.distribution.has_data = lambda: True

    def _take_generated_code(self, stage: Path) -> None:
        source = next(folder for pattern in ('lib/python*/*-packages', 'local/lib/python*/*-packages')
                      for folder in stage.glob(f'{pattern}/{NAME}'))
        target = HERE / NAME if self.editable_mode or self.inplace else Path(self.build_lib) / NAME
        target.mkdir(parents=True, exist_ok=True)
        for item in source.iterdir():
            if item.name in GENERATED:
                shutil.copytree(item, target / item.name, dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns('__pycache__', '*.c'))
            elif item.suffix == '.so':
                shutil.copy2(item, target / item.name)

    def _take_shared_files(self, stage: Path) -> None:
        files: dict[str, list[str]] = {}
        for top in ('lib', 'share'):
            for path in (stage / top).rglob('*'):
                relative = path.relative_to(stage)
                if path.is_file() and not {'site-packages', 'dist-packages'} & set(relative.parts):
                    files.setdefault(str(relative.parent), []).append(os.path.relpath(path, HERE))
        self.distribution.data_files = [*(self.distribution.data_files or []), *sorted(files.items())]

    def get_outputs(self) -> list[str]:
        return []

    def get_output_mapping(self) -> dict[str, str]:
        return {}


setup(
    packages=find_packages(include=[NAME, NAME + '.*'], exclude=[f'{NAME}.{kind}' for kind in GENERATED]),
    package_data={NAME: ['**/*.npz', '**/*.md', '**/*.txt', '**/*.yaml', '**/*.json', '**/*.tsv', '**/*.glsl',
                         '**/*.vert', '**/*.frag', '**/*.xml', 'py.typed']},
    ext_modules=[Extension(f'{NAME}._typesupport', sources=[])],  # makes the wheel one for this platform only
    cmdclass={'build_ext': AmentBuild},
    zip_safe=False,
)
