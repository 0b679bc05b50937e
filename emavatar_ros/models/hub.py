"""Folders of models that come from a hub (huggingface.co) and not from our store: workstation backends' weights.

Nothing is fetched unless a setting says so: what is missing is told with the command that gets it. Where fetching is
allowed it runs in a process of its own, so that a hub that is slow, away or drips bytes costs `longest` at most.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from emavatar_ros.errors import Missing

_FETCH: Final = ('import sys; from huggingface_hub import snapshot_download; '
                 'snapshot_download(sys.argv[1], allow_patterns=sys.argv[2:], etag_timeout=10)')


def require(extra: str, *modules: str) -> None:
    """Raise Missing, naming the extra, unless these modules are installed; imports none of them."""
    for module in modules:
        if find_spec(module) is None:
            raise Missing(f"{module} is not installed: pip install 'emavatar-ros[{extra}]'")


def folder(model: str, needed: tuple[str, ...], wanted: tuple[str, ...], extra: str, fetch: bool = False,
           longest: float = 600.0) -> Path:
    """The folder with a model's files: `model` itself if it is one, else the hub's own cache.

    model: a folder, or a hub's name such as owner/model. needed: patterns of files that must be there, one match each.
    wanted: patterns of all files that are used. extra: the extra that brings the hub's client. fetch: whether it may
    be downloaded, in `longest` seconds. Raises Missing, saying how to get it.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        return _complete(path, needed, f'{path} is no complete model')
    how = f'fetch it with: hf download {model} (once, with a network), or name a folder that holds it'
    if model.startswith(('/', '.', '~')) or model.count('/') != 1:
        raise Missing(f'{model!r} is neither a folder nor a name of a hub, such as owner/model')
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise Missing(f"the hub's client is not installed: pip install 'emavatar-ros[{extra}]'") from None
    def kept() -> Path:
        try:
            found = Path(snapshot_download(model, allow_patterns=list(wanted), local_files_only=True))
        except (LocalEntryNotFoundError, HfHubHTTPError, HFValidationError, OSError):
            raise Missing(f'the weights of {model} are not on this machine; {how}') from None
        return _complete(found, needed, f'only a part of {model} is on this machine; {how}')

    try:
        return kept()
    except Missing:
        if not fetch:
            raise
    problem = _fetch(model, wanted, longest)
    if problem:
        how += f'. It could not be fetched now: {problem}'
    return kept()


def _complete(path: Path, needed: tuple[str, ...], problem: str) -> Path:
    lacking = [pattern for pattern in needed if not any(path.glob(pattern))]
    if lacking:
        raise Missing(f'{problem} (it lacks {", ".join(lacking)})')
    return path


def _fetch(model: str, wanted: tuple[str, ...], longest: float) -> str:
    """Download in a process of its own; why that failed, '' when it did not. What is there already is not fetched."""
    environment = {**os.environ, 'HF_HUB_DOWNLOAD_TIMEOUT': os.environ.get('HF_HUB_DOWNLOAD_TIMEOUT', '10')}
    try:
        done = subprocess.run([sys.executable, '-c', _FETCH, model, *wanted], env=environment, timeout=longest,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f'it took more than {longest:g} s'
    lines = done.stderr.strip().splitlines()
    return '' if done.returncode == 0 else (lines[-1][:200] if lines else f'the client ended with {done.returncode}')
