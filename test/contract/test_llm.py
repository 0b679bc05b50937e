"""What every language model must do, and what the server client does when its server doesn't.

The client talks to a real server of our own that says what each test wants, over real sockets. The model in this
process is held to the same contract where its weights are cached (the small one), else skipped; the one whose
libraries are an extra is held to it in test/extras.
"""

from __future__ import annotations

import json
import os
import pkgutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from chat_server import Server, event
from llm_contract import ASK, LONG, Contract

from emavatar_ros.errors import BadInput, Missing, Unavailable
from emavatar_ros.models import llm
from emavatar_ros.models.llm import Limits, Llm, Message, Request, openai
from emavatar_ros.nodes.settings import PlannerSettings
from emavatar_ros.settings import build, chosen, specs


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture(scope='module')
def small() -> Iterator[Llm]:
    """The model in this process, with the smallest weights."""
    from emavatar_ros.models.llm import llama_cpp
    try:
        made = llama_cpp.create(llama_cpp.Config(model='qwen-0.5b', context=512, slots=1, keep_prefix=False))
    except Missing as error:
        pytest.skip(str(error))
    yield made
    made.close()


@pytest.fixture(params=['openai', 'llama_cpp'])
def model(request: pytest.FixtureRequest) -> Any:
    if request.param == 'openai':
        return openai.create(openai.Config(url=request.getfixturevalue('server').url))
    return request.getfixturevalue('small')


def test_every_backend_is_held_to_this_contract() -> None:
    names = {item.name for item in pkgutil.iter_modules(llm.__path__)}
    assert names == {'openai', 'llama_cpp', 'transformers'}, 'hold the new backend to the contract'
    for name in names:
        module = import_module(f'emavatar_ros.models.llm.{name}')
        assert list(specs(module.Config)) and callable(module.create)


@pytest.mark.parametrize('library', ['torch', 'transformers', 'llguidance'])
def test_a_missing_extra_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from emavatar_ros.models.llm import transformers
    monkeypatch.setattr('emavatar_ros.models.hub.find_spec', lambda name: None if name == library else name)
    with pytest.raises(Missing, match=rf"{library} is not installed: pip install 'emavatar-ros\[transformers\]'"):
        transformers.create()


def test_each_backend_is_a_choice_of_the_planner_and_needs_no_library_to_be_told_of() -> None:
    for name in ('llama_cpp', 'openai', 'transformers'):
        module, config = chosen(build(PlannerSettings, {'backend': name}), 'backend')
        assert module.__name__.endswith(f'.{name}') and all(spec.help for spec in specs(type(config)))
    code = ('import sys\nfor name in ("torch", "transformers", "llguidance", "huggingface_hub", "xllamacpp"):\n'
            '    sys.modules[name] = None\n'
            'import emavatar_ros.models.llm.transformers, emavatar_ros.models.llm.llama_cpp')
    assert subprocess.run([sys.executable, '-c', code], timeout=60).returncode == 0


class TestContract(Contract):
    """As every backend."""


def test_a_closed_stream_frees_the_processor(small: Llm) -> None:
    long = Request(ASK.messages, 400)
    stream = small.stream(long, LONG)
    for _ in range(4):
        next(stream)
    stream.close()
    # What is under way is one token; then nothing computes any more: wait for half a second of rest.
    end = time.monotonic() + 60
    rest = 0.0
    while rest < 0.5 and time.monotonic() < end:
        busy, wall = time.process_time(), time.monotonic()
        threading.Event().wait(0.1)
        rest = rest + time.monotonic() - wall if time.process_time() - busy < 0.03 else 0.0
    assert rest >= 0.5


def test_threads_and_files_stay_the_same(small: Llm) -> None:
    request = Request(ASK.messages, 2)
    list(small.stream(request, LONG))
    threads, files = threading.active_count(), len(os.listdir('/proc/self/fd'))
    for _ in range(20):
        list(small.stream(request, LONG))
    assert threading.active_count() <= threads + 1 and len(os.listdir('/proc/self/fd')) <= files + 1


def test_a_schema_is_followed(small: Llm) -> None:
    schema = {'type': 'object', 'properties': {'mood': {'type': 'string', 'enum': ['sad', 'happy']}},
              'required': ['mood'], 'additionalProperties': False}
    text = ''.join(small.stream(Request((Message('user', 'My cat died.'),), 30, schema=schema), LONG))
    assert json.loads(text)['mood'] in ('sad', 'happy')


def test_pictures_and_sounds_are_refused_by_a_model_of_words(small: Llm) -> None:
    with pytest.raises(BadInput, match='words only'):
        list(small.stream(Request((Message('user', 'Who is it?', pictures=(b'jpeg',)),)), LONG))


def test_too_long_a_conversation_is_bad_input(small: Llm) -> None:
    with pytest.raises(BadInput, match='too long'):
        list(small.stream(Request((Message('user', 'word ' * 3000),)), LONG))


