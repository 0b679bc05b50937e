"""A folder of results that appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from emavatar_ros.errors import BadInput


@contextmanager
def output_folder(out: Path) -> Iterator[Path]:
    """A temporary folder beside `out`; at the end of the block what is in it becomes `out`'s.

    When the block fails, the temporary folder is removed and `out` is neither created nor changed. Files of the same
    names in `out` are replaced, others stay. Raises BadInput when `out` can't be written, before the block runs where
    that can be known.
    """
    out = Path(os.path.abspath(out))
    try:
        if out.exists():
            _check(out)
        temporary = Path(tempfile.mkdtemp(prefix=f'.{out.name or "emavatar"}.', dir=_beside(out)))
    except OSError as error:
        raise _unwritable(out, error) from None
    try:
        yield temporary
        _move(temporary, out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _beside(out: Path) -> Path:
    """Where the temporary folder goes: on the file system of `out`, so that moving is renaming."""
    above = out.parent
    while not above.exists():
        above = above.parent
    if out.exists() and (out.stat().st_dev != above.stat().st_dev or not os.access(above, os.W_OK)):
        return out
    return above


def _check(out: Path) -> None:
    """BadInput when no file can be made in `out`, found out without leaving a trace in it."""
    if not out.is_dir():
        raise BadInput(f'{out} is a file: --out must be a folder')
    if not os.access(out, os.W_OK | os.X_OK):
        raise BadInput(f'{out} can\'t be written (it is read-only): choose another folder')


def _move(temporary: Path, out: Path) -> None:
    try:
        if not out.exists():
            out.parent.mkdir(parents=True, exist_ok=True)
            os.chmod(temporary, 0o777 & ~_umask())
            os.rename(temporary, out)
            return
        # The JSON file last: it names the others.
        for path in sorted(temporary.iterdir(), key=lambda path: path.suffix == '.json'):
            os.replace(path, out / path.name)
    except OSError as error:
        raise _unwritable(out, error) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(out: Path, error: OSError) -> BadInput:
    return BadInput(f'{out} can\'t be written ({error.strerror}): choose another folder or free some space')
