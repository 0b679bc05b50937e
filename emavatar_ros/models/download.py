"""Downloads over HTTP: taken up again where they broke off, and never waiting long for a host that is not there."""

from __future__ import annotations

import hashlib
import http.client
import queue
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from emavatar_ros.settings import setting

CHUNK: Final = 1 << 20
RESUMES: Final = 20
"""How often a broken download is taken up again before the next source is tried."""

Report = Callable[[int], None]


class Failed(Exception):
    """A source didn't give the file; the text says why in a few words."""


@dataclass(frozen=True)
class Config:
    """How long to wait for a source before the next one is tried."""

    connect_timeout: float = setting(10.0, 'longest wait for a host to answer', unit='s', low=0.1, high=600)
    stall_timeout: float = setting(60.0, 'longest wait without a byte arriving', unit='s', low=0.1, high=3600)


class Hosts:
    """Remembers which hosts could not be reached, so that one run asks each of them only once."""

    def __init__(self) -> None:
        self._dead: dict[str, str] = {}

    @contextmanager
    def reach(self, host: str) -> Iterator[None]:
        """Refuse a host that failed before; remember one that can't be reached now."""
        if host in self._dead:
            raise Failed(self._dead[host])
        try:
            yield
        except (ConnectionError, TimeoutError, socket.gaierror, urllib.error.URLError,
                http.client.HTTPException) as error:
            reason = getattr(error, 'reason', None) or error
            self._dead[host] = getattr(reason, 'strerror', None) or str(reason)
            raise Failed(self._dead[host]) from None


def download(url: str, part: Path, size: int, digest: str, report: Report, config: Config,
             hosts: Hosts) -> None:
    """Download to `part`, going on where it ends; `size` 0 and `digest` '' are not checked."""
    with hosts.reach(urllib.request.Request(url).host):
        for _ in range(RESUMES):
            before = part.stat().st_size if part.exists() else 0
            if not (size and before == size):
                _request(url, part, size, report, config)
            now = part.stat().st_size
            if size and now < size:
                if now <= before:
                    raise Failed(f'ended after {now} of {size} bytes')
                continue
            try:
                check(part, size, digest)
            except Failed:
                part.unlink()
                if before:  # what was there may have been another file's beginning
                    continue
                raise
            return
        raise Failed('broke off too often')


def _request(url: str, part: Path, size: int, report: Report, config: Config) -> None:
    """One request, from the end of `part` on; returns when the connection ends, complete or not."""
    have = part.stat().st_size if part.exists() else 0
    headers = {'User-Agent': 'emavatar', 'Accept-Encoding': 'identity'}
    if have:
        headers['Range'] = f'bytes={have}-'
    try:
        answer = _open(urllib.request.Request(url, headers=headers), config)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:
            part.unlink()
            return _request(url, part, size, report, config)
        raise Failed(f'HTTP {error.code}') from None
    with answer:
        if answer.status != 206 or not str(answer.headers.get('Content-Range', '')).startswith(f'bytes {have}-'):
            have = 0
        length = answer.headers.get('Content-Length')
        if size and length and have + int(length) != size:
            raise Failed(f'is {have + int(length)} bytes long, not {size}')
        with part.open('ab' if have else 'wb') as out:
            while True:
                try:
                    block = answer.read(CHUNK)
                except (OSError, http.client.HTTPException):
                    return None  # the caller asks for the rest
                if not block:
                    return None
                out.write(block)
                have += len(block)
                if size and have > size:
                    raise Failed(f'is longer than {size} bytes')
                report(have)


def check(path: Path, size: int, digest: str) -> None:
    """Raise Failed unless the file has this size in bytes and this sha256 (0 and '' are not checked)."""
    if size and path.stat().st_size != size:
        raise Failed(f'is {path.stat().st_size} bytes long, not {size}')
    if digest and sha256(path) != digest:
        raise Failed('has another sha256 than the one expected')


def sha256(path: Path) -> str:
    """The file's sha256 in hex."""
    digest = hashlib.sha256()
    with path.open('rb') as stream:
        while block := stream.read(CHUNK):
            digest.update(block)
    return digest.hexdigest()


def _open(request: urllib.request.Request, config: Config) -> Any:
    """urlopen that answers or fails in time: looking up a name and trying each of its addresses have no limit of
    their own, so the whole of it runs in a thread that is left behind when it takes too long."""
    box: queue.Queue[Any] = queue.Queue()
    given_up = threading.Event()

    def ask() -> None:
        try:
            answer = urllib.request.urlopen(request, timeout=config.stall_timeout)
        except Exception as error:  # handed to the caller, who knows which ones to expect
            box.put(error)
            return
        if given_up.is_set():
            answer.close()
        box.put(answer)

    threading.Thread(target=ask, daemon=True, name='emavatar-download').start()
    try:
        answer = box.get(timeout=config.connect_timeout)
    except queue.Empty:
        given_up.set()
        raise TimeoutError(f'no answer within {config.connect_timeout:g} s') from None
    if isinstance(answer, Exception):
        raise answer
    return answer
