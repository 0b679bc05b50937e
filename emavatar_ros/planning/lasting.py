"""What helped in earlier visits, kept in a SQLite file where the operator turned that on.

Rows hold setting, emotion, a cause without names and numbers, the reply, its instruction and the embedding; nothing
else is written. They are deleted when they expire (looked after at the start and at every read), the oldest when there
are too many, and all by `wipe`; deleted means overwritten (secure_delete). The file is opened for each call only, so
that another process may wipe it at any time; reading 500 rows takes a few ms.

A damaged file is put aside as *.damaged with a warning; it expires and is wiped like its rows. A disk that is full or
can't be written costs the memory, never the conversation.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import BadInput, Unavailable
from emavatar_ros.planning.situation import Situation

log = logging.getLogger(__name__)

OURS: Final = 0x656D6176  # "emav", SQLite's application_id: somebody else's database is never touched
VERSION: Final = 1  # of the schema
MOST: Final = 500  # rows
DAY: Final = 86400.0
PATIENCE: Final = 0.5  # s that a call waits for another process
SCHEMA: Final = """CREATE TABLE helped (id INTEGER PRIMARY KEY, at REAL NOT NULL, setting TEXT NOT NULL,
    emotion TEXT NOT NULL, cause TEXT NOT NULL, reply TEXT NOT NULL, instruction TEXT NOT NULL,
    vector BLOB NOT NULL)"""

Array = NDArray[np.float32]


class Lasting:
    """The kept situations. Safe to use from several threads and processes."""

    def __init__(self, path: Path, days: float, clock: Callable[[], float]) -> None:
        """path: *.sqlite, made when first needed; clock: seconds since 1970. BadInput for any other file name or
        another program's database."""
        if path.suffix != '.sqlite':
            raise BadInput(f'the memory\'s file must end in .sqlite, unlike {path}: name another one')
        self._path = path
        self._span = days * DAY
        self._clock = clock
        self._aside = path.with_suffix('.damaged')
        self.problem = ''
        """Why nothing could be read or kept last time, '' when it could."""
        self._checked = False
        self.read()

    def read(self) -> list[tuple[Situation, Array]]:
        """All that has not expired, newest first, each with its vector [width]; what expired is deleted."""
        self._expire_aside()
        if not self._path.exists():
            return []
        found = []
        with self._guarded(), self._opened() as base:
            now = self._clock()
            # What is dated in the future (the clock was wrong once) would never expire otherwise.
            gone = 'at <= ? OR at > ?', (now - self._span, now + DAY)
            if base.execute(f'SELECT 1 FROM helped WHERE {gone[0]} LIMIT 1', gone[1]).fetchone():
                base.execute(f'DELETE FROM helped WHERE {gone[0]}', gone[1])
                base.commit()
            for *fields, blob in base.execute('SELECT setting, emotion, cause, reply, instruction, vector FROM helped '
                                              'ORDER BY at DESC, id DESC LIMIT ?', (MOST,)):
                setting, emotion, cause, reply, instruction = map(str, fields)
                with suppress(BadInput, ValueError, TypeError):  # a row somebody else wrote
                    vector = np.frombuffer(blob, dtype='<f2').astype(np.float32)
                    if np.isfinite(vector).all():
                        found.append((Situation(setting, emotion, cause, cause, reply, instruction), vector))
        return found

    def add(self, situation: Situation, vector: Array) -> None:
        """Keep one; its `said` is not written. vector: of its `content`, [width]."""
        with self._guarded():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._opened() as base:
                base.execute('INSERT INTO helped (at, setting, emotion, cause, reply, instruction, vector) '
                             'VALUES (?, ?, ?, ?, ?, ?, ?)',
                             (self._clock(), situation.setting, situation.emotion, situation.cause, situation.reply,
                              situation.instruction, vector.astype('<f2').tobytes()))
                base.execute('DELETE FROM helped WHERE id NOT IN '
                             '(SELECT id FROM helped ORDER BY at DESC, id DESC LIMIT ?)', (MOST,))
                base.commit()

    def wipe(self) -> None:
        """Delete all of it, a damaged file too; raises Unavailable when that can't be done."""
        try:
            self._aside.unlink(missing_ok=True)
            if self._path.exists():
                with self._opened() as base:
                    base.execute('DELETE FROM helped')
                    base.commit()
                    left = base.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()[0]
                if left:
                    raise Unavailable(f'{self._path} is in use by another process: try again')
            self._aside.unlink(missing_ok=True)  # opening it may have put it there
        except (OSError, sqlite3.Error) as error:
            raise Unavailable(f'the memory in {self._path} could not be wiped ({error}): '
                              'make the file writable and try again') from error

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """A failing disk is noted, once until it works again, and nothing else stops."""
        try:
            yield
            self.problem = ''
        except (OSError, sqlite3.Error) as error:
            if not self.problem:
                log.warning('the memory in %s can not be used: %s', self._path, error)
            self.problem = str(error)
            self._checked = False

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The database, sound and of our schema; a damaged one is put aside and a new one begun."""
        try:
            base = self._connect()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            self._put_aside(str(error))
            base = self._connect()
        with closing(base):
            yield base

    def _connect(self) -> sqlite3.Connection:
        if not self._path.exists():  # for the owner alone
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        base = sqlite3.connect(self._path, timeout=PATIENCE)
        try:
            ours = base.execute('PRAGMA application_id').fetchone()[0]
            tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if ours != OURS and tables:
                raise BadInput(f'{self._path} is another program\'s database: name another file for the memory')
            base.execute('PRAGMA journal_mode = WAL')
            base.execute('PRAGMA secure_delete = ON')
            if not tables:
                base.execute(f'PRAGMA application_id = {OURS}')
                base.execute(f'PRAGMA user_version = {VERSION}')
                base.execute(SCHEMA)
                base.commit()
            version = base.execute('PRAGMA user_version').fetchone()[0]
            if version != VERSION:
                raise sqlite3.DatabaseError(f'it has schema {version}, not {VERSION}')
            if not self._checked:  # it takes a few ms: once, and again after an error
                if (tables and 'helped' not in tables) or base.execute('PRAGMA quick_check(1)').fetchone()[0] != 'ok':
                    raise sqlite3.DatabaseError('it is damaged')
                self._checked = True
        except BaseException:
            base.close()
            raise
        return base

    def _put_aside(self, why: str) -> None:
        log.warning('the memory in %s can not be read (%s): it is put aside as %s and a new one is begun',
                    self._path, why, self._aside.name)
        self._path.replace(self._aside)
        for ending in ('-wal', '-shm'):
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)

    def _expire_aside(self) -> None:
        with suppress(OSError):
            if self._clock() - self._aside.stat().st_mtime >= self._span:
                self._aside.unlink()
