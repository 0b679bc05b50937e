"""Units become measures, a nudge and words; a person's own rest is learned, a lasting mood is not mistaken for it."""

import numpy as np
import pytest

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.face.units import UNITS, units
from emavatar_ros.perception.face.reading import judge
from emavatar_ros.perception.face.signs import REST, Baseline, affect, measures, nudge, sentence

SHOWN = {
    'happy': units(mouthSmile=0.8, cheekSquint=0.4),
    'sad': units(mouthFrown=0.4, browInnerUp=0.5),
    'angry': units(browDown=0.6, mouthPress=0.4),
    'surprised': units(browInnerUp=0.5, browOuterUp=0.5, eyeWide=0.4, jawOpen=0.5),
    'disgusted': units(noseSneer=0.5, browDown=0.3, mouthUpperUp=0.4),
    'fear': units(browInnerUp=0.5, eyeWide=0.3, mouthStretch=0.35),
    'contempt': units(mouthSmileLeft=0.6, mouthDimpleLeft=0.3),
}


@pytest.mark.parametrize('label', SHOWN)
def test_each_expression_speaks_for_its_emotion(label: str) -> None:
    gains = nudge(measures(SHOWN[label]), 0.0)
    assert LABELS[int(gains.argmax())] == label and gains[LABELS.index('neutral')] < 0


def test_a_face_at_rest_says_nothing() -> None:
    assert not nudge(measures(np.zeros_like(REST)), 0.0).any()
    assert sentence(measures(np.zeros_like(REST)), 'neutral') == 'the face is at rest'


def test_a_turned_head_is_not_one_sided() -> None:
    found = measures(SHOWN['contempt'])
    assert nudge(found, 0.6)[LABELS.index('contempt')] == 0


def test_the_sentence_names_the_strongest_signs() -> None:
    assert sentence(measures(SHOWN['sad']), 'sad') == 'the mouth corners are down and the inner brows are raised'


def test_high_brows_become_rest_and_low_ones_then_tell() -> None:
    baseline = Baseline()
    high = units(browInnerUp=0.7, browOuterUp=0.6)
    for i in range(60):
        above = baseline.update(high, i * 0.1)
    assert measures(above)['brow_inner_raise'] < 0.05
    lowered = baseline.update(units(browInnerUp=0.1), 6.1)
    assert measures(lowered)['brow_lower'] > 0.3


def test_who_is_sad_from_the_first_second_stays_readable() -> None:
    baseline = Baseline()
    for i in range(300):
        above = baseline.update(SHOWN['sad'], i * 0.1)
    assert measures(above)['mouth_corner_down'] > 0.1


MIRROR = [UNITS.index(name.replace('Left', '*').replace('Right', 'Left').replace('*', 'Right')) for name in UNITS]


@pytest.mark.parametrize('label', SHOWN)
def test_a_mirrored_face_shows_the_same(label: str) -> None:
    found, mirrored = measures(SHOWN[label]), measures(SHOWN[label][MIRROR])
    assert mirrored == pytest.approx(found, abs=1e-6)
    assert np.allclose(nudge(mirrored, -0.2), nudge(found, 0.2))


def scored(label: str, sure: float = 0.9) -> np.ndarray:
    """What networks say that are so sure of `label`."""
    scores = np.full(8, np.log((1 - sure) / 6))
    scores[LABELS.index('contempt')] = -np.inf
    scores[LABELS.index(label)] = np.log(sure)
    return scores


def test_networks_are_softened() -> None:
    doubtful, sure = (judge(scored('happy', p), np.zeros_like(REST), 0.0, True) for p in (0.5, 0.999))
    assert doubtful.label == sure.label == 'happy' and doubtful.confidence < sure.confidence < 0.98


def test_a_strangers_brows_say_less_than_a_known_persons() -> None:
    known, stranger = (judge(scored('neutral'), SHOWN['angry'], 0.0, k) for k in (True, False))
    assert known.label == 'angry' and stranger['angry'] < known['angry'] - 0.2


def test_contempt_needs_no_history_but_a_straight_head() -> None:
    straight, turned = (judge(scored('neutral'), SHOWN['contempt'], yaw, False) for yaw in (0.0, 0.6))
    assert straight.label == 'contempt' and turned.label == 'neutral' and turned['contempt'] < 0.1


def test_valence_and_arousal_follow_what_moves() -> None:
    rest = judge(scored('neutral'), np.zeros_like(REST), 0.0, True)
    still = affect(rest, np.zeros_like(REST))
    assert affect(rest, SHOWN['happy'])[0] > still[0] > affect(rest, SHOWN['sad'])[0]
    assert affect(rest, SHOWN['surprised'])[1] > still[1]
    for label in SHOWN:
        angry = judge(scored('angry', 0.999), SHOWN[label], 0, True)
        assert all(-1 <= value <= 1 for value in affect(angry, SHOWN[label]))


def test_the_baseline_knows_when_it_knows() -> None:
    baseline = Baseline()
    baseline.update(REST, 0.0)
    assert not baseline.known
    for i in range(30):
        baseline.update(REST, i * 0.2)
    assert baseline.known
