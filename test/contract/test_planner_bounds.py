"""A planner whose language model fails in every way a server can: a fallback of the same emotion, in time, counted.

The server is a real one, of our own, over real sockets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from chat_server import Server, event, say

from emavatar_ros.emotion.affect import CIRCUMPLEX
from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.models.llm import openai
from emavatar_ros.planning.planner import Config, Planner
from emavatar_ros.planning.script import Script
from emavatar_ros.planning.tone import fits
from emavatar_ros.settings import build
from emavatar_ros.voice.instruction import delivery

Send = Callable[[bytes], None]
BOUNDS = {'first_token': 0.6, 'first_beat': 0.9, 'silence': 0.4, 'whole': 1.8}
SLACK = 0.4
"""Seconds for the template, its scores and a busy machine."""
TEXT = 'My flight was cancelled and nobody tells us anything.'


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def plan(server: Server, emotion: str = 'angry') -> tuple[list[Script], float, float, Planner]:
    """The scripts, and the seconds until the first and until the last."""
    llm = openai.create(openai.Config(url=server.url, model='fox'))
    planner = Planner(build(Config, BOUNDS), 'You are Mira.', llm, realise=delivery)
    felt = Estimate(emotion, 0.9, Distribution.from_mapping({emotion: 1.0}), *CIRCUMPLEX[emotion])
    scripts, first, began = [], 0.0, time.monotonic()
    for script in planner.plan(TEXT, 'en', felt):
        first = first or time.monotonic() - began
        scripts.append(script)
    return scripts, first, time.monotonic() - began, planner


def waits(server: Server, sends: bytes, pause: float = 0.1) -> Callable[[Send], None]:
    """Sends the same again and again until the test is over."""
    def script(send: Send) -> None:
        while not server.over.wait(pause):
            send(sends)

    return script


def then(first: Callable[[Send], None], after: Callable[[Send], None]) -> Callable[[Send], None]:
    def script(send: Send) -> None:
        first(send)
        after(send)

    return script


def drops(send: Send) -> None:
    raise OSError


WAYS: dict[str, Callable[[Server], Callable[[Send], None]]] = {
    'silent': lambda server: lambda send: server.over.wait(10) and None,
    'keep-alives without words': lambda server: waits(server, b': still here\n\n'),
    'empty pieces': lambda server: waits(server, event('')),
    'thinks on': lambda server: then(say('<think>'), waits(server, event('hm '))),
    'slow words': lambda server: waits(server, event('so '), 0.35),
    'drops at once': lambda server: drops,
    'half a JSON': lambda server: then(lambda send: send(b'data: {"choices": [{"delta": {"conte'), drops),
    'garbage': lambda server: lambda send: send(b'\xff\x00{{{\n\ndata: nonsense\n\n'),
    'nothing': lambda server: say(''),
    'only markup': lambda server: say('**[happy]** 😀 ```json {}```'),
    'an error event': lambda server: lambda send: send(b'data: {"error": {"message": "out of memory"}}\n\n'),
    'another language': lambda server: say('Das tut mir wirklich sehr leid, was ist denn mit dem Flug passiert?'),
    'a promise': lambda server: say('I promise that I will rebook your flight at once.'),
}


@pytest.mark.parametrize('way', WAYS)
def test_before_the_first_word_the_template_answers_in_time(server: Server, way: str) -> None:
    server.script = WAYS[way](server)
    scripts, first, whole, planner = plan(server)
    last = scripts[-1]
    assert last.complete and last.text and last.composer == 'template' and last.emotion == 'angry'
    assert last.fallback and all(fits('angry', beat, delivery) for beat in last.beats)
    assert first <= BOUNDS['first_beat'] + SLACK and whole <= BOUNDS['first_beat'] + SLACK
    assert planner.counts['template'] == planner.counts[f'template: {last.fallback}'] == 1


@pytest.mark.parametrize('status', [400, 401, 404, 429, 500, 503])
def test_a_server_that_refuses_is_replaced(server: Server, status: int) -> None:
    server.status = status
    scripts, first, _, planner = plan(server, 'sad')
    assert scripts[-1].composer == 'template' and scripts[-1].emotion == 'sad' and planner.counts['template'] == 1
    assert first <= BOUNDS['first_beat'] + SLACK


def test_a_server_that_is_not_there_is_replaced(server: Server) -> None:
    server.close()
    scripts, first, _, planner = plan(server, 'fear')
    assert scripts[-1].composer == 'template' and scripts[-1].emotion == 'fear' and planner.counts['template'] == 1
    assert first <= BOUNDS['first_beat'] + SLACK


@pytest.mark.parametrize('way', ['silent', 'keep-alives without words', 'drops at once', 'half a JSON', 'garbage'])
def test_after_the_first_sentence_the_reply_is_rounded_off(server: Server, way: str) -> None:
    begun = 'A cancelled flight and no word about it, that is hard to bear.'
    server.script = then(say(begun + ' And '), WAYS[way](server))
    scripts, _, whole, planner = plan(server)
    last = scripts[-1]
    assert last.complete and last.text.startswith(begun) and last.composer == 'llm'
    assert last.text.rstrip()[-1] in '.?!' and all(fits('angry', beat, delivery) for beat in last.beats)
    assert whole <= BOUNDS['whole'] + SLACK
    if last.text != begun:
        assert planner.counts[f'cut: {last.fallback}'] == 1


def test_a_model_that_never_ends_is_cut_at_the_bound_of_the_whole(server: Server) -> None:
    server.script = waits(server, event('The queue is long and the answer is late. '), 0.15)
    scripts, _, whole, _ = plan(server)
    assert scripts[-1].complete and whole <= BOUNDS['whole'] + SLACK
