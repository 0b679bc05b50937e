"""The model store: a folder of models on this machine, filled once and then used without any request.

`path` never downloads unless asked to: a robot must not start a gigabyte's download because a node was configured.
Pulling is what `emavatar models pull` and the demo do.

Layout of the cache (~/.cache/emavatar, or what EMAVATAR_MODELS names):

    <model>/<files under their upstream names>, ok.json      a finished model, renamed here as a whole
    .partial/<model>/                                        one being fetched; what is in it is used again
    .locks/<model>.lock                                      held by the one process that fetches it

ok.json records sha256, size and modification time of each file when its sha256 was checked. A start from the cache
compares size and time only; a file whose time differs (a copied cache) is hashed again, once where the cache can be
written. A folder filled by hand is taken when its hashes are right.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from emavatar_ros.errors import Missing
from emavatar_ros.models.catalogue import Catalogue, Model, ModelFile
from emavatar_ros.models.download import Config, Failed, sha256
from emavatar_ros.models.progress import Progress
from emavatar_ros.models.sources import Fetcher

OK: Final = 'ok.json'
SPARE: Final = 50_000_000
"""Bytes that stay free on the disk beside what is fetched."""


@dataclass(frozen=True)
class Row:
    """One line of `emavatar models list`."""

    name: str
    job: str
    licence: str
    profiles: tuple[str, ...]
    bytes: int
    cached: bool


@dataclass(frozen=True)
class Verdict:
    """What `verify` found about one model: `remedy` is what to run, '' when it is fine."""

    name: str
    ok: bool
    detail: str
    remedy: str


def default_root() -> Path:
    """The cache's folder: $EMAVATAR_MODELS, else emavatar in $XDG_CACHE_HOME or ~/.cache."""
    named = os.environ.get('EMAVATAR_MODELS')
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache').expanduser() / 'emavatar'


