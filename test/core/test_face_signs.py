"""Units become measures, a nudge and words; a person's own rest is learned, a lasting mood is not mistaken for it."""

import numpy as np
import pytest

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.face.units import units
from emavatar_ros.perception.face.reading import RELIABILITY, judge
from emavatar_ros.perception.face.signs import REST, Baseline, measures, nudge, sentence

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


def test_reliability_is_a_table_of_probabilities() -> None:
    assert RELIABILITY.shape == (8, 8) and np.allclose(RELIABILITY.sum(axis=1), 1)
    scores = np.full(8, np.log(1e-4))
    scores[LABELS.index('contempt')] = -np.inf
    scores[LABELS.index('fear')] = 0
    doubtful = judge(scores, np.zeros_like(REST), 0.0)
    scores[LABELS.index('fear')], scores[LABELS.index('happy')] = np.log(1e-4), 0
    sure = judge(scores, np.zeros_like(REST), 0.0)
    assert doubtful.label == 'fear' and sure.label == 'happy' and sure.confidence > doubtful.confidence + 0.1
