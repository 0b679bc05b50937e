"""A GGUF model in this process, by llama.cpp (package xllamacpp, MIT).

Model: by default Qwen2.5-Coder-1.5B-Instruct q4_k_m (Apache-2.0, 1.1 GB file, 1.3 GB of memory). Hardware: CPU.

* Threads: xllamacpp's threads do the work; each `stream` runs its request in a thread of its own which ends with it,
  and hands the pieces over in a queue that can hold the whole answer. Closing sets a flag that the next token's
  callback returns: the server then cancels the task (measured: 0.1 s later the CPU is idle). A prompt is read in
  batches of BATCH tokens with a callback after each, so that a request stops while it reads, too.
* Waiting: the default OpenMP barrier spins. Beside other work on two cores 24 tokens cost 41 CPU seconds and 110 s,
  with sleeping barriers 6 CPU seconds and 12 s: hence OMP_WAIT_POLICY, set before the library loads.
* Prefix: each prefix given to `warm_up` has a slot (a KV cache) of its own and is kept on disk, in a file that holds
  nothing but this prompt: 30 ms to read instead of 10 s and more to compute.
* Memory: without mmap, so that weights repacked for the CPU aren't held twice (0.6 GB less).
"""

from __future__ import annotations

import hashlib
import http.client
import json
import logging
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from emavatar_ros.errors import BadInput, Missing, Unavailable
from emavatar_ros.models.llm import Limits, Message, Request
from emavatar_ros.models.store import Store
from emavatar_ros.settings import setting

log = logging.getLogger(__name__)
BATCH: Final = 16
"""Tokens read at once: reading stops between two batches, half a second apart on two cores. Much larger ones would read
a long prompt a third faster; what a turn adds is short."""
WAKES: Final = 0.1
"""Seconds between two looks at whether reading ahead is still wanted."""
KEPT: Final = 8
"""Computed prompts kept on disk, some 40 MB each."""


@dataclass(frozen=True)
class Config:
    """Settings of the in-process model."""

    model: str = setting('qwen-1.5b', 'model of the store, or path of a .gguf file')
    threads: int = setting(2, 'threads that compute', low=1, high=64)
    context: int = setting(2048, 'longest conversation with its answer', unit='tokens', low=256, high=32768)
    slots: int = setting(2, 'conversation beginnings kept ready, one a language', low=1, high=8)
    keep_prefix: bool = setting(True, 'keep the computed prompt on disk beside the models')


