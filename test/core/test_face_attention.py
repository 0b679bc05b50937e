"""Who is engaged, and whose lips move as in speech."""

import numpy as np
import pytest

from emavatar_ros.perception.face.attention import LOWER_LIP, UPPER_LIP, Engagement, Level, Lips, opening
from emavatar_ros.perception.face.landmarks import CHIN, FOREHEAD


def watch(engagement: Engagement, looks: bool, start: float, end: float, size: float = 0.3) -> list[Level]:
    return [engagement.update(looks, size, t) for t in np.arange(start, end, 0.125)]


def test_engagement_goes_through_its_levels() -> None:
    engagement = Engagement()
    assert engagement.update(True, 0.3, 0.0) is Level.UNKNOWN, 'one look says nothing'
    assert watch(engagement, True, 0.1, 3)[-1] is Level.ENGAGED
    away = watch(engagement, False, 3, 7)
    assert Level.DISENGAGING in away and away[-1] is Level.DISENGAGED
    back = watch(engagement, True, 7, 10)
    assert Level.ENGAGING in back and back[-1] is Level.ENGAGED


def test_a_glance_aside_changes_nothing() -> None:
    engagement = Engagement()
    watch(engagement, True, 0, 3)
    assert set(watch(engagement, False, 3, 3.5) + watch(engagement, True, 3.5, 5)) == {Level.ENGAGED}


def test_passers_by_and_those_turned_away_are_not_engaged() -> None:
    assert set(watch(Engagement(), True, 0, 4, size=0.05)) == {Level.UNKNOWN, Level.DISENGAGED}
    assert watch(Engagement(), False, 0, 4)[-1] is Level.DISENGAGED


def test_a_clock_that_goes_back_starts_again() -> None:
    engagement = Engagement()
    watch(engagement, True, 100, 103)
    assert watch(engagement, False, 0, 5)[-1] is Level.DISENGAGED


def lips(gap: float, high: float = 100.0) -> np.ndarray:
    points = np.zeros((478, 3), np.float32)
    points[FOREHEAD, 1], points[CHIN, 1] = 0, high
    points[UPPER_LIP, 1], points[LOWER_LIP, 1] = 70, 70 + gap
    return points


@pytest.mark.parametrize('rate', [7.5, 15, 30])
def test_speech_is_to_and_fro(rate: float) -> None:
    def run(gap: object) -> float:
        seen = Lips()
        return [seen.update(lips(gap(t)), t) for t in np.arange(0, 3, 1 / rate)][-1]  # type: ignore[operator]

    jitter = np.random.default_rng(0).normal(0, 0.3, 100)
    assert run(lambda t: 5 + 5 * np.sin(2 * np.pi * 3.3 * t)) > 0.8
    assert run(lambda t: 4 + jitter[int(t * rate)]) < 0.2
    assert run(lambda t: 3 * t) == 0, 'a mouth that opens is no speech'


def test_too_few_looks_say_nothing_and_size_does_not_matter() -> None:
    seen = Lips()
    assert [seen.update(lips(10 * (i % 2)), i * 0.1) for i in range(3)] == [0, 0, 0]
    assert opening(lips(10)) == pytest.approx(opening(lips(20, 200)), rel=0.01) == pytest.approx(0.1, rel=0.01)
