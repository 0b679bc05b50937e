"""Text, speech and face of a reply agree, and so does what an avatar's folder says of one person."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from emavatar_ros import avatars
from emavatar_ros.avatars import Profile
from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.errors import BadInput
from emavatar_ros.planning import consistency
from emavatar_ros.planning.care import Concern
from emavatar_ros.planning.consistency import Mismatch, Part, Watch
from emavatar_ros.planning.manner import MANNERS
from emavatar_ros.planning.script import Beat, ChainOfEmpathy, Script
from emavatar_ros.planning.tone import BRIGHT, EVEN, GRAVE, fits, tone
from emavatar_ros.voice.instruction import delivery


def script(*beats: Beat, emotion: str = 'sad', user: str = '', care: Concern | None = None) -> Script:
    chain = ChainOfEmpathy('x', user or emotion, 'x', 'x')
    return Script(beats, emotion, 'en', 'llm', chain, complete=True, care=care)


def kinds(found: list[Mismatch]) -> set[str]:
    return {mismatch.kind for mismatch in found}


@pytest.mark.parametrize('label', [*LABELS, UNSURE])
def test_every_manner_agrees_with_itself(label: str) -> None:
    how = MANNERS[label]
    beats = Beat('x', how.opening, how.faces[0]), Beat('x', how.following, how.faces[1])
    assert not consistency.script(script(*beats, emotion=label), delivery)


@pytest.mark.parametrize(('given', 'kind'), [
    (script(Beat('x', 'softly', 'happy')), 'expression'), (script(Beat('x', 'bright and quick', 'sad')), 'expression'),
    (script(Beat('x', 'calmly', 'angry'), emotion='angry'), 'expression'),
    (script(Beat('x', 'slowly, softly, in a low and sombre voice', 'happy'), emotion='happy'), 'expression'),
    (script(Beat('x', 'softly', 'sad'), user='happy'), 'emotion')])
def test_a_script_that_contradicts_itself_is_reported(given: Script, kind: str) -> None:
    assert kinds(consistency.script(given, delivery)) == {kind}


def test_a_fixed_answer_is_said_in_its_own_way() -> None:
    assert not consistency.script(script(Beat('x', 'brightly', 'happy'), care=Concern('medical', 'x', 'en')), delivery)


@pytest.mark.parametrize(('instruction', 'wanted'), [
    ('speak brightly and a little faster', BRIGHT), ('slowly and softly, with a low voice', GRAVE), ('', EVEN),
    ('speak in a friendly voice', EVEN), ('quickly', EVEN)])
def test_an_instruction_has_a_tone(instruction: str, wanted: str) -> None:
    assert tone(instruction, delivery) == wanted


def test_without_a_voice_only_faces_are_looked_at() -> None:
    assert fits('sad', Beat('x', 'bright and quick', 'sad')) and not fits('sad', Beat('x', 'softly', 'happy'))


def test_parts_of_one_reply_agree() -> None:
    text, speech, face = Part('text', 3, 'sad', 'mira'), Part('speech', 3, '', 'mira'), Part('face', 0, 'sad', 'mira')
    assert not consistency.parts([text, speech, face]) and not consistency.parts([])
    found = consistency.parts([text, replace(speech, turn_id=2), replace(face, emotion='happy', avatar='tomas')])
    assert kinds(found) == {'turn', 'emotion', 'avatar'}
    assert found[0].told == 'the speech has 2, the text 3'


@pytest.mark.parametrize('name', avatars.names())
def test_our_avatars_are_one_person_each(name: str) -> None:
    avatar = avatars.load(name)
    assert all((avatar.profile.age, avatar.profile.gender, avatar.profile.timbre))
    assert not consistency.identity(avatar)
    for language in avatar.languages:
        assert not consistency.spoken(avatar, language, 'kokoro-v1.0 ' + avatar.voice.kokoro[language])


def test_another_persons_parts_are_reported() -> None:
    mira, tomas = avatars.load('mira'), avatars.load('tomas')
    assert kinds(consistency.identity(replace(mira, voice=tomas.voice))) == {'gender'}
    assert kinds(consistency.identity(replace(mira, face=tomas.face))) == {'gender', 'age'}
    assert kinds(consistency.identity(replace(mira, persona=tomas.persona))) == {'name'}
    assert kinds(consistency.identity(replace(mira, profile=Profile('elderly', 'female', 'mid')))) == {'age'}
    low = replace(tomas, voice=replace(tomas.voice, pitch=5.0))
    assert kinds(consistency.identity(low)) == {'timbre'}
    assert kinds(consistency.spoken(mira, 'en', 'kokoro-v1.0 am_michael')) == {'voice'}
    assert not consistency.spoken(mira, 'de', 'kokoro-v1.0 af_heart') and not consistency.spoken(mira, 'en', '')


def test_speech_is_held_against_the_script() -> None:
    said, mira = script(Beat('x', 'softly', 'sad'), Beat('y', 'softly', 'neutral')), avatars.load('mira')
    assert not consistency.speech(mira, said, 1, 'neutral', 'kokoro-v1.0 af_heart')
    assert not consistency.speech(mira, said, 7, 'happy', '') and not consistency.speech(mira, said, 0, '', '')
    assert kinds(consistency.speech(mira, said, 0, 'happy', 'espeak-ng en-us+m3')) == {'expression', 'voice'}


def test_what_is_left_open_contradicts_nothing() -> None:
    mira = avatars.load('mira')
    bare = replace(mira, profile=Profile(), face=replace(mira.face, shape={}), persona='Be kind.', title='The guide')
    assert not consistency.identity(bare)


def test_mismatches_count_and_are_logged_once_a_kind(caplog: pytest.LogCaptureFixture) -> None:
    counts: Counter[str] = Counter()
    watch = Watch(counts)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            watch.report([Mismatch('emotion', 'a'), Mismatch('turn', 'b')])
    assert counts == {'mismatch: emotion': 3, 'mismatch: turn': 3} and len(caplog.records) == 2


def test_a_profile_says_what_it_may(tmp_path: Path) -> None:
    folder = tmp_path / 'mine'
    folder.mkdir()
    source = avatars.load('mira').folder
    (folder / 'persona.md').write_text('You are Mine.')
    text = (source / 'avatar.yaml').read_text()
    (folder / 'avatar.yaml').write_text(text.replace('age: young', 'age: ancient'))
    with pytest.raises(BadInput, match='young'):
        avatars.load(folder)
    (folder / 'avatar.yaml').write_text('\n'.join(line for line in text.splitlines() if not line.startswith('profile')))
    assert avatars.load(folder).profile == Profile()