class LlamaCpp:
    """One loaded model: make one per process. `saved` is the folder that computed prefixes are kept in."""

    resumes = True

    def __init__(self, config: Config, file: Path, saved: Path) -> None:
        # Must be there before libgomp is loaded; somebody's own choice wins.
        os.environ.setdefault('OMP_WAIT_POLICY', 'PASSIVE')
        try:
            import xllamacpp
        except ImportError:
            raise Missing("the llama_cpp backend needs xllamacpp: pip install 'emavatar_ros[embedded]'") from None
        self.name = file.stem
        self._config = config
        self._file = file
        self._key = secrets.token_urlsafe(24)
        self._prefixes: list[tuple[Message, ...]] = []
        self._oldest = 0
        self._running: set[threading.Thread] = set()
        self._closed = threading.Event()
        params = xllamacpp.CommonParams()
        params.model.path = str(file)
        params.n_ctx = config.context * config.slots
        params.n_parallel = config.slots
        params.n_batch = params.n_ubatch = BATCH
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = config.threads
        params.n_gpu_layers = 0
        params.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE
        params.warmup = False
        params.verbosity = 0
        params.use_jinja = True
        params.cache_ram_mib = 0
        # The library always listens on a loopback port of its own; nobody else shall use it.
        params.api_keys = [self._key]
        self._saved = saved
        if config.keep_prefix:
            try:
                self._saved.mkdir(parents=True, exist_ok=True)
                params.slot_save_path = f'{self._saved}{os.sep}'
                params.endpoint_slots = True
            except OSError as error:
                log.info('the prompt is computed at each start, %s cannot be written: %s', self._saved, error.strerror)
                self._config = Config(**{**asdict(config), 'keep_prefix': False})
        try:
            self._server: Any = xllamacpp.Server(params)
        except RuntimeError as error:
            raise BadInput(f'{file} cannot be loaded as a GGUF model: {error}') from None

    def warm_up(self, prefixes: Sequence[Sequence[Message]]) -> None:
        """Read the prefixes into their slots, from disk where that was done before; beyond `slots` they are left."""
        for prefix in list(prefixes)[:self._config.slots]:
            known = tuple(prefix)
            if known in self._prefixes:
                continue
            slot = len(self._prefixes)
            if slot < self._config.slots:
                self._prefixes.append(known)
            else:
                # All slots are taken, by another avatar: the one filled longest ago makes room.
                slot, self._oldest = self._oldest, (self._oldest + 1) % self._config.slots
                self._prefixes[slot] = known
            name = self._prefix_file(known)
            if self._config.keep_prefix and (self._saved / name).exists() and self._slot(slot, 'restore', name):
                with suppress(OSError):
                    os.utime(self._saved / name)  # what is in use is not what `_prune` drops
                continue
            # An earlier version of the prompt, or another language's, often begins alike: that much is then there.
            newest = max(self._saved.glob(f'{self.name}-*.kv'), key=lambda file: file.stat().st_mtime, default=None)
            if self._config.keep_prefix and newest is not None:
                self._slot(slot, 'restore', newest.name)
            # The one token is thrown away: what counts is that the prompt was read.
            request = Request((*known, Message('user', 'Hello')), max_tokens=1)
            for _ in self.stream(request, Limits(600, 600, 600)):
                pass
            if self._config.keep_prefix and self._slot(slot, 'save', name):
                self._prune()

    def read(self, messages: Sequence[Message], stopped: Callable[[], bool]) -> None:
        """Read a conversation up to its next line; see the Protocol."""
        pieces, over = self._begin(Request((*messages, Message('user', '')), max_tokens=1))
        try:
            while not stopped():
                try:
                    item = pieces.get(timeout=WAKES)
                except queue.Empty:
                    continue
                if item is None or isinstance(item, Exception):
                    return
        finally:
            over.set()

    def stream(self, request: Request, limits: Limits) -> Generator[str, None, None]:
        """Pieces of the answer; see the Protocol. Closing stops the model."""
        started = time.monotonic()
        pieces, over = self._begin(request)
        wait = limits.first_token
        try:
            while True:
                left = limits.whole - (time.monotonic() - started)
                try:
                    item = pieces.get(timeout=max(min(wait, left), 0.0))
                except queue.Empty:
                    raise Unavailable(f'the language model gave no text for {min(wait, max(left, 0)):.1f} s') from None
                if item is None:
                    return
                if isinstance(item, Exception):
                    raise item
                wait = limits.silence
                yield item
        finally:
            over.set()

    def _begin(self, request: Request) -> tuple[queue.Queue[str | Exception | None], threading.Event]:
        """Start a request: its pieces as they come, None at the end; setting the event ends it."""
        if any(message.pictures or message.sounds for message in request.messages):
            raise BadInput(f'{self.name} reads words only: a model that sees and hears needs a server (backend openai)')
        body: dict[str, Any] = {
            'messages': [message.as_chat() for message in request.messages], 'max_tokens': request.max_tokens,
            'temperature': request.temperature, 'seed': request.seed, 'stop': list(request.stop), 'stream': True,
            'cache_prompt': True, 'return_progress': True, 'id_slot': self._slot_for(request.messages)}
        if request.schema is not None:
            schema = {'name': 'answer', 'schema': request.schema}
            body['response_format'] = {'type': 'json_schema', 'json_schema': schema}
        if request.grammar is not None:
            body['grammar'] = request.grammar
        # Room for every token and the end: the model's thread never waits for the reader.
        pieces: queue.Queue[str | Exception | None] = queue.Queue(request.max_tokens + 16)
        stopped = threading.Event()

        def take(answer: object) -> bool:
            for chunk in answer if isinstance(answer, list) else [answer]:
                item = _read(chunk)
                if item:
                    pieces.put(item)
            return stopped.is_set() or self._closed.is_set()

        def work() -> None:
            try:
                self._server.handle_chat_completions(body, take)
            except RuntimeError as error:
                pieces.put(Unavailable(f'the language model failed: {error}'))
            finally:
                pieces.put(None)
                self._running.discard(thread)

        thread = threading.Thread(target=work, name='llm', daemon=True)
        self._running.add(thread)
        thread.start()
        return pieces, stopped

    def close(self) -> None:
        """Stop what runs and free the model."""
        self._closed.set()
        for thread in list(self._running):
            thread.join(30)
        self._server = None

    def _slot_for(self, messages: Sequence[Message]) -> int:
        for slot, prefix in enumerate(self._prefixes):
            if tuple(messages[:len(prefix)]) == prefix:
                return slot
        return -1 if not self._prefixes else self._config.slots - 1

    def _prefix_file(self, prefix: Sequence[Message]) -> str:
        import xllamacpp
        stat = self._file.stat()
        key = [xllamacpp.__version__, self._file.name, stat.st_size, stat.st_mtime_ns, self._config.context,
               *(message.as_chat() for message in prefix)]
        return f'{self.name}-{hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]}.kv'

    def _prune(self) -> None:
        """Prompts change with avatars and versions: only the newest files stay."""
        try:
            files = sorted(self._saved.glob('*.kv*'), key=lambda file: file.stat().st_mtime, reverse=True)
            for file in files[KEPT:]:
                file.unlink(missing_ok=True)
        except OSError as error:
            log.info('old prompts in %s could not be removed: %s', self._saved, error.strerror)

    def _slot(self, slot: int, action: str, name: str) -> bool:
        """Save or restore a slot by the library's own HTTP interface; False when that failed."""
        where = urlsplit(self._server.listening_address)
        connection = http.client.HTTPConnection(where.hostname or '127.0.0.1', where.port, timeout=10)
        # Saved under another name first: a file that is there is whole.
        file = name if action == 'restore' else f'{name}.{os.getpid()}'
        try:
            connection.request('POST', f'/slots/{slot}?action={action}', json.dumps({'filename': file}),
                               {'Authorization': f'Bearer {self._key}', 'Content-Type': 'application/json'})
            done = connection.getresponse().status == 200
            if action == 'save' and done:
                os.replace(self._saved / file, self._saved / name)
            return done
        except (OSError, http.client.HTTPException) as error:
            log.info('the prompt could not be %sd, it is computed: %s', action, error)
            return False
        finally:
            connection.close()


def _read(chunk: object) -> str | Exception | None:
    """The text of one chunk of the answer, the error it reports, or None when it carries neither."""
    if not isinstance(chunk, Mapping):
        return None
    if 'error' in chunk or ('code' in chunk and 'message' in chunk):
        error = chunk.get('error', chunk)
        message = str(error.get('message', error) if isinstance(error, Mapping) else error)
        too_long = 'context' in message
        return BadInput(f'the conversation is too long for the model: {message}') if too_long else Unavailable(message)
    choices = chunk.get('choices') or [{}]
    content = (choices[0].get('delta') or {}).get('content')
    return content if isinstance(content, str) else None


def create(config: Config) -> LlamaCpp:
    """Load the model; Missing (with the command that fetches it) when it isn't there."""
    file = Path(config.model)
    store = Store()
    if file.suffix != '.gguf':
        folder = store.path(config.model)
        files = sorted(folder.glob('*.gguf'))
        if not files:
            raise Missing(f'{folder} holds no .gguf file: emavatar models pull {config.model}')
        file = files[0]
    elif not file.is_file():
        raise Missing(f'{file} does not exist: name a .gguf file or a model of the store')
    return LlamaCpp(config, file, store.root / '.prefix')