class TestClient:
    def test_what_it_sends_and_gets(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv('OPENAI_API_KEY', 'secret')
        client = openai.create(openai.Config(url=server.url, extra='{"top_k": 1}'))
        request = Request(ASK.messages, 9, 0.5, 7, ('\n',), schema={'type': 'object'})
        assert ''.join(client.stream(request, LONG)) == 'Once upon é time.'
        body = server.asked[0]
        assert (body['model'], body['max_tokens'], body['stop'], body['top_k']) == ('fox', 9, ['\n'], 1)
        assert body['messages'][1]['role'] == 'user' and body['response_format']['type'] == 'json_schema'
        assert server.headers[0]['Authorization'] == 'Bearer secret'

    def test_keep_alives_without_words_are_silence(self, server: Server) -> None:
        def alive(send: Callable[[bytes], None]) -> None:
            while not server.over.wait(0.02):
                send(b': ping\n\n' + event('') + b'data: {"choices": [{"delta": {"reasoning_content": "hm"}}]}\n\n')

        server.script = alive
        began = time.monotonic()
        with pytest.raises(Unavailable):
            list(openai.create(openai.Config(url=server.url)).stream(ASK, Limits(0.4, 0.4, 5)))
        assert time.monotonic() - began < 3
        assert server.hung_up.wait(5)

    def test_bytes_that_drip_without_a_line_are_silence(self, server: Server) -> None:
        def drip(send: Callable[[bytes], None]) -> None:
            while not server.over.wait(0.02):
                send(b'd')

        server.script = drip
        with pytest.raises(Unavailable):
            list(openai.create(openai.Config(url=server.url)).stream(ASK, Limits(0.4, 0.4, 5)))

    def test_silence_after_words_ends_the_stream(self, server: Server) -> None:
        server.script = lambda send: (send(event('Once ')), server.over.wait(20))[0]
        stream = openai.create(openai.Config(url=server.url)).stream(ASK, Limits(5, 0.3, 10))
        assert next(stream) == 'Once '
        with pytest.raises(Unavailable):
            next(stream)

    def test_closing_hangs_up(self, server: Server) -> None:
        def talk(send: Callable[[bytes], None]) -> None:
            while not server.over.wait(0.01):
                send(event('word '))

        server.script = talk
        stream = openai.create(openai.Config(url=server.url)).stream(ASK, LONG)
        assert next(stream) == 'word '
        stream.close()
        assert server.hung_up.wait(5)

    @pytest.mark.parametrize('rest', [b'', b'data: {"choices": [{"del', b'data: \xff\xfe\n\n'])
    def test_a_dropped_answer_is_unavailable(self, server: Server, rest: bytes) -> None:
        def drop(send: Callable[[bytes], None]) -> None:
            send(event('Once ') + rest)

        server.script = drop
        stream = openai.create(openai.Config(url=server.url)).stream(ASK, LONG)
        assert next(stream) == 'Once '
        with pytest.raises(Unavailable):
            list(stream)
        assert len(server.asked) == 1, 'what was begun is not begun again'

    def test_garbage_events_are_skipped(self, server: Server) -> None:
        garbage = b'data: nonsense\n\ndata: 3\n\ndata: {"choices": [3]}\n\ndata: {"choices": []}\n\nevent: x\n\n'
        server.script = lambda send: send(garbage + event('Once.') + b'data: [DONE]\n\n')
        assert list(openai.create(openai.Config(url=server.url)).stream(ASK, LONG)) == ['Once.']

    @pytest.mark.parametrize(('status', 'error', 'times'), [(503, Unavailable, 3), (429, Unavailable, 3),
                                                            (401, BadInput, 1), (400, BadInput, 1)])
    def test_refusals(self, server: Server, status: int, error: type[Exception], times: int) -> None:
        server.status = status
        server.script = lambda send: send(b'{"error": {"message": "no such luck"}}')
        with pytest.raises(error, match='no such luck'):
            list(openai.create(openai.Config(url=server.url)).stream(ASK, LONG))
        assert len(server.asked) == times

    def test_nobody_there(self) -> None:
        with socket.socket() as busy:
            busy.bind(('127.0.0.1', 0))
            url = f'http://127.0.0.1:{busy.getsockname()[1]}/v1'
            client = openai.create(openai.Config(url=url, model='fox'))
            with pytest.raises(Unavailable, match='start it'):
                list(client.stream(ASK, LONG))
            with pytest.raises(Unavailable):
                client.warm_up([])

    def test_an_unknown_model_is_missing(self, server: Server) -> None:
        with pytest.raises(Missing, match='fox, crow'):
            openai.create(openai.Config(url=server.url, model='hen')).warm_up([])

    @pytest.mark.parametrize('settings', [{'url': 'nonsense'}, {'url': 'ftp://x/v1'}, {'extra': '[1]'}, {'extra': '{'}])
    def test_bad_settings(self, settings: dict[str, str]) -> None:
        with pytest.raises(BadInput):
            openai.create(openai.Config(**settings))

    def test_too_many_at_once_are_refused_in_time(self, server: Server) -> None:
        server.script = lambda send: (send(event('Once ')), server.over.wait(20))[0]
        client = openai.create(openai.Config(url=server.url, concurrency=1))
        stream = client.stream(ASK, LONG)
        next(stream)
        with pytest.raises(Unavailable, match='under way'):
            list(client.stream(ASK, Limits(0.1, 1, 1)))
        stream.close()
