"""The classifier of danger with MiniLM: finds what no pattern knows, and keeps quiet otherwise."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from emavatar_ros.errors import Missing
from emavatar_ros.models.store import Store
from emavatar_ros.perception.words.embedding import Embedding
from emavatar_ros.planning import danger
from emavatar_ros.planning.danger_head import FILE, DangerHead

DATA = Path(__file__).parents[1] / 'data' / 'care'


@pytest.fixture(scope='module')
def head() -> DangerHead:
    try:
        return DangerHead(Embedding(Store().path('minilm')))
    except Missing as error:
        pytest.skip(str(error))


def test_it_raises_few_alarms_of_its_own(head: DangerHead) -> None:
    told = (DATA / 'negatives.en.tsv').read_text(encoding='utf-8').splitlines()[1:]
    alarms = [text for text in told if danger.find(text) is not None or head.find(text) is not None]
    assert len(alarms) <= 3, alarms  # of 237; the patterns alone raise one


def test_it_finds_danger_by_itself(head: DangerHead) -> None:
    told = [line.split('\t')[2] for line in (DATA / 'positives.en.tsv').read_text(encoding='utf-8').splitlines()[1:]]
    assert sum(head.find(text) is not None for text in told) >= 0.3 * len(told)


def test_only_english_is_judged(head: DangerHead) -> None:
    assert head.find('Me gustaría comprar dos entradas para el museo') is None and head.find('die') is None


def test_it_is_quick_and_small(head: DangerHead) -> None:
    head.find('There is no light left in my days')
    took = []
    for _ in range(9):
        before = time.process_time()
        danger.find('There is no light left in my days')
        head.find('There is no light left in my days')
        took.append(time.process_time() - before)
    assert sorted(took)[4] < 0.06  # 13 ms on a quiet core
    assert FILE.stat().st_size <= 200_000
