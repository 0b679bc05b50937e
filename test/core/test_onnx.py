"""The maker of ONNX sessions, with a network of one operator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.models import onnx

onnx_package = pytest.importorskip('onnx')
pytest.importorskip('onnxruntime')


@pytest.fixture
def network() -> bytes:
    from onnx import TensorProto, helper

    shape = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ('x', 'y')]
    graph = helper.make_graph([helper.make_node('Neg', ['x'], ['y'])], 'g', shape[:1], shape[1:])
    made: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)],
                                    ir_version=8).SerializeToString()
    return made


def test_a_network_runs_on_the_processor_asked_for(network: bytes, tmp_path: Path) -> None:
    (tmp_path / 'net.onnx').write_bytes(network)
    for model in (network, tmp_path / 'net.onnx', str(tmp_path / 'net.onnx')):
        made = onnx.session(model, 'cpu', threads=2)
        assert made.get_providers() == ['CPUExecutionProvider']
        assert made.get_session_options().intra_op_num_threads == 2
        assert made.get_session_options().get_session_config_entry('session.intra_op.allow_spinning') == '0'
        np.testing.assert_array_equal(made.run(None, {'x': np.array([1, -2], np.float32)})[0], [-1, 2])


@pytest.mark.parametrize('name', ['cuda', 'tensorrt'])
def test_a_gpu_that_is_not_there_is_said_and_never_replaced(network: bytes, name: str) -> None:
    if onnx.PROVIDERS[name] in onnx.available():
        pytest.skip('this onnxruntime has a GPU provider')
    with pytest.raises(Missing, match=onnx.PROVIDERS[name]):
        onnx.session(network, name)


class Pretender:
    """An onnxruntime built with CUDA that goes back to the CPU without a word."""

    def __init__(self) -> None:
        import onnxruntime

        self._real = onnxruntime
        self.SessionOptions, self.capi = onnxruntime.SessionOptions, onnxruntime.capi

    def get_available_providers(self) -> list[str]:
        return ['CUDAExecutionProvider', 'CPUExecutionProvider']

    def InferenceSession(self, model: bytes, options: object, providers: list[object]) -> object:
        assert providers[-1] == 'CPUExecutionProvider'
        return self._real.InferenceSession(model, options, providers=['CPUExecutionProvider'])


def test_a_silent_fall_back_is_noticed(network: bytes, monkeypatch: pytest.MonkeyPatch,
                                       caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(onnx, '_runtime', Pretender)
    with pytest.raises(Missing, match='CUDAExecutionProvider did not load'):
        onnx.session(network, 'cuda')
    assert onnx.session(network, 'auto').get_providers() == ['CPUExecutionProvider']
    assert 'CPUExecutionProvider runs instead' in caplog.text


def test_bad_networks_and_settings(network: bytes, tmp_path: Path) -> None:
    (tmp_path / 'cut.onnx').write_bytes(network[:20])
    for model in (b'', b'no network', tmp_path / 'cut.onnx'):
        with pytest.raises(BadInput, match='can not read'):
            onnx.session(model, 'cpu')
    with pytest.raises(Missing, match='emavatar models pull'):
        onnx.session(tmp_path / 'none.onnx')
    with pytest.raises(BadInput, match='auto, cpu, cuda, tensorrt'):
        onnx.session(network, 'gpu')
    with pytest.raises(BadInput, match='threads'):
        onnx.session(network, 'cpu', threads=0)


def test_an_engine_belongs_to_one_network_and_precision(network: bytes, tmp_path: Path) -> None:
    (tmp_path / 'net.onnx').write_bytes(network)
    key = onnx.engine_key(network)
    assert key == onnx.engine_key(tmp_path / 'net.onnx')
    assert key != onnx.engine_key(network, half=True)
    assert key.split('-')[0] != onnx.engine_key(network + b'\0').split('-')[0]


def test_the_runtime_reports_to_nobody_and_leaves_no_file(tmp_path: Path) -> None:
    env = {**os.environ, 'HOME': str(tmp_path), 'XDG_CACHE_HOME': str(tmp_path), 'TMPDIR': str(tmp_path)}
    env.pop('ORT_DISABLE_TELEMETRY', None)  # set in this process by the package itself
    code = ('from emavatar_ros.models import onnx; import onnxruntime, os; '
            'onnxruntime.SessionOptions(); assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"')
    subprocess.run([sys.executable, '-c', code], env=env, check=True, timeout=60)
    assert not list(tmp_path.iterdir())
