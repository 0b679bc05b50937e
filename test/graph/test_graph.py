"""The whole graph: separate processes, real DDS, real sound and pictures in; what comes out, in which order, when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from interrupts import interruptible

from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.evaluation.bench_turn import voiced_end
from emavatar_ros.evaluation.visitors import Line, record
from emavatar_ros.graph import NODES
from emavatar_ros.launching import Choices
from emavatar_ros.media.files import open_video, read_audio
from emavatar_ros.nodes.convert import seconds
from emavatar_ros.nodes.visitor import Visitor
from emavatar_ros.up import Graph

pytestmark = pytest.mark.timeout(900)
READY_S = 300
ANSWER_S = 120
MINE = [name for name in NODES if name not in ('camera', 'microphone')]


@pytest.fixture(scope='module')
def visit(tmp_path_factory, ros_domain):
    """One graph for all tests here: (graph, visitor, the recording played, what came back, end of the sound)."""
    folder = tmp_path_factory.mktemp('visit')
    recording = record(Line('Great, another meeting.', 'sad', 'tomas'), folder / 'visitor.mp4')
    choices = Choices(speaker='none', screen='none', record=str(folder / 'reply.mp4'))
    with Graph(choices, MINE, log_level='warn') as graph, Visitor() as visitor:
        visitor.wait_ready(MINE, READY_S)
        began = time.time()
        seen, end = visitor.play(read_audio(recording), recording, ANSWER_S)
        yield graph, visitor, recording, seen, began, end
        pids = [child.running for child in graph.children]
    assert all(process.returncode == 0 for process in pids), [process.returncode for process in pids]
    movie = open_video(folder / 'reply.mp4')
    assert movie.has_images and movie.has_audio


def test_the_words_are_heard_with_their_own_times(visit):
    _, _, recording, seen, began, _ = visit
    audio = read_audio(recording)
    assert 'meeting' in seen.transcript.text.lower() and seen.transcript.language.startswith('en')
    assert len(seen.transcript.embedding) == 1024
    # The stamps are those of the sound, not of the recogniser's answer.
    start, end = seconds(seen.transcript.start), seconds(seen.transcript.end)
    assert began - 0.1 < start < began + audio.seconds
    assert abs(end - (began + voiced_end(audio))) < 0.4


def test_every_view_spoke_about_this_turn_or_said_why_not(visit):
    *_, seen, _, _ = visit
    emotion = seen.emotion
    assert emotion.turn_id == seen.turn_id == seen.script.turn_id
    assert {candidate.view for candidate in emotion.candidates} == {'words', 'voice', 'face', 'whole'}
    for candidate in emotion.candidates:
        assert candidate.turn_id == seen.turn_id
        assert (candidate.label in LABELS and abs(sum(candidate.distribution) - 1) < 1e-3) or candidate.reason
        assert seconds(candidate.start) <= seconds(candidate.header.stamp)
    face = next(candidate for candidate in emotion.candidates if candidate.view == 'face')
    assert face.label, face.reason
    assert emotion.label in (*LABELS, UNSURE) and list(emotion.reasons)


def test_the_reply_is_whole_and_in_order(visit):
    *_, seen, _, _ = visit
    assert seen.script.complete and seen.script.beats and seen.script.text
    assert [chunk.chunk for chunk in seen.speech] == list(range(len(seen.speech)))
    assert [chunk.last for chunk in seen.speech] == [False] * (len(seen.speech) - 1) + [True]
    for chunk in seen.speech:
        length = len(chunk.samples) / chunk.sample_rate
        assert all(p.start >= 0 and p.start + p.duration <= length + 0.03 for p in chunk.phonemes)
    spoken = sum(len(chunk.samples) / chunk.sample_rate for chunk in seen.speech)
    assert seen.last_sample - seen.first_sample == pytest.approx(spoken, abs=3.0)
    assert seen.last_sample - seen.first_sample > spoken - 0.2


def test_the_steps_follow_each_other(visit):
    *_, seen, _, _ = visit
    when = {f'{trace.stage}.{trace.event}': seconds(trace.header.stamp) for trace in seen.traces}
    order = ['endpoint.done', 'listening.done', 'deliberation.done', 'planning.first_beat', 'speech.first_chunk']
    stamps = [when[step] for step in order]
    assert stamps == sorted(stamps), when
    assert when['speech.first_chunk'] <= seen.first_sample + 0.1


def test_a_typed_line_is_the_next_turn(visit):
    _, visitor, _, seen, *_ = visit
    typed = visitor.type('Where is the nearest lift, please?', ANSWER_S)
    assert typed.turn_id > seen.turn_id and typed.script.turn_id == typed.turn_id
    assert {c.view: bool(c.label) for c in typed.emotion.candidates}['voice'] is False


def test_a_killed_process_comes_back_and_joins(visit):
    graph, visitor, *_ = visit
    child = next(child for child in graph.children if 'speech' in child.process.names)
    os.kill(child.running.pid, signal.SIGKILL)
    visitor.states.pop('speech')
    visitor.wait_ready(MINE, READY_S)
    assert visitor.type('Thank you very much!', ANSWER_S).speech


def test_up_ends_with_0_on_one_interrupt(ros_domain):
    process = subprocess.Popen(
        [sys.executable, '-m', 'emavatar_ros.cli', 'up', '--camera', 'none', '--microphone', 'none',
         '--speaker', 'none',
         '--screen', 'none', '--log-level', 'error'], stderr=subprocess.PIPE, text=True,
        env={**os.environ, 'ROS_DOMAIN_ID': str(ros_domain), 'OMP_NUM_THREADS': '1'}, preexec_fn=interruptible)
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0, said
    assert time.monotonic() - began < 6 and 'Traceback' not in said, said


def test_up_refuses_an_unknown_profile_in_one_line():
    done = subprocess.run([sys.executable, '-m', 'emavatar_ros.cli', 'up', '--profile', 'toaster'], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1 and 'embedded' in done.stderr
