"""Avatars: the two that ship are whole, and what is broken is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from emavatar_ros import avatars
from emavatar_ros.errors import BadInput


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / 'mine'
    shutil.copytree(avatars.load('mira').folder, folder)
    return folder


def test_the_shipped_avatars_differ_and_speak_two_languages() -> None:
    assert {'mira', 'tomas'} <= set(avatars.names())
    mira, tomas = avatars.load('mira'), avatars.load('tomas')
    assert mira.face.skin != tomas.face.skin and mira.face.style != tomas.face.style
    for avatar in (mira, tomas):
        assert avatar.languages == ('en', 'es')
        assert set(avatar.voice.kokoro) == set(avatar.voice.espeak) == {'en', 'es'}
        assert 60 <= len(avatar.persona.split()) <= 140
        assert avatar.consent and (avatar.folder / 'face' / 'head.npz').is_file()


def test_a_folder_serves_as_well_as_a_name(copy: Path) -> None:
    avatar = avatars.load(copy)
    assert avatar.folder == copy and avatar.face == avatars.load('mira').face


def test_an_avatar_is_loaded_again_by_its_name_from_anywhere(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copy.parent)
    mine = avatars.load('./mine')
    # A folder that is called like an avatar, and an avatar's own folder.
    twin = avatars.load(shutil.copytree(copy, copy.parent / 'mira'))
    mira = avatars.load(avatars.load('mira').folder)
    monkeypatch.chdir('/')
    for avatar in (mine, twin, mira):
        assert avatars.load(avatar.name) == avatar
    assert (mira.name, twin.name) == ('mira', str(copy.parent / 'mira'))


@pytest.mark.parametrize('name', ['nobody', '', 'mira2'])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(BadInput, match=r'known: .*mira.*tomas'):
        avatars.load(name)


def test_a_folder_without_an_avatar_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r'no avatar.yaml; .*mira, tomas'):
        avatars.load(tmp_path)


@pytest.mark.parametrize(('old', 'new', 'said'), [
    ('title: Mira', 'title: [Mira', 'cannot be read'),
    ('title:', 'titel:', "unknown entry 'titel'"),
    ('  rate: 1.0', '  rate: fast', 'voice.rate must be a number'),
    ('  rate: 1.0', '  rate: 9', 'voice.rate must be between'),
    ('  blush: 0.55', '  blusher: 0.55', "unknown entry 'blusher'"),
    ('skin: [0.89, 0.71, 0.61]', 'skin: [0.89, 0.71]', 'must be a colour'),
    ('skin: [0.89, 0.71, 0.61]', 'skin: [0.89, 71, 0.61]', 'must be a colour'),
    ('languages: [en, es]', 'languages: en', 'languages must be a list'),
    ('  espeak: {en: en-us+f3, es: es+f3}', '', 'voice.espeak is missing')])
def test_a_broken_file_is_named_with_what_is_wrong(copy: Path, old: str, new: str, said: str) -> None:
    file = copy / 'avatar.yaml'
    text = file.read_text(encoding='utf-8')
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding='utf-8')
    with pytest.raises(BadInput, match=said) as caught:
        avatars.load(copy)
    assert 'avatar.yaml' in str(caught.value) and '\n' not in str(caught.value)


def test_an_avatar_needs_a_persona(copy: Path) -> None:
    (copy / 'persona.md').write_text(' \n', encoding='utf-8')
    with pytest.raises(BadInput, match=r'persona.md'):
        avatars.load(copy)
