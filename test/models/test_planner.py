"""The planner with the real language model: words that fit, streamed, stopped, kept ready on disk."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from emavatar_ros import avatars
from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.models.llm import llama_cpp
from emavatar_ros.planning.planner import Config, Planner
from emavatar_ros.planning.script import Script

PATIENT = Config(first_token=300, first_beat=600, silence=300, whole=900)


@pytest.fixture(scope='module')
def llm() -> Iterator[llama_cpp.LlamaCpp]:
    try:
        made = llama_cpp.create(llama_cpp.Config(slots=1))
    except Missing as error:
        pytest.skip(str(error))
    yield made
    made.close()


@pytest.fixture(scope='module')
def planner(llm: llama_cpp.LlamaCpp) -> Planner:
    made = Planner(PATIENT, avatars.load('mira').persona, llm)
    made.warm_up(['en'])
    return made


def plan(planner: Planner, text: str, label: str, conflict: bool = False) -> Script:
    estimate = Estimate(label, .7, Distribution.from_mapping({label: 1.0}), 0.0, 0.0, conflict)
    return list(planner.plan(text, 'en', estimate))[-1]


@pytest.mark.parametrize(('text', 'label', 'conflict', 'words'), [
    ('Great, another meeting.', 'angry', True, ('meeting',)),
    ('I failed my driving test for the third time.', 'sad', False, ('three', 'third', 'test', 'driving')),
    ('We just got engaged on the ferry!', 'happy', False, ('ferry', 'engage', 'congratulations', 'wedding', 'news')),
])
def test_the_reply_is_about_what_was_said(planner: Planner, text: str, label: str, conflict: bool,
                                          words: tuple[str, ...]) -> None:
    script = plan(planner, text, label, conflict)
    assert script.complete and script.composer == 'llm', script.fallback
    assert any(word in script.text.lower() for word in words)
    assert len(script.beats) >= 2 and len(script.text.split()) < 50


def test_the_prefix_is_ready_at_the_next_start(llm: llama_cpp.LlamaCpp, planner: Planner) -> None:
    before = time.process_time()
    again = Planner(PATIENT, avatars.load('mira').persona, llm)
    again.warm_up(['en'])
    assert time.process_time() - before < 1.0


def test_a_broken_prefix_file_is_no_matter(llm: llama_cpp.LlamaCpp, planner: Planner) -> None:
    name = llm._prefix_file(llm._prefixes[0])
    file = llm._saved / name
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[:1000])
        assert not llm._slot(0, 'restore', name)
    finally:
        file.write_bytes(whole)
    assert llm._slot(0, 'restore', name)


def test_a_file_that_is_no_model_is_bad_input(tmp_path: Path) -> None:
    file = tmp_path / 'x.gguf'
    file.write_bytes(b'GGUF' + bytes(100))
    with pytest.raises(BadInput, match='GGUF'):
        llama_cpp.create(replace(llama_cpp.Config(), model=str(file)))
    with pytest.raises(Missing):
        llama_cpp.create(llama_cpp.Config(model=str(tmp_path / 'none.gguf')))
