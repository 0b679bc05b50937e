"""A real chat-completions server on loopback that says what a test wants, for tests of clients."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def event(text: str | None, finish: str | None = None) -> bytes:
    choice = {'index': 0, 'delta': {} if text is None else {'content': text}, 'finish_reason': finish}
    return b'data: ' + json.dumps({'choices': [choice]}).encode() + b'\n\n'


class Server:
    """Says what `script` sends; keeps what it was asked and whether the client hung up while it spoke."""

    def __init__(self) -> None:
        self.script: Callable[[Callable[[bytes], None]], None] = tell
        self.status = 200
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.hung_up = threading.Event()
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                body = json.dumps({'data': [{'id': 'fox'}, {'id': 'crow'}]}).encode()
                self.send_response(200)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                outer.asked.append(json.loads(self.rfile.read(int(self.headers['Content-Length']))))
                outer.headers.append(dict(self.headers))
                self.send_response(outer.status)
                self.send_header('Content-Type', 'text/event-stream')
                self.send_header('Transfer-Encoding', 'chunked')
                self.end_headers()
                self.close_connection = True
                with suppress(OSError):
                    try:
                        outer.script(self.send)
                        self.wfile.write(b'0\r\n\r\n')
                    except OSError:
                        outer.hung_up.set()

            def send(self, data: bytes) -> None:
                self.wfile.write(b'%x\r\n%s\r\n' % (len(data), data))
                self.wfile.flush()

        class Listener(ThreadingHTTPServer):
            daemon_threads = True

        self.http = Listener(('127.0.0.1', 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()
        self.url = f'http://127.0.0.1:{self.http.server_port}/v1'

    def close(self) -> None:
        self.over.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join(5)


def tell(send: Callable[[bytes], None]) -> None:
    """A usual answer, cut up in an unusual way."""
    send(b': hello\n\n' + event(''))
    whole = event('Once ') + event('upon é') + event(' time.')
    for start in range(0, len(whole), 7):
        send(whole[start:start + 7])
    send(event(None, 'stop') + b'data: [DONE]\n\n')


def say(text: str) -> Callable[[Callable[[bytes], None]], None]:
    """A script that tells `text` in pieces of a few characters."""
    def script(send: Callable[[bytes], None]) -> None:
        for start in range(0, len(text), 9):
            send(event(text[start:start + 9]))
        send(event(None, 'stop') + b'data: [DONE]\n\n')

    return script