class Store:
    """The models on this machine. Several processes may use one cache at the same time."""

    def __init__(self, root: Path | str | None = None, offline: bool = False, *, catalogue: Catalogue | None = None,
                 config: Config | None = None, quiet: bool = False) -> None:
        """`root` is the cache's folder (default_root() unless told); `offline` forbids every request; `quiet` shows
        no progress."""
        self.root = default_root() if root is None else Path(root)
        self.offline = offline
        self.catalogue = catalogue or Catalogue()
        self._config = config or Config()
        self._quiet = quiet

    def path(self, name: str, pull: bool = False) -> Path:
        """The folder that holds the model's files; fetches the model first when `pull` and it is not cached.

        Raises Missing, saying what to run, when it is not there; BadInput for a name the catalogue doesn't know.
        """
        model = self.catalogue[name]
        if pull:
            self._pull(model, Fetcher(self._config))
        elif not self._cached(model):
            raise Missing(f'the model {name} is not in {self.root}: run "emavatar models pull {name}" '
                          f'({model.bytes / 1e6:.0f} MB)')
        return self.root / name

    def cached(self, name: str) -> bool:
        """Whether the model is here and complete."""
        return self._cached(self.catalogue[name])

    def list_models(self) -> list[Row]:
        """Every model of the catalogue, in its order."""
        return [Row(model.name, model.job, model.licence, model.profiles, model.bytes, self._cached(model))
                for model in self.catalogue.models.values()]

    def select(self, names: Iterable[str] = (), profile: str | None = None) -> tuple[str, ...]:
        """The names given and those a profile needs, each once; raises BadInput for an unknown one."""
        chosen = [self.catalogue[name].name for name in names]
        return tuple(dict.fromkeys(chosen + list(self.catalogue.profile(profile) if profile else ())))

    def pull(self, names: Iterable[str] = (), profile: str | None = None) -> list[Path]:
        """Fetch what is missing of the models named and of those a profile needs; returns their folders.

        Raises Missing, in one sentence, when a model can't be had; the ones before it stay.
        """
        fetcher = Fetcher(self._config)
        return [self._pull(self.catalogue[name], fetcher) for name in self.select(names, profile)]

    def verify(self, names: Iterable[str] = ()) -> list[Verdict]:
        """Hash every file of the models named, or of all that are in the cache."""
        chosen = self.select(names) or tuple(n for n in self.catalogue.models if (self.root / n).is_dir())
        return [self._verify(self.catalogue[name]) for name in chosen]

    def _verify(self, model: Model) -> Verdict:
        folder = self.root / model.name
        again = f'emavatar models pull {model.name}'
        if not folder.is_dir():
            return Verdict(model.name, False, 'not in the cache', again)
        bad = [file.name for file in model.files if not _right(folder / file.name, file)]
        if not bad:
            self._record(model)
            return Verdict(model.name, True, 'every sha256 is right', '')
        try:
            (folder / OK).unlink(missing_ok=True)  # so that nothing starts on it and a pull fetches it again
        except OSError:
            again = f'make {self.root} writable, then {again}'
        return Verdict(model.name, False, f'damaged or missing: {", ".join(bad)}', again)

    def _cached(self, model: Model) -> bool:
        folder = self.root / model.name
        try:
            known = json.loads((folder / OK).read_text(encoding='utf-8'))['files']
        except (OSError, ValueError, KeyError, TypeError):
            known = {}
        changed = []
        for file in model.files:
            try:
                now = (folder / file.name).stat()
            except OSError:
                return False
            if now.st_size != file.bytes:
                return False
            if known.get(file.name) != _entry(file, now):
                changed.append(file)
        if changed:
            if not all(_right(folder / file.name, file) for file in changed):
                return False
            self._record(model)
        return True

    def _record(self, model: Model) -> None:
        """Write ok.json for files whose hashes were just checked; a read-only cache goes without."""
        folder = self.root / model.name
        files = {file.name: _entry(file, (folder / file.name).stat()) for file in model.files}
        part = folder / f'{OK}.{os.getpid()}'
        try:
            part.write_text(json.dumps({'model': model.name, 'files': files}, indent=1), encoding='utf-8')
            part.replace(folder / OK)
        except OSError:
            with suppress(OSError):
                part.unlink()

    def _pull(self, model: Model, fetcher: Fetcher) -> Path:
        folder = self.root / model.name
        if self._cached(model):
            return folder
        if self.offline:
            raise Missing(f'the model {model.name} is not in {self.root} and fetching is off: run "emavatar models '
                          f'pull {model.name}" with a network, or copy the folder there')
        with (self._writing(model), Progress(model.name, model.bytes, self._quiet) as progress,
              self._locked(model, progress)):
            if not self._cached(model):  # else another process has just fetched it
                self._fetch(model, fetcher, progress)
        return folder

    def _fetch(self, model: Model, fetcher: Fetcher, progress: Progress) -> None:
        folder, work = self.root / model.name, self.root / '.partial' / model.name
        work.mkdir(parents=True, exist_ok=True)
        for file in model.files:
            target = work / file.name
            if not _right(target, file):
                if _right(folder / file.name, file):  # the catalogue changed around it, or its neighbour is damaged
                    shutil.copyfile(folder / file.name, target)
                else:
                    self._fetch_file(model, file, fetcher, work, progress)
            progress.base += file.bytes
            progress.at(0)
        for path in set(work.iterdir()) - {work / file.name for file in model.files}:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        old = self.root / '.partial' / f'{model.name}.old'
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.rename(old)
        (work / OK).write_text(json.dumps({'model': model.name, 'files': {
            file.name: _entry(file, (work / file.name).stat()) for file in model.files}}, indent=1), encoding='utf-8')
        work.rename(folder)
        shutil.rmtree(old, ignore_errors=True)

    def _fetch_file(self, model: Model, file: ModelFile, fetcher: Fetcher, work: Path, progress: Progress) -> None:
        free, need = shutil.disk_usage(work).free, 2 * file.bytes + SPARE  # a carrier and what is taken out of it
        if free < need:
            raise OSError(errno.ENOSPC, 'No space left on device')
        tried = []
        for source in file.sources:
            try:
                part = fetcher.fetch(source, file, work, lambda done: progress.at(min(done, file.bytes)))
            except Failed as reason:
                tried.append(f'{source}: {reason}')
                continue
            part.rename(work / file.name)
            progress.say_file(f'{model.name}/{file.name} {file.bytes / 1e6:.1f} MB from {source}')
            return
        raise Missing(f'the model {model.name} ({file.name}) could not be fetched ({"; ".join(tried)}): '
                      f'check the network, then run "emavatar models pull {model.name}"')

    @contextmanager
    def _locked(self, model: Model, progress: Progress) -> Iterator[None]:
        lock = FileLock(self.root / '.locks' / f'{model.name}.lock')
        try:
            lock.acquire(timeout=0.1)
        except Timeout:
            progress.say(f'{model.name}: another process is fetching it, waiting')
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _writing(self, model: Model) -> Iterator[None]:
        """Says in one sentence what a cache that can't be written means."""
        try:
            (self.root / '.locks').mkdir(parents=True, exist_ok=True)
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise Missing(f'the disk of {self.root} is too full for the model {model.name} '
                              f'({model.bytes / 1e6:.0f} MB, about twice that while it is fetched): free some space '
                              'or set EMAVATAR_MODELS to a folder on another disk') from None
            raise Missing(f'the model {model.name} is not cached and {self.root} can not be written '
                          f'({error.strerror}): set EMAVATAR_MODELS to a folder that can') from None


def _right(path: Path, file: ModelFile) -> bool:
    try:
        return path.stat().st_size == file.bytes and sha256(path) == file.sha256
    except OSError:
        return False


def _entry(file: ModelFile, now: os.stat_result) -> dict[str, object]:
    return {'sha256': file.sha256, 'bytes': now.st_size, 'mtime_ns': now.st_mtime_ns}
