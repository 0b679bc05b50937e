"""A model behind any OpenAI-compatible server: vLLM, Ollama, llama.cpp's server, a hosted one.

Model, licence and hardware are the server's. Needs nothing but the standard library. One connection a request;
closing the stream closes it, which stops generation on every server known to us. Waits are counted in text: a server
that sends keep-alives, empty pieces or hidden reasoning but no words counts as silent. A connection that is refused or
lost, or a server that is busy (429, 503), is tried again before the first piece: after a short random pause, then twice
that, while the time for the first piece lasts. At most `concurrency` requests at a time.
"""

from __future__ import annotations

import http.client
import json
import math
import os
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from emavatar_ros.errors import BadInput, Missing, Unavailable
from emavatar_ros.models.llm import Limits, Message, Request
from emavatar_ros.settings import setting

LINE: Final = 1 << 20  # bytes; a longer line is no event
AGAIN: Final = frozenset({408, 409, 429, 500, 502, 503, 504})
"""HTTP states after which the same request may succeed."""


@dataclass(frozen=True)
class Config:
    """Settings of the server backend."""

    url: str = setting('http://127.0.0.1:8000/v1', "the server's address up to and including /v1")
    model: str = setting('', 'model name the server knows; empty: the first it lists')
    key_variable: str = setting('OPENAI_API_KEY', 'environment variable that holds the key, if the server wants one')
    attempts: int = setting(3, 'times that a request is tried before its first piece of text', low=1, high=10)
    concurrency: int = setting(2, 'requests at a time', low=1, high=64)
    connect: float = setting(2.0, 'longest wait for the connection', unit='s', low=0.05, high=60)
    extra: str = setting('', 'more fields of the request, as JSON, such as {"chat_template_kwargs": {...}}')


