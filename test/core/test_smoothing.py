"""The published reading holds, may be unsure, and follows when something lasts."""

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.smoothing import Smoother, Smoothing

HAPPY = Distribution.from_mapping({'happy': 0.9, 'neutral': 0.1})
SAD = Distribution.from_mapping({'sad': 0.9, 'neutral': 0.1})


def feed(smoother: Smoother, reading: Distribution, start: float, end: float, step: float = 0.1) -> list[str]:
    count = round((end - start) / step)
    return [smoother.update(reading, start + i * step)[1] for i in range(count)]


def test_the_first_reading_counts_at_once() -> None:
    distribution, label = Smoother().update(HAPPY, 100.0)
    assert label == 'happy' and distribution == HAPPY


def test_a_flicker_changes_nothing() -> None:
    smoother = Smoother()
    feed(smoother, HAPPY, 0, 2)
    labels = [label for i in range(20) for label in feed(smoother, SAD if i % 2 else HAPPY, 2 + i * 0.2, 2.2 + i * 0.2)]
    assert set(labels) == {'happy'}


def test_what_lasts_is_believed_after_the_hold() -> None:
    config = Smoothing()
    smoother = Smoother(config)
    feed(smoother, HAPPY, 0, 2)
    labels = feed(smoother, SAD, 2, 4)
    assert labels[-1] == 'sad'
    assert labels.index('sad') * 0.1 >= config.hold
    assert labels.index('sad') * 0.1 <= config.hold + 2 * config.time


def test_nothing_clear_is_unsure_not_neutral() -> None:
    smoother = Smoother()
    feed(smoother, HAPPY, 0, 2)
    labels = feed(smoother, Distribution.uniform(), 2, 6)
    assert labels[-1] == 'unsure' and 'neutral' not in labels


def test_after_a_long_gap_the_new_reading_counts() -> None:
    smoother = Smoother()
    feed(smoother, HAPPY, 0, 2)
    assert smoother.update(SAD, 60.0)[1] == 'sad'


def test_a_clock_that_goes_back_does_no_harm() -> None:
    smoother = Smoother()
    feed(smoother, HAPPY, 100, 102)
    distribution, label = smoother.update(SAD, 50.0)
    assert label == 'happy' and abs(sum(distribution.p) - 1) < 1e-9


def test_without_a_time_constant_nothing_is_averaged() -> None:
    smoother = Smoother(Smoothing(time=0.0, hold=0.0))
    smoother.update(HAPPY, 0.0)
    assert smoother.update(SAD, 0.1) == (SAD, 'sad')
