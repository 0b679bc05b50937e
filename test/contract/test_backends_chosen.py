"""Every backend of the three views: chosen by a setting, silent about nothing that it lacks, and bounded in time.

None of the workstation's libraries is needed here: they are hidden where they are installed. What the backends do when
they are there is in test/extras.
"""

from __future__ import annotations

import pkgutil
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from emavatar_ros import profiles
from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.models import hub
from emavatar_ros.nodes.settings import FaceEmotionSettings, TextEmotionSettings, VoiceEmotionSettings
from emavatar_ros.perception import face, voice, words
from emavatar_ros.settings import build, chosen, specs

ROOMS = {'words': (words, TextEmotionSettings, 'backend'), 'voice': (voice, VoiceEmotionSettings, 'backend'),
         'face': (face, FaceEmotionSettings, 'networks')}
BACKENDS = {
    'words': {'minilm', 'llm', 'transformers'}, 'voice': {'encoder', 'emotion2vec'}, 'face': {'small', 'deepface'}}
HELD = [('words', 'transformers', 'transformers', ('config.json', 'model.safetensors', 'tokenizer.json')),
        ('voice', 'emotion2vec', 'funasr', ('config.yaml', 'tokens.txt', 'model.pt')),
        ('face', 'deepface', 'deepface', ())]
"""Room, backend, library, files of its model."""


def make(room: str, name: str, **settings: object) -> Any:
    _, cls, field = ROOMS[room]
    values: dict[str, object] = {field: name, **{f'{name}.{key}': value for key, value in settings.items()}}
    module, config = chosen(build(cls, values), field)
    return module.create(config)


@pytest.mark.parametrize('room', ROOMS)
def test_a_file_of_the_room_with_config_and_create_is_a_backend(room: str) -> None:
    package, cls, field = ROOMS[room]
    modules = {item.name: import_module(f'{package.__name__}.{item.name}')
               for item in pkgutil.iter_modules(package.__path__)}
    found = {name for name, module in modules.items() if hasattr(module, 'create') and hasattr(module, 'Config')}
    assert found - {'view'} == BACKENDS[room], 'hold the new backend to this contract'
    for name in BACKENDS[room]:
        assert (modules[name].__doc__ or '').strip(), 'model, licence, size and hardware are said'
        build(cls, {field: name})
        assert all(spec.help for spec in specs(modules[name].Config))


@pytest.mark.parametrize('library', ['torch', 'transformers', 'funasr', 'deepface', 'huggingface_hub'])
def test_no_library_is_imported_before_it_is_chosen(library: str) -> None:
    import subprocess

    code = (f'import sys; sys.modules[{library!r}] = None\n'
            + '\n'.join(f'import emavatar_ros.perception.{room}.{name}' for room, name, *_ in HELD))
    assert subprocess.run([sys.executable, '-c', code], timeout=60).returncode == 0


@pytest.mark.parametrize(('room', 'name', 'library', 'files'), HELD)
def test_a_missing_extra_is_named(room: str, name: str, library: str, files: tuple[str, ...],
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    for loaded in list(sys.modules):
        if loaded.split('.')[0] == library:
            monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, library, None)  # type: ignore[arg-type]
    monkeypatch.setenv('DEEPFACE_BACKEND_ENGINE', 'onnx')
    with pytest.raises(Missing, match=rf"pip install 'emavatar-ros\[{library}\]'"):
        make(room, name)


