"""Faces keep their ids while others come and go."""

import itertools

from emavatar_ros.perception.face.landmarks import Region
from emavatar_ros.perception.face.tracking import Tracker, Tracking, identifiers, parts_of

COUNTED = Tracking(counted_ids=True)


def at(x: float, y: float = 200.0, side: float = 100.0) -> Region:
    return Region(x, y, side, 0.0)


def test_one_leaves_and_the_others_stay_who_they_are() -> None:
    tracker = Tracker(COUNTED)
    assert [track.id for track in tracker.found([at(100), at(300), at(500)], 0.0)] == ['f1', 'f2', 'f3']
    tracker.lost('f2')
    assert tracker.seen('f1', at(110), 0.1) and tracker.seen('f3', at(490), 0.1)
    assert {track.id: track.region.x for track in tracker.tracks} == {'f1': 110, 'f3': 490}


def test_a_face_back_in_its_place_keeps_its_id_and_a_late_one_does_not() -> None:
    tracker = Tracker(COUNTED)
    tracker.found([at(100)], 0.0)
    tracker.lost('f1')
    assert tracker.wants_search(0.1)
    assert tracker.found([at(130)], 1.0)[0].id == 'f1'
    tracker.lost('f1')
    assert tracker.found([at(130)], 1.0 + COUNTED.resume + 0.1)[0].id == 'f2'


def test_a_face_somewhere_else_or_of_another_size_is_somebody_else() -> None:
    for region in (at(400), at(100, side=320)):
        tracker = Tracker(COUNTED)
        tracker.found([at(100)], 0.0)
        tracker.lost('f1')
        assert tracker.found([region], 0.5)[0].id == 'f2'


def test_two_regions_on_one_face_become_one() -> None:
    tracker = Tracker(COUNTED)
    tracker.found([at(100)], 0.0)
    tracker.found([at(300)], 0.5)
    assert tracker.seen('f1', at(200), 0.6)
    assert not tracker.seen('f2', at(205), 0.6)
    assert [track.id for track in tracker.tracks] == ['f1']


def test_a_search_adds_only_the_unknown_up_to_the_limit() -> None:
    tracker = Tracker(Tracking(counted_ids=True, people=2))
    tracker.found([at(100)], 0.0)
    assert tracker.unknown([at(105), at(300, side=80), at(302, side=82), at(500, side=90)]) == [at(500, side=90)]


def test_when_it_searches() -> None:
    tracker = Tracker(COUNTED)
    assert tracker.wants_search(0.0)
    tracker.found([at(100)], 0.0)
    assert not tracker.wants_search(COUNTED.search - 0.01)
    assert tracker.wants_search(COUNTED.search)
    assert tracker.wants_search(-5.0), 'a clock that went back'
    tracker.found([at(300)], 1.0)
    tracker.seen('f1', at(100), 1.1)
    tracker.lost('f1')
    assert tracker.wants_search(1.2), 'somebody was just lost'
    tracker.found([], 1.2)
    assert not tracker.wants_search(1.3), 'who left is not searched for without end'


def test_after_forgetting_nobody_gets_an_old_id() -> None:
    tracker = Tracker(COUNTED)
    tracker.found([at(100)], 0.0)
    tracker.forget()
    assert not tracker.tracks and not tracker.known
    assert tracker.found([at(100)], 0.1)[0].id == 'f2'


def test_ids_are_short_unique_and_start_with_a_letter() -> None:
    ids = list(itertools.islice(identifiers(counted=False), 2000))
    assert len(set(ids)) == 2000
    assert all(id.isalpha() and len(id) == 5 for id in ids)


def test_parts_cover_the_picture() -> None:
    for high, wide in ((480, 640), (1080, 1920), (1920, 1080), (300, 300)):
        parts = parts_of(high, wide)
        for side in {part[2] for part in parts}:
            mine = [part for part in parts if part[2] == side]
            for x in range(0, wide, 7):
                for y in range(0, high, 7):
                    assert any(left <= x < left + side and top <= y < top + side for left, top, _ in mine)
            assert all(left >= 0 and top >= 0 and left + side <= wide and top + side <= high for left, top, _ in mine)
    assert parts_of(2, 2) == []
