"""Calibration figures, against values worked out by hand."""

from __future__ import annotations

import pytest

from emavatar_ros.evaluation.calibration import calibration_error, macro_f1, reliability, table


def test_bins_and_error_of_known_readings() -> None:
    sure, right = [0.95, 0.95, 0.15, 1.0], [True, False, False, True]
    found = reliability(sure, right)
    assert [(bin.low, bin.count) for bin in found] == [(0.1, 1), (0.9, 3)]
    assert found[1].confidence == pytest.approx(2.9 / 3) and found[1].accuracy == pytest.approx(2 / 3)
    assert calibration_error(sure, right) == pytest.approx(0.75 * 0.3 + 0.25 * 0.15)
    assert len(list(table('words', found))) == 3


def test_nothing_has_no_error() -> None:
    assert calibration_error([], []) is None and reliability([], []) == []


def test_macro_f1_counts_what_was_said_beside_the_labels_as_wrong() -> None:
    truth, said = ['sad', 'sad', 'happy', 'happy'], ['sad', 'contempt', 'happy', 'sad']
    assert macro_f1(truth, said, ['happy', 'sad']) == pytest.approx((2 / 3 + 2 / 4) / 2)
    assert macro_f1(truth, truth, ['happy', 'sad']) == 1 and macro_f1([], [], []) == 0