@pytest.mark.parametrize(('room', 'name', 'library', 'files'), HELD[:2])
class TestWeights:
    """What `create` asks the hub's folder for, once its library is there."""

    def folder(self, room: str, name: str, library: str, model: str) -> Path:
        module = import_module(f'emavatar_ros.perception.{room}.{name}')
        return hub.folder(model, module.NEEDED, module.WANTED, library)

    def test_none(self, room: str, name: str, library: str, files: tuple[str, ...], tmp_path: Path,
                  monkeypatch: pytest.MonkeyPatch) -> None:
        constants = pytest.importorskip('huggingface_hub.constants')
        monkeypatch.setattr(constants, 'HF_HUB_CACHE', str(tmp_path))
        began = time.monotonic()
        with pytest.raises(Missing, match='hf download some/model'):
            self.folder(room, name, library, 'some/model')
        assert time.monotonic() - began < 5, 'nobody was asked'

    def test_a_part(self, room: str, name: str, library: str, files: tuple[str, ...], tmp_path: Path) -> None:
        for file in files[:-1]:
            (tmp_path / file).touch()
        with pytest.raises(Missing, match='lacks'):
            self.folder(room, name, library, str(tmp_path))
        (tmp_path / files[-1]).touch()
        assert self.folder(room, name, library, str(tmp_path)) == tmp_path

    def test_a_name_that_is_none(self, room: str, name: str, library: str, files: tuple[str, ...]) -> None:
        with pytest.raises(Missing, match='neither a folder nor a name'):
            self.folder(room, name, library, '/nowhere/at/all')


class Silent:
    """A server that takes connections and says nothing."""

    def __init__(self) -> None:
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.taken: list[socket.socket] = []
        self.thread = threading.Thread(target=self._take, daemon=True)
        self.thread.start()
        self.url = f'http://127.0.0.1:{self.socket.getsockname()[1]}'

    def _take(self) -> None:
        with suppress(OSError):
            while True:
                self.taken.append(self.socket.accept()[0])

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        for taken in self.taken:
            taken.close()
        self.thread.join(5)


@pytest.fixture
def silent() -> Iterator[Silent]:
    made = Silent()
    yield made
    made.close()


def test_a_silent_hub_is_given_up_in_time(silent: Silent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip('huggingface_hub.constants')
    monkeypatch.setattr(constants, 'HF_HUB_CACHE', str(tmp_path))
    for name, value in (('HF_ENDPOINT', silent.url), ('HF_HUB_CACHE', str(tmp_path)), ('HF_HUB_OFFLINE', '0')):
        monkeypatch.setenv(name, value)
    began = time.monotonic()
    with pytest.raises(Missing, match=r'could not be fetched now: it took more than 4 s'):
        hub.folder('some/model', ('config.json',), ('*.json',), 'transformers', fetch=True, longest=4.0)
    assert time.monotonic() - began < 10


def test_an_offline_hub_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip('huggingface_hub.constants')
    monkeypatch.setattr(constants, 'HF_HUB_CACHE', str(tmp_path))
    for name, value in (('HF_HUB_OFFLINE', '1'), ('HF_HUB_CACHE', str(tmp_path))):
        monkeypatch.setenv(name, value)
    with pytest.raises(Missing, match='could not be fetched now'):
        hub.folder('some/model', ('config.json',), ('*.json',), 'transformers', fetch=True, longest=60.0)


def test_a_backend_of_a_backend_is_chosen_by_name() -> None:
    settings = build(TextEmotionSettings, {'backend': 'llm', 'llm.backend': 'llama_cpp', 'llm.llama_cpp.threads': 3})
    module, config = chosen(settings, 'backend')
    assert module.__name__.endswith('words.llm') and chosen(config, 'backend')[1].threads == 3
    with pytest.raises(BadInput, match='unknown setting'):
        build(TextEmotionSettings, {'backend': 'llm', 'llm.llama_cpp.threads': 3})
    with pytest.raises(BadInput, match='unknown setting'):
        build(TextEmotionSettings, {'llm.openai.url': 'http://127.0.0.1/v1'})


def test_the_lines_offered_in_the_workstations_profile_are_right(tmp_path: Path) -> None:
    said = profiles.path('workstation').read_text(encoding='utf-8').split('# The views')[1]
    offered = re.sub(r'(?m)^#(?=\S|  )', '', said)
    file = tmp_path / 'mine.yaml'
    file.write_text(offered[offered.index('/**/'):], encoding='utf-8')
    settings = profiles.load(str(file))
    assert {node: values.get('backend', values.get('networks')) for node, values in settings.items()} == {
        'text_emotion': 'llm', 'planner': 'openai', 'voice_emotion': 'emotion2vec', 'face_emotion': 'deepface',
        'arbiter': None}
