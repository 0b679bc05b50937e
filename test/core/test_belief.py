"""The belief over time: it holds, doesn't flicker, fades."""

from __future__ import annotations

from itertools import pairwise

from emavatar_ros.deliberation.belief import Belief, Beliefs, Config
from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, UNSURE


def estimate(label: str, probability: float = 0.7) -> Estimate:
    rest = (1 - probability) / 7
    distribution = Distribution.of([probability if known == label else rest for known in LABELS])
    return Estimate(label, probability, distribution, 0.0, 0.0, method='agreement')


NOTHING = Estimate(UNSURE, 0.0, Distribution.uniform(), 0.0, 0.0)


def test_it_begins_unsure_and_takes_the_first_estimate() -> None:
    belief = Belief()
    assert belief.at(5.0).label == UNSURE
    assert belief.update(estimate('sad'), 10.0).label == 'sad'
    assert belief.at(12.0).label == 'sad'
    assert belief.at(12.0).valence < 0


def test_one_weak_contrary_estimate_does_not_flip_it() -> None:
    belief = Belief()
    for t in range(5):
        belief.update(estimate('sad'), float(t))
    shown = [belief.update(estimate('happy', 0.4), 5.0).label, belief.update(estimate('sad'), 5.5).label]
    assert shown == ['sad', 'sad']


def test_alternating_estimates_do_not_flicker() -> None:
    belief = Belief()
    shown = [belief.update(estimate(('sad', 'neutral')[step % 2], 0.5), step * 0.2).label for step in range(50)]
    changes = sum(one != two for one, two in pairwise(shown))
    assert changes <= 2


def test_a_lasting_change_gets_through() -> None:
    belief = Belief()
    for t in range(5):
        belief.update(estimate('sad'), float(t))
    for t in range(5, 12):
        last = belief.update(estimate('happy'), float(t))
    assert last.label == 'happy'


def test_without_news_it_fades_to_unsure() -> None:
    belief = Belief(Config(keep=8.0, fade=4.0))
    belief.update(estimate('angry'), 0.0)
    confidence = [belief.at(t).confidence for t in (0.0, 8.0, 14.0, 20.0, 60.0)]
    assert confidence[0] == confidence[1] > confidence[2] > confidence[3] > confidence[4]
    assert belief.at(7.9).label == 'angry'
    assert belief.at(60.0).label == UNSURE
    assert belief.at(60.0).distribution.confidence < 0.2
    assert any('nothing new' in reason for reason in belief.at(60.0).reasons)


def test_asking_changes_nothing_and_replay_is_the_same() -> None:
    one, two = Belief(), Belief()
    for t in range(6):
        one.at(t + 0.5)
        assert one.update(estimate(LABELS[t], 0.4), float(t)) == two.update(estimate(LABELS[t], 0.4), float(t))


def test_seeing_nothing_is_no_news() -> None:
    belief = Belief(Config(keep=2.0))
    belief.update(estimate('happy'), 0.0)
    for t in range(1, 60):
        belief.update(NOTHING, float(t))
    assert belief.at(60.0).label == UNSURE


def test_an_estimate_from_the_past_is_taken_with_the_last() -> None:
    belief = Belief()
    belief.update(estimate('happy'), 100.0)
    assert belief.update(estimate('happy'), 90.0).label == 'happy'
    assert belief.at(101.0).confidence > 0.5


def test_forget_leaves_nothing() -> None:
    belief = Belief()
    belief.update(estimate('happy'), 0.0)
    belief.forget()
    assert belief.at(0.0) == Belief().at(0.0)


def test_everybody_has_a_belief_of_their_own() -> None:
    beliefs = Beliefs(nobody='nobody')
    beliefs.of('ann').update(estimate('sad'), 0.0)
    beliefs.of('bob').update(estimate('happy'), 0.0)
    assert (beliefs.of('ann').at(1.0).label, beliefs.of('bob').at(1.0).label) == ('sad', 'happy')
    assert beliefs.of('nobody').at(1.0).label == 'unsure', 'with two people here the voice may be either\'s'
    beliefs.forget()
    assert beliefs.of('ann').at(1.0).label == 'unsure'


def test_a_voice_is_the_only_person_there_is() -> None:
    beliefs = Beliefs(nobody='nobody')
    beliefs.of('nobody').update(estimate('sad'), 0.0)
    assert beliefs.of('ann').at(1.0).label == 'sad', 'who is seen inherits what was heard'
    beliefs.of('nobody').update(estimate('sad'), 1.0)
    assert beliefs.of('bob').at(1.0).label == 'unsure' and beliefs.of('ann').at(1.0).label == 'sad'


def test_people_who_left_are_forgotten_in_time() -> None:
    beliefs = Beliefs(nobody='nobody')
    for number in range(20):
        beliefs.of(f'p{number}').update(estimate('sad'), 0.0)
    assert beliefs.of('p19').at(0.0).label == 'sad' and beliefs.of('p0').at(0.0).label == 'unsure'
