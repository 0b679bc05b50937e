"""Every foreign name for an emotion lands on the right one of ours, and what is none of ours on none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emavatar_ros.emotion import mappings
from emavatar_ros.emotion.labels import LABELS


@pytest.mark.parametrize(('name', 'label'), [
    ('Anger', 'angry'), ('FEARFUL', 'fear'), ('disgust', 'disgusted'), (' joy. ', 'happy'), ('surprise', 'surprised'),
    ('"Sadness"', 'sad'), ('**contempt**', 'contempt'), ('neutral', 'neutral'), ('scared', 'fear'),
    ('No_Emotion', 'neutral'), ('Frustrated', 'angry'), ('worried', 'fear'), ('scornful', 'contempt')])
def test_names(name: str, label: str) -> None:
    assert mappings.canonical(name) == label


@pytest.mark.parametrize('name', ['', 'other', 'unknown', 'not happy', 'not happy, sad', 'happy or sad', '<unk>',
                                  'unhappily ever after', 'LABEL_0', 'jealous', 'mixed', 'bored'])
def test_what_is_no_single_emotion_of_ours_maps_to_none(name: str) -> None:
    assert mappings.canonical(name) is None


def test_every_label_maps_to_itself() -> None:
    assert [mappings.canonical(label) for label in LABELS] == list(LABELS)


@pytest.mark.parametrize(('order', 'expected'), [
    (mappings.FACE_API, 'neutral happy sad angry fear disgusted surprised'),
    (mappings.MINI_XCEPTION, 'angry disgusted fear happy sad surprised neutral'),
    (mappings.DEEPFACE, 'angry disgusted fear happy sad surprised neutral'),
    (mappings.FER_PLUS, 'neutral happy surprised sad angry disgusted fear contempt'),
    (mappings.EMOTION2VEC, 'angry disgusted fear happy neutral None sad surprised None')])
def test_the_order_of_a_models_outputs(order: mappings.Order, expected: str) -> None:
    assert ' '.join(map(str, order)) == expected


def test_go_emotions_as_its_data_maps_them() -> None:
    expected = {
        'angry': {'anger', 'annoyance', 'disapproval'}, 'disgusted': {'disgust'}, 'fear': {'fear', 'nervousness'},
        'happy': {'joy', 'amusement', 'approval', 'excitement', 'gratitude', 'love', 'optimism', 'relief', 'pride',
                  'admiration', 'desire', 'caring'},
        'sad': {'sadness', 'disappointment', 'embarrassment', 'grief', 'remorse'},
        'surprised': {'surprise', 'realization', 'confusion', 'curiosity'}, 'neutral': {'neutral'}}
    assert {name: label for label, names in expected.items() for name in names} == mappings.GO_EMOTIONS
    assert len(mappings.GO_EMOTIONS) == 28 and list(mappings.GO_EMOTIONS)[:2] == ['admiration', 'amusement']


def test_meld_has_seven() -> None:
    assert mappings.MELD == {'anger': 'angry', 'disgust': 'disgusted', 'fear': 'fear', 'joy': 'happy',
                             'neutral': 'neutral', 'sadness': 'sad', 'surprise': 'surprised'}


def test_empathetic_dialogues_32_land_on_avamergs_seven() -> None:
    assert len(mappings.EMPATHETIC_DIALOGUES) == 32
    assert set(mappings.EMPATHETIC_DIALOGUES.values()) == set(mappings.AVAMERG) == set(LABELS) - {'neutral'}
    for name, label in mappings.EMPATHETIC_DIALOGUES.items():
        assert mappings.canonical(name) in (label, None), 'two tables must not disagree about a word'


def test_hri_both_ways() -> None:
    assert set(mappings.HRI) == set(LABELS) and set(mappings.HRI.values()) <= set(mappings.FROM_HRI)
    back = {label: mappings.FROM_HRI[name] for label, name in mappings.HRI.items()}
    assert back == {label: label for label in LABELS} | {'contempt': 'angry'}, 'only contempt does not come back'
    assert len(mappings.FROM_HRI) == 25 and mappings.FROM_HRI['bored'] is None
    for name, label in mappings.FROM_HRI.items():
        assert mappings.canonical(name) in (label, None) or label is None


class TestDistribution:
    def test_what_is_none_of_ours_becomes_abstained_share_and_never_neutral(self) -> None:
        found, nothing = mappings.distribution(mappings.EMOTION2VEC, [.1, 0, 0, .1, 0, .5, .2, 0, .1])
        assert found is not None and nothing == pytest.approx(0.6)
        assert found.label == 'sad' and found['neutral'] == 0
        assert found['sad'] == pytest.approx(0.5 * 0.97) and found['contempt'] == pytest.approx(0.03)

    @pytest.mark.parametrize(('values', 'nothing'), [([0] * 9, 0), ([0, 0, 0, 0, 0, 1, 0, 0, 0], 1),
                                                     ([float('nan')] * 9, 0), ([-1.0] * 9, 0)])
    def test_nothing_for_us_is_no_distribution(self, values: list[float], nothing: float) -> None:
        assert mappings.distribution(mappings.EMOTION2VEC, values) == (None, nothing)

    def test_names_of_one_label_add_up(self) -> None:
        found, nothing = mappings.distribution(('happy', 'happy', 'sad'), [.3, .3, .4], unknown=0)
        assert found is not None and (found['happy'], nothing) == (pytest.approx(0.6), 0)

    def test_as_many_values_as_outputs(self) -> None:
        with pytest.raises(ValueError, match='argument'):
            mappings.distribution(mappings.DEEPFACE, [1, 0])

    @given(st.lists(st.floats(0, 1), min_size=9, max_size=9).filter(lambda values: sum(values) > 1e-6))
    def test_shares_stay_shares(self, values: list[float]) -> None:
        found, nothing = mappings.distribution(mappings.EMOTION2VEC, values)
        assert 0 <= nothing <= 1
        if found is not None:
            assert sum(found.p) == pytest.approx(1) and min(np.array(found.p)) >= 0
