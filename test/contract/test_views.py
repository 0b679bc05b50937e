"""What every view of an utterance owes the arbiter: an honest candidate, or a reason for having none.

The face view runs here on scripted landmarks and networks (its logic, not its eyes); words and face with their real
models are in test/models, the views behind a server in test_judging.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from honest import honest

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput
from emavatar_ros.face.units import Units, units
from emavatar_ros.perception.face import view as face
from emavatar_ros.perception.face.attention import LOWER_LIP, UPPER_LIP, Level
from emavatar_ros.perception.face.landmarks import CHIN, FOREHEAD, LEFT_CHEEK, LEFT_EYE, RIGHT_CHEEK, RIGHT_EYE, Region
from emavatar_ros.settings import build


class Scene:
    """Stands in for the landmark model and the expression networks: faces as a script puts them in the picture."""

    name = 'scene'

    def __init__(self) -> None:
        self.faces: list[tuple[float, float, float, float, Units, str]] = []
        self.behind = ''
        self.lips: dict[int, float] = {}

    def put(self, x: float, y: float, size: float = 120, yaw: float = 0.0, shown: Units | None = None,
            looks: str = 'neutral') -> None:
        self.faces.append((x, y, size, yaw, units() if shown is None else shown, looks))

    def detect(self, rgb: np.ndarray, threshold: float = 0.5) -> list[Region]:
        if rgb.shape[:2] != (480, 640):
            return []  # a part of the picture: nothing small is hidden there
        return [Region(x, y, size * 1.5, 0.0) for x, y, size, *_ in self.faces]

    def landmarks(self, rgb: np.ndarray, region: Region) -> tuple[np.ndarray, float]:
        for number, (x, y, size, yaw, *_) in enumerate(self.faces):
            if abs(region.x - x) < region.side / 3 and abs(region.y - y) < region.side / 3:
                points = np.zeros((478, 3), np.float32)
                points[:, 0] = x + size / 2 * np.sin(np.arange(478))
                points[:, 1] = y + size / 2 * np.cos(np.arange(478))
                for index, (dx, dy) in {RIGHT_EYE: (-.3, -.1), LEFT_EYE: (.3, -.1), RIGHT_CHEEK: (-.45, 0),
                                        LEFT_CHEEK: (.45, 0), FOREHEAD: (0, -.5), CHIN: (0, .5)}.items():
                    points[index, :2] = x + dx * size, y + dy * size
                points[LEFT_CHEEK, 2] = 0.9 * size * np.tan(yaw)
                points[UPPER_LIP, :2] = x, y + 0.2 * size
                points[LOWER_LIP, :2] = x, y + (0.2 + self.lips.get(number, 0.0)) * size
                points[0, :2] = x, y
                points[1, 2] = number
                return points, 1.0
        return np.zeros((478, 3), np.float32), 0.0

    def units(self, points: np.ndarray) -> Units:
        return self.faces[int(points[1, 2])][4]

    def scores(self, crops: list[np.ndarray]) -> np.ndarray:
        rows = np.full((len(crops), len(LABELS)), np.log(1e-4))
        rows[:, LABELS.index('contempt')] = -np.inf
        # The script paints a face's expression into the picture as its grey level.
        for row, crop in zip(rows, crops, strict=True):
            row[int(np.median(crop)) // 10 - 5] = 0.0
        return rows

    def picture(self) -> np.ndarray:
        rgb = np.full((480, 640, 3), 100, np.uint8)
        for x, y, size, _, _, looks in self.faces:
            half = int(size * 0.6)
            top, left = max(int(y) - half, 0), max(int(x) - half, 0)
            rgb[top:int(y) + half, left:int(x) + half] = 52 + 10 * LABELS.index(looks)
        return rgb


def view(scene: Scene, **settings: object) -> face.FaceView:
    config = build(face.Config, {'tracking.counted_ids': True, **settings})
    return face.FaceView(config, scene, scene, lambda crop, points: scene.behind)  # type: ignore[arg-type]


def watch(seeing: face.FaceView, scene: Scene, start: float, end: float) -> tuple[face.Face, ...]:
    faces: tuple[face.Face, ...] = ()
    for stamp in np.arange(start, end, 0.1):
        faces = seeing.see(scene.picture(), float(stamp))
    return faces


def test_two_people_keep_their_ids_and_their_feelings() -> None:
    scene = Scene()
    seeing = view(scene)
    scene.put(180, 240, 150, looks='happy')
    scene.put(460, 240, 110, looks='sad')
    first, second = watch(seeing, scene, 0, 2)
    assert (first.id, first.label, first.partner) == ('f1', 'happy', True)
    assert (second.id, second.label, second.partner) == ('f2', 'sad', False)
    assert -1 <= first.x < 0 < second.x <= 1
    del scene.faces[0]
    left = watch(seeing, scene, 2, 4)
    assert [(one.id, one.label, one.partner) for one in left] == [('f2', 'sad', True)]
    candidate = seeing.candidate(0.5, 1.5)
    honest(candidate)
    assert candidate.label == 'happy', 'the partner of that utterance was the larger face'


@pytest.mark.parametrize(('change', 'reason'), [
    ({'size': 40}, 'too small'), ({'yaw': 1.0}, 'turned away')])
def test_what_cannot_be_read_is_said_and_never_neutral(change: dict[str, float], reason: str) -> None:
    scene = Scene()
    seeing = view(scene)
    scene.put(320, 240, **{'size': 120, **change})  # type: ignore[arg-type]
    faces = watch(seeing, scene, 0, 1)
    assert len(faces) == 1 and faces[0].label is None and faces[0].distribution is None and reason in faces[0].reason
    candidate = seeing.candidate(0, 1)
    honest(candidate)
    assert candidate.abstains and reason in candidate.reason


def test_no_picture_no_face_no_light() -> None:
    scene = Scene()
    seeing = view(scene)
    for expected, rgb in (('no picture', None), ('no face', np.full((480, 640, 3), 100, np.uint8)),
                          ('too dark', np.zeros((480, 640, 3), np.uint8))):
        seeing.forget()
        if rgb is not None:
            assert seeing.see(rgb, 1.0) == ()
        candidate = seeing.candidate(0.9, 1.1)
        honest(candidate)
        assert candidate.abstains and expected in candidate.reason


def test_one_flash_of_another_expression_does_not_change_the_label() -> None:
    scene = Scene()
    seeing = view(scene)
    scene.put(320, 240, looks='happy')
    watch(seeing, scene, 0, 2)
    scene.faces.clear()
    scene.put(320, 240, looks='angry')
    assert watch(seeing, scene, 2, 2.2)[0].label == 'happy'
    assert watch(seeing, scene, 2.2, 5)[0].label == 'angry'


def test_forgetting_leaves_nothing() -> None:
    scene = Scene()
    seeing = view(scene)
    scene.put(320, 240, looks='happy')
    watch(seeing, scene, 0, 2)
    seeing.forget()
    assert seeing.candidate(0, 2).abstains and seeing.measures(0, 2) == {} and seeing.partner(0, 2) is None
    assert watch(seeing, scene, 2, 3)[0].id == 'f2', 'the next visitor is nobody seen before'


def test_contempt_needs_the_units() -> None:
    scene = Scene()
    seeing = view(scene)
    scene.put(320, 240, shown=units(mouthSmileLeft=0.7, mouthDimpleLeft=0.4))
    watch(seeing, scene, 0, 1)
    candidate = seeing.candidate(0, 1)
    honest(candidate)
    assert candidate.label == 'contempt' and 'one side' in candidate.evidence
    assert seeing.measures(0, 1)['one_sided_smile'] > 0.5


def test_of_three_people_one_leaves_and_comes_back() -> None:
    scene = Scene()
    seeing = view(scene)
    for x in (110, 320, 530):
        scene.put(x, 240, 130)
    first, *others = watch(seeing, scene, 0, 2)
    assert first.id == 'f2' and {one.id for one in others} == {'f1', 'f3'}, 'the most central one first'
    middle = scene.faces.pop(1)
    assert {one.id for one in watch(seeing, scene, 2, 3)} == {'f1', 'f3'}
    scene.faces.append(middle)
    assert {one.id: round(one.x) for one in watch(seeing, scene, 3, 5)} == {'f1': -1, 'f2': 0, 'f3': 1}


def test_the_partner_is_who_speaks() -> None:
    def talk(start: float, end: float) -> tuple[face.Face, ...]:
        for stamp in np.arange(start, end, 0.1):
            scene.lips[1] = 0.06 if int(stamp * 10) % 4 < 2 else 0.01
            faces = seeing.see(scene.picture(), float(stamp))
        return faces

    scene = Scene()
    seeing = view(scene)
    scene.put(320, 240, 150)
    scene.put(530, 240, 130, looks='sad')
    assert watch(seeing, scene, 0, 2)[0].id == 'f1'
    speaker, other = talk(2, 5)
    assert speaker.id == 'f2' and speaker.partner and speaker.speaking > 0.5 and other.speaking == 0
    candidate = seeing.candidate(3.5, 4.5)
    honest(candidate)
    assert candidate.label == 'sad'
    seeing.hear(False)
    assert {one.speaking for one in talk(5, 7)} == {0.0}, 'no voice is heard: he only chews'


def test_engagement_is_told() -> None:
    scene = Scene()
    seeing = view(scene)
    scene.put(200, 240, 150)
    scene.put(460, 240, 150, yaw=0.6)
    assert {one.id: one.engagement for one in watch(seeing, scene, 0, 4)} == {
        'f1': Level.ENGAGED, 'f2': Level.DISENGAGED}


def test_what_hides_a_face_is_said_after_a_vote() -> None:
    scene = Scene()
    seeing = view(scene)
    scene.put(320, 240, looks='happy')
    watch(seeing, scene, 0, 2)
    scene.behind = 'sunglasses hide the eyes'
    assert watch(seeing, scene, 2, 2.4)[0].label == 'happy', 'one look is not believed'
    assert watch(seeing, scene, 2.4, 4)[0].reason == scene.behind
    candidate = seeing.candidate(3.5, 4)
    honest(candidate)
    assert candidate.reason == scene.behind
    scene.behind = ''
    assert watch(seeing, scene, 4, 6)[0].label == 'happy'


def test_a_face_without_features_is_not_nobody() -> None:
    scene = Scene()
    seeing = view(scene)
    scene.put(320, 240)
    scene.landmarks = lambda rgb, region: (np.zeros((478, 3), np.float32), 0.1)  # type: ignore[method-assign]
    assert watch(seeing, scene, 0, 1) == ()
    assert 'hidden' in seeing.candidate(0, 1).reason


@pytest.mark.parametrize('rgb', [np.zeros((1, 1, 3), np.uint8), np.zeros((48, 64), np.uint8),
                                 np.zeros((48, 64, 3), np.float32)])
def test_bad_pictures_are_refused(rgb: np.ndarray) -> None:
    with pytest.raises(BadInput):
        view(Scene()).see(rgb, 0.0)