class OpenAi:
    """A client of one server; makes no request before `warm_up` or `stream`."""

    resumes = False

    def __init__(self, config: Config) -> None:
        where = urlsplit(config.url)
        if where.scheme not in ('http', 'https') or not where.hostname:
            raise BadInput(f'{config.url!r} is no address of a server; it looks like http://127.0.0.1:8000/v1')
        try:
            self._extra = json.loads(config.extra) if config.extra else {}
            if not isinstance(self._extra, dict):
                raise ValueError('not an object')
        except ValueError as error:
            raise BadInput(f'extra must be a JSON object: {error}') from None
        self.name = config.model
        self._config = config
        self._secure = where.scheme == 'https'
        self._host, self._port, self._path = where.hostname, where.port, where.path.rstrip('/')
        self._free = threading.BoundedSemaphore(config.concurrency)

    def warm_up(self, prefixes: Sequence[Sequence[Message]]) -> None:
        """See that the server is there and has the model, then let it read the prefixes."""
        self._find_model()
        for prefix in prefixes:
            request = Request((*prefix, Message('user', 'Hello')), max_tokens=1)
            for _ in self.stream(request, Limits(60, 60, 120)):
                pass

    def read(self, messages: Sequence[Message], stopped: Callable[[], bool]) -> None:
        """Nothing: such a server keeps what it generated, and reads a line in milliseconds."""

    def stream(self, request: Request, limits: Limits) -> Generator[str, None, None]:
        """Pieces of the answer; see the Protocol. Closing hangs up."""
        started = time.monotonic()
        if not self._free.acquire(timeout=limits.first_token):
            raise Unavailable(f'{self._config.concurrency} requests are under way already')
        try:
            deadline = started + min(limits.first_token, limits.whole)
            for attempt in range(self._config.attempts):
                begun = False
                try:
                    for piece in self._attempt(request, limits, started, deadline):
                        begun = True
                        yield piece
                    return
                except Unavailable:
                    pause = random.uniform(0.05, 0.2) * 2 ** attempt
                    if begun or attempt + 1 == self._config.attempts or time.monotonic() + pause >= deadline:
                        raise
                    time.sleep(pause)
        finally:
            self._free.release()

    def close(self) -> None:
        """Nothing is kept between requests."""

    def _attempt(self, request: Request, limits: Limits, started: float,
                 deadline: float) -> Generator[str, None, None]:
        connection = self._connect(deadline)
        try:
            answer = self._post(connection, self._body(request, deadline), deadline)
            read = bytearray()
            while True:
                line = self._line(connection, answer, read, deadline)
                if not line:
                    raise Unavailable(f'{self._host} ended its answer early')
                if not line.startswith(b'data:'):
                    continue
                data = line[5:].strip()
                if data == b'[DONE]':
                    return
                text, ended = _piece(data)
                if text:
                    yield text
                    # The clock runs on from when the reader comes back for more.
                    deadline = min(time.monotonic() + limits.silence, started + limits.whole)
                if ended:
                    return
        finally:
            # A close alone leaves the socket open while the answer still holds it.
            if connection.sock is not None:
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _body(self, request: Request, deadline: float) -> dict[str, Any]:
        body: dict[str, Any] = {
            'model': self.name or self._find_model(deadline), 'stream': True, 'max_tokens': request.max_tokens,
            'messages': [message.as_chat() for message in request.messages], 'temperature': request.temperature,
            'seed': request.seed}
        if request.stop:
            body['stop'] = list(request.stop[:4])  # no more are allowed by the original
        if request.schema is not None:
            schema = {'name': 'answer', 'schema': request.schema, 'strict': True}
            body['response_format'] = {'type': 'json_schema', 'json_schema': schema}
        if request.grammar is not None:
            body['grammar'] = request.grammar
        return {**body, **self._extra}

    def _connect(self, deadline: float) -> http.client.HTTPConnection:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Unavailable(f'{self._host} did not answer in time')
        wait = min(self._config.connect, left)
        if self._secure:
            return http.client.HTTPSConnection(self._host, self._port, timeout=wait,
                                               context=ssl.create_default_context())
        return http.client.HTTPConnection(self._host, self._port, timeout=wait)

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self._config.key_variable, '') if self._config.key_variable else ''
        headers = {'Content-Type': 'application/json', 'Accept': 'text/event-stream'}
        return {**headers, 'Authorization': f'Bearer {key}'} if key else headers

    def _post(self, connection: http.client.HTTPConnection, body: Mapping[str, Any],
              deadline: float) -> http.client.HTTPResponse:
        try:
            connection.request('POST', f'{self._path}/chat/completions', json.dumps(body), self._headers())
            self._wait(connection, deadline)
            answer = connection.getresponse()
            if answer.status == 200:
                return answer
            said = _error(answer.read(4096))
        except TimeoutError:
            raise Unavailable(f'{self._host} did not answer in time') from None
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(f'no language model server at {self._config.url}: {error or type(error).__name__}; '
                              'start it, or set another url') from None
        if answer.status in AGAIN:
            raise Unavailable(f'{self._host} is busy ({answer.status}): {said}')
        raise BadInput(f'{self._host} refused the request ({answer.status}): {said}')

    def _line(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse, read: bytearray,
              deadline: float) -> bytes:
        """The next line of the answer, b'' at its end; `read` holds what came beyond it. Looks at the clock after every
        packet, so that a server that drips bytes can't hold on for ever."""
        while b'\n' not in read:
            self._wait(connection, deadline)
            try:
                more = answer.read1(LINE)
            except TimeoutError:
                raise Unavailable(f'{self._host} gave no text in time') from None
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise Unavailable(f'{self._host} broke off: {error or type(error).__name__}') from None
            if not more or len(read) > LINE:
                return b''
            read += more
        line, _, rest = bytes(read).partition(b'\n')
        read[:] = rest
        return line + b'\n'

    def _wait(self, connection: http.client.HTTPConnection, deadline: float) -> None:
        """Let the next read wait until the deadline at most."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise Unavailable(f'{self._host} gave no text in time')
        if connection.sock is not None:
            connection.sock.settimeout(left)

    def _find_model(self, deadline: float = math.inf) -> str:
        """The configured model, or the server's first; Missing when it has another than the one asked for."""
        connection = self._connect(deadline)
        try:
            connection.request('GET', f'{self._path}/models', headers=self._headers())
            answer = connection.getresponse()
            content = answer.read(LINE)
            if answer.status != 200:
                raise Unavailable(f'{self._config.url} does not list its models ({answer.status}): {_error(content)}')
            listed = [str(entry['id']) for entry in json.loads(content)['data']]
        except (ValueError, KeyError, TypeError):
            raise Unavailable(f'{self._config.url} is no OpenAI-compatible server: it has no list of models') from None
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(f'no language model server at {self._config.url}: {error}; start it, or set another url'
                              ) from None
        finally:
            connection.close()
        if not listed or (self.name and self.name not in listed):
            raise Missing(f'{self._config.url} has no model {self.name!r}; it has: {", ".join(listed) or "none"}')
        self.name = self.name or listed[0]
        return self.name


def _piece(data: bytes) -> tuple[str, bool]:
    """The text of one event and whether it is the last; what can't be read is skipped."""
    try:
        event = json.loads(data)
        if 'error' in event:
            raise Unavailable(f'the language model server reports: {_error(data)}')
        choice = (event.get('choices') or [{}])[0]
        content = (choice.get('delta') or {}).get('content')
        return content if isinstance(content, str) else '', choice.get('finish_reason') is not None
    except (ValueError, AttributeError, TypeError, IndexError):
        return '', False


def _error(content: bytes) -> str:
    """What an error's body says, in one line."""
    text = content.decode('utf-8', 'replace')
    try:
        error = json.loads(text)['error']
        text = str(error['message'] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        pass
    return ' '.join(text.split())[:200] or 'no reason given'


def create(config: Config) -> OpenAi:
    """A client for the configured server; it is first asked at `warm_up`."""
    return OpenAi(config)
