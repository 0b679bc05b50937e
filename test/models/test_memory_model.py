"""The empathy memory with the real sentence embedding: paraphrases written after the situations find theirs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.emotion.labels import UNPLEASANT
from emavatar_ros.errors import Missing
from emavatar_ros.models.store import Store
from emavatar_ros.perception.words.embedding import Embedding
from emavatar_ros.planning.lasting import MOST, Lasting
from emavatar_ros.planning.memory import Config, Memory, create, embedded, seeds
from emavatar_ros.planning.situation import Situation

PARAPHRASES = (  # what is said, the emotion, words of the situation that it resembles
    ('They billed me double for one thing and I have to sort out their mess.', 'angry', 'charged me twice'),
    ('My room is over a nightclub although I asked for a silent one.', 'angry', 'above the disco'),
    ('That so-called art could be done by any toddler.', 'contempt', 'five-year-old'),
    ('You have to fill in a form just to get another form, typical.', 'contempt', 'form to request'),
    ('I touched a rotten fruit and my finger sank into the mould.', 'disgusted', 'peach'),
    ('There was a huge rat on the tracks chewing on leftovers.', 'disgusted', 'A rat'),
    ('I opened a link that pretended to be from the bank and entered my details.', 'fear', 'clicked on the link'),
    ('Flying terrifies me even though everybody tells me it is safe.', 'fear', 'planes are safe'),
    ('My daughter was just born and she looks like her grandma!', 'happy', "It's a girl"),
    ('We have paid back the mortgage, the house is all ours now!', 'happy', 'Last payment'),
    ('My wife does not know me any longer, she treated me like somebody off the street.', 'sad', "doesn't recognise"),
    ('It turns out I am having two babies at once!', 'surprised', 'Twins'),
)


@pytest.fixture(scope='module')
def embed() -> Callable[[str], np.ndarray]:
    try:
        return Embedding(Store().path('minilm')).sentence
    except Missing as error:
        pytest.skip(str(error))


@pytest.fixture(scope='module')
def vectors(embed: Callable[[str], np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    return embedded(seeds(), embed, tmp_path_factory.mktemp('vectors'))


def test_paraphrases_find_their_situation(embed: Callable[[str], np.ndarray], vectors: np.ndarray) -> None:
    one = Memory(Config(examples=2), embed, seeds(), vectors)
    first = 0
    for text, emotion, words in PARAPHRASES:
        found = one.similar(text, emotion)
        assert any(words in item.said for item in found), (text, [item.said for item in found])
        assert all((item.emotion in UNPLEASANT) == (emotion in UNPLEASANT) for item in found)
        first += words in found[0].said
    assert first >= 10


def test_a_situation_is_no_example_of_itself(embed: Callable[[str], np.ndarray], vectors: np.ndarray) -> None:
    one = Memory(Config(examples=3), embed, seeds(), vectors)
    for item in seeds()[::8]:
        shouted = item.said.upper().rstrip('.!?') + '!'
        for text in (item.said, shouted):
            assert all(found.said != item.said for found in one.similar(text, item.emotion))


def test_what_helped_is_found_among_the_others_in_time(embed: Callable[[str], np.ndarray], vectors: np.ndarray,
                                                       tmp_path: Path) -> None:
    lasting = Lasting(tmp_path / 'memory.sqlite', 30, time.time)
    rows = [Situation('', 'sad', cause := f'the {thing} was lost and is missed', cause, f'The {thing}, gone.', 'soft')
            for thing in ('violin', 'stamp album', 'kite')]
    vector = embed(rows[0].said)
    lasting.add(rows[0], vector)
    for number in range(60):
        lasting.add(Situation('', 'angry', 'x', f'cause {number} of it', f'Reply {number}.', 'soft'),
                    np.roll(vector, 1 + number))
    one = Memory(Config(examples=2), embed, seeds(), vectors, lasting)
    assert one.similar('I left my violin on the bus and it never came back', 'sad')[0].reply == 'The violin, gone.'
    assert len(lasting.read()) == 61 <= MOST
    spent = []
    for number in range(15):
        began = time.thread_time()
        one.similar(f'I left my violin on bus {number} and it never came back', 'sad')
        spent.append(time.thread_time() - began)
    assert statistics.median(spent) < 0.02  # s of CPU, the embedding of the words included


def test_it_starts_fast_the_second_time(embed: Callable[[str], np.ndarray], tmp_path: Path,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    few = seeds()[:20]
    embedded(few, embed, tmp_path)
    began = time.thread_time()
    embedded(few, embed, tmp_path)
    assert time.thread_time() - began < 0.05


def test_create_brings_the_situations(embed: Callable[[str], np.ndarray], tmp_path: Path) -> None:
    one = create(Config(), embed, tmp_path)
    assert one.examples('I missed my train by a second and nobody cares', 'angry')
