"""The doctor's checks and the lists of devices, on made-up machines."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from emavatar_ros import devices, doctor
from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.models.catalogue import Catalogue
from emavatar_ros.models.store import Store


def install(site: Path, name: str, *files: str) -> None:
    """What pip leaves of a distribution that brought these files."""
    info = site / f'{name.replace("-", "_")}-1.0.dist-info'
    info.mkdir(parents=True)
    (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n')
    (info / 'RECORD').write_text(''.join(f'{file},,\n' for file in files))


def test_two_distributions_with_one_module_are_a_fault(tmp_path: Path) -> None:
    install(tmp_path, 'opencv-python', 'cv2/__init__.py', 'cv2/cv2.so')
    install(tmp_path, 'opencv-python-headless', 'cv2/__init__.py', 'cv2/cv2.so')
    install(tmp_path, 'onnxruntime', 'onnxruntime/__init__.py')
    install(tmp_path, 'onnxruntime-gpu', 'onnxruntime/__init__.py')
    install(tmp_path, 'six', 'six.py')
    found = {check.name: check for check in doctor.duplicates(metadata.distributions(path=[str(tmp_path)]))}
    assert set(found) == {'module cv2', 'module onnxruntime'}
    assert not any(check.ok for check in found.values())
    assert found['module cv2'].detail == 'installed by opencv-python and by opencv-python-headless'
    assert found['module cv2'].remedy == ('pip uninstall opencv-python opencv-python-headless, then '
                                          'pip install opencv-python-headless')
    assert found['module onnxruntime'].remedy.endswith('pip install onnxruntime-gpu')


def test_namespaces_strays_and_carried_metadata_are_none(tmp_path: Path) -> None:
    install(tmp_path, 'nvidia-cublas', 'nvidia/cublas/__init__.py', 'tests/__init__.py')
    install(tmp_path, 'nvidia-cudnn', 'nvidia/cudnn/__init__.py', 'tests/__init__.py', '../../bin/tool')
    install(tmp_path, 'ros-rclpy', 'rclpy/__init__.py')
    carried = tmp_path / 'rclpy-1.0-py3.11.egg-info'  # ROS wheels carry colcon's metadata of the same package
    carried.mkdir()
    (carried / 'PKG-INFO').write_text('Metadata-Version: 2.1\nName: rclpy\nVersion: 1.0\n')
    (carried / 'top_level.txt').write_text('rclpy\n')
    (carried / 'SOURCES.txt').write_text('rclpy/__init__.py\n')
    check, = doctor.duplicates(metadata.distributions(path=[str(tmp_path)]))
    assert check.ok


def test_a_system_package_counts_as_a_rival(tmp_path: Path) -> None:
    system = tmp_path / 'opencv-4.6.egg-info'
    system.mkdir()
    (system / 'PKG-INFO').write_text('Metadata-Version: 2.1\nName: opencv\nVersion: 4.6\n')
    (system / 'top_level.txt').write_text('cv2\n')
    install(tmp_path, 'opencv-python-headless', 'cv2/__init__.py')
    check, = doctor.duplicates(metadata.distributions(path=[str(tmp_path)]))
    assert (check.name, check.ok) == ('module cv2', False)


def test_the_package_called_cosyvoice_is_the_wrong_one(tmp_path: Path) -> None:
    install(tmp_path, 'cosyvoice', 'cosyvoice/__init__.py')
    found = {check.name: check for check in doctor.duplicates(metadata.distributions(path=[str(tmp_path)]))}
    assert not found['cosyvoice'].ok
    assert 'pip uninstall cosyvoice' in found['cosyvoice'].remedy


def test_a_jetson_keeps_its_own_tensorrt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = tmp_path / 'nv_tegra_release'
    release.write_text('# R36 (release), REVISION: 4.3, GCID: 1, BOARD: generic\n')
    monkeypatch.setattr(doctor.onnx, 'available', lambda: ['CPUExecutionProvider'])
    check, = doctor.accelerators(release)
    assert not check.ok
    assert 'R36' in check.detail
    assert 'JetPack' in check.remedy
    monkeypatch.setattr(doctor.onnx, 'available', lambda: ['TensorrtExecutionProvider', 'CPUExecutionProvider'])
    check, = doctor.accelerators(release)
    assert check.ok


def test_models_and_disk_say_what_to_run(tmp_path: Path) -> None:
    file = {'name': 'a', 'bytes': 10**17, 'sha256': '0' * 64, 'sources': [{'url': 'http://127.0.0.1:1/a'}]}
    (tmp_path / 'models.yaml').write_text(yaml.safe_dump({'models': {'thing': {
        'job': 'test', 'licence': 'MIT', 'profiles': ['embedded'], 'files': [file]}}}))
    store = Store(tmp_path / 'none' / 'cache', catalogue=Catalogue(tmp_path / 'models.yaml'))
    check = doctor.models(store, ['thing'])
    assert (check.ok, check.remedy) == (False, 'emavatar models pull thing')
    assert not doctor.disk(store, ['thing']).ok
    assert doctor.disk(store, []).detail.endswith('1.0 GB wanted')
    with pytest.raises(BadInput, match='known are embedded'):
        doctor.report('fridge', store)


def test_every_check_that_fails_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))  # no espeak-ng, no nvidia-smi
    found = {check.name: check for check in doctor.report(store=Store(tmp_path))}
    assert {'python', 'ros', 'espeak-ng', 'opengl', 'microphones', 'speakers', 'cameras', 'screens', 'models', 'disk',
            'extra embedded'} <= set(found)
    assert all(check.ok or check.remedy for check in found.values())
    assert found['python'].ok
    assert found['espeak-ng'].remedy == 'apt install espeak-ng'
    assert found['models'].remedy.startswith('emavatar models pull silero-vad')


def test_cameras_are_listed_without_their_metadata_nodes(tmp_path: Path) -> None:
    for number, name, index in ((0, 'Desk camera', 0), (1, 'Desk camera', 1), (10, 'Ceiling camera', 0)):
        folder = tmp_path / f'video{number}'
        folder.mkdir()
        (folder / 'name').write_text(f'{name}\n')
        (folder / 'index').write_text(f'{index}\n')
    found = devices.cameras(tmp_path)
    assert [(device.index, device.name, device.default) for device in found] == [
        (0, 'Desk camera', True), (10, 'Ceiling camera', False)]
    assert devices.find_camera('ceiling', lambda: found).index == 10
    assert devices.find_camera('10', lambda: found).index == 10
    assert devices.find_camera('/dev/video10', lambda: found).index == 10
    assert devices.find_camera('', lambda: found).index == 0
    with pytest.raises(Missing, match="this machine has 0 'Desk camera', 10 'Ceiling camera'"):
        devices.find_camera('door', lambda: found)
    with pytest.raises(Missing, match='there is no camera'):
        devices.find_camera('', tuple)


class Sound:
    """PortAudio with two cards."""

    class PortAudioError(Exception):
        pass

    class default:
        device = (0, 3)

    def query_devices(self) -> list[dict[str, object]]:
        return [{'name': name, 'max_input_channels': inputs, 'max_output_channels': outputs, 'hostapi': 0,
                 'default_samplerate': 48000.0}
                for name, inputs, outputs in (('USB array', 6, 0), ('HDA Speaker', 0, 2), ('Speaker', 0, 2),
                                              ('HDMI', 0, 8))]

    def query_hostapis(self) -> list[dict[str, object]]:
        return [{'name': 'ALSA'}]


def test_sound_devices_by_name_part_number_and_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'sounddevice', Sound())  # type: ignore[arg-type]
    assert [device.name for device in devices.microphones()] == ['USB array']
    assert devices.find_sound_device('', 'speaker').name == 'HDMI'
    assert devices.find_sound_device('speaker', 'speaker').name == 'Speaker', 'a whole name wins'
    assert devices.find_sound_device('hd', 'speaker').name == 'HDA Speaker'
    assert devices.find_sound_device('3', 'speaker').detail == '8 channels, 48000 Hz, ALSA'
    with pytest.raises(Missing, match="no microphone called 'hdmi'; this machine has 0 'USB array'"):
        devices.find_sound_device('hdmi', 'microphone')
    assert devices.sound_problem() == ''


def test_without_portaudio_nothing_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'sounddevice.py').write_text("raise OSError('PortAudio library not found')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, 'sounddevice', raising=False)
    assert devices.microphones() == devices.speakers() == ()
    assert 'apt install libportaudio2' in devices.sound_problem()
    with pytest.raises(Missing, match='libportaudio2'):
        devices.find_sound_device('', 'speaker')
