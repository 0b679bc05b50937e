"""`emavatar plan` and `emavatar bench planner`, without a model."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import pytest

from emavatar_ros import cli
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.evaluation import bench_planner
from emavatar_ros.planning.care import concern

SCORES = {'coherence', 'empathy', 'feasibility', 'alignment'}


def test_a_plan_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    history = tmp_path / 'h.json'
    history.write_text('[{"role": "visitor", "text": "They closed my school."}, {"role": "avatar", "text": "Oh no."}]')
    assert cli.main(['plan', "I'm so sad.", '--emotion', 'sad', '--history', str(history), '--composer', 'template',
                     '--avatar', 'tomas', '--json']) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {'script', 'care', 'fallback', 'revisions', 'mismatches', 'model', 'timings'}
    script = told['script']
    assert script['composer'] == 'template' and script['language'] == 'en' and script['emotion'] == 'sad'
    assert script['chain_of_empathy']['emotion_cause'] == 'They closed my school'
    assert set(script['scores']) == SCORES and all(1 <= score <= 5 for score in script['scores'].values())
    assert told['mismatches'] == [] and 0 < told['timings']['first_beat'] <= told['timings']['whole_script'] < 1


def test_a_plan_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(['plan', 'Mi gato murió porque estaba enfermo.', '--emotion', 'sad', '--composer', 'template']) == 0
    told = capsys.readouterr().out
    for part in ('face: sad', 'estaba enfermo', 'empathy 5', 'written by', 'first beat'):
        assert part in told


def test_danger_gets_the_fixed_answer_and_no_scores(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(['plan', 'I want to die', '--composer', 'template', '--json']) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['care'] == 'self_harm' and set(told['script']['scores'].values()) == {None}


@pytest.mark.parametrize(('arguments', 'says'), [
    (['plan', ''], 'empty'), (['plan', 'x' * 2001], '2,000'), (['plan', 'hi', '--emotion', 'bored'], 'unsure'),
    (['plan', 'hi', '--composer', 'poet'], 'template'), (['plan', 'hi', '--avatar', 'nobody'], 'mira'),
    (['plan', 'hi', '--history', 'missing.json'], 'missing.json'), (['bench', 'planner', '--most', '0'], '--most')])
def test_bad_input_is_one_sentence(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == '' and said.err.count('\n') == 1 and says in said.err


def test_the_inputs_are_varied_and_ours_to_ask() -> None:
    lines = bench_planner.inputs()
    assert len(set(lines)) == len(lines) == 200
    assert Counter(line.emotion for line in lines) == dict.fromkeys(LABELS, 25)
    assert Counter(line.language for line in lines) == {'en': 160, 'es': 40}
    assert not [line for line in lines if concern(line.text, 'en')], 'nobody in danger: those get a fixed answer'


@pytest.mark.parametrize('most', [1, 5, 8, 30, 40, 199, 200, 1000])
def test_some_of_the_lines_are_spread_over_the_emotions(most: int) -> None:
    lines = bench_planner.inputs()
    chosen = bench_planner.some(lines, most)
    assert len(set(chosen)) == len(chosen) == min(most, 200) and chosen == bench_planner.some(lines, most)
    counts = Counter(line.emotion for line in chosen)
    assert most < 8 or max(counts.values()) - min(counts.values()) <= 1


def test_distinct_is_counted_over_all_or_by_reply() -> None:
    replies = [['a', 'b', 'a'], ['a', 'b']]
    assert bench_planner.distinct(replies, 1) == 2 / 5
    assert bench_planner.distinct(replies, 2) == 2 / 3
    assert bench_planner.distinct([], 1) == 0 and bench_planner.distinct([['a']], 2) == 0
    assert bench_planner.tokens("Oh, it's ¿qué? 3!") == ['oh', "it's", 'qué', '3']


def test_the_template_is_measured(tmp_path: Path) -> None:
    profile = tmp_path / 'mine.yaml'
    profile.write_text('planner: {ros__parameters: {composer: template}}')
    figures = bench_planner.run(argparse.Namespace(profile=str(profile), most=None, face=False))
    assert set(figures) == {'template'}
    found = figures['template']
    assert {'first_beat_s', 'whole_script_s', 'dist1_corpus', 'dist2_corpus', 'dist1_sentence', 'dist2_sentence',
            'repaired', 'refused', 'fallbacks'} <= set(found)
    assert found['lines'] == 200 and found['whole_script_s'] < 0.05 and found['fallbacks'] == found['refused'] == 0
    assert found['dist2_corpus'] > 0.25 and all(score >= 4.5 for score in found['scores'].values())


def test_a_wrong_count_is_refused() -> None:
    with pytest.raises(BadInput):
        bench_planner.run(argparse.Namespace(profile='embedded', most=-1, face=False))
