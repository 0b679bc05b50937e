"""Every foreign name for an emotion lands on the right one of ours, and what is none of ours on none."""

import pytest

from emavatar_ros.emotion import mappings
from emavatar_ros.emotion.labels import LABELS


@pytest.mark.parametrize(('name', 'label'), [
    ('Anger', 'angry'), ('FEARFUL', 'fear'), ('disgust', 'disgusted'), (' joy. ', 'happy'), ('surprise', 'surprised'),
    ('"Sadness"', 'sad'), ('**contempt**', 'contempt'), ('neutral', 'neutral'), ('scared', 'fear')])
def test_names(name: str, label: str) -> None:
    assert mappings.canonical(name) == label


@pytest.mark.parametrize('name', ['', 'other', 'unknown', 'not happy', 'not happy, sad', 'happy or sad', '<unk>'])
def test_what_is_no_single_emotion_of_ours_maps_to_none(name: str) -> None:
    assert mappings.canonical(name) is None


def test_every_label_maps_to_itself() -> None:
    assert [mappings.canonical(label) for label in LABELS] == list(LABELS)
    assert set(mappings.HRI) == set(LABELS)


@pytest.mark.parametrize('order', [mappings.FACE_API, mappings.MINI_XCEPTION])
def test_network_orders_name_each_class_once(order: tuple[str, ...]) -> None:
    assert sorted(order) == sorted(set(LABELS) - {'contempt'})


def test_emotion2vec_has_nine_outputs_two_of_them_nothing() -> None:
    assert len(mappings.EMOTION2VEC) == 9 and mappings.EMOTION2VEC.count(None) == 2
