"""DeepFace's emotion network with random weights, where and as DeepFace looks for it: its file for onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.errors import BadInput, Missing

pytest.importorskip('deepface')
onnx = pytest.importorskip('onnx')

from emavatar_ros.perception.face import deepface as backend  # noqa: E402

CONTEMPT = LABELS.index('contempt')


def save(file: Path, bias: int) -> None:
    """The published network's layers, channels last outside, with random weights; `bias`: the output made likely."""
    rng = np.random.default_rng(1)
    nodes, constants = [], []

    def constant(value: object, kind: type = np.float32) -> str:
        constants.append(onnx.numpy_helper.from_array(np.asarray(value, dtype=kind), f'c{len(constants)}'))
        return constants[-1].name

    def add(operator: str, *inputs: str, **attributes: object) -> str:
        nodes.append(onnx.helper.make_node(operator, list(inputs), [f'x{len(nodes)}'], **attributes))
        return f'x{len(nodes) - 1}'

    def random(*shape: int) -> str:
        return constant(rng.normal(0, 1 / np.sqrt(np.prod(shape[1:])), shape))

    x = add('Transpose', 'input', perm=[0, 3, 1, 2])
    for before, after, side in ((1, 64, 5), (64, 64, 3), (64, 64, 3), (64, 128, 3), (128, 128, 3)):
        x = add('Relu', add('Conv', x, random(after, before, side, side)))
        if side == 5:
            x = add('MaxPool', x, kernel_shape=[5, 5], strides=[2, 2])
        elif len(constants) in (3, 5):
            x = add('AveragePool', x, kernel_shape=[3, 3], strides=[2, 2])
    x = add('Flatten', x, axis=1)
    for before, after in ((128, 1024), (1024, 1024)):
        x = add('Relu', add('MatMul', x, random(before, after)))
    x = add('Add', add('MatMul', x, random(1024, 7)), constant(8.0 * np.eye(7)[bias]))
    nodes.append(onnx.helper.make_node('Softmax', [x], ['output'], axis=1))
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        nodes, 'emotion', [onnx.helper.make_tensor_value_info('input', kind, ['n', 48, 48, 1])],
        [onnx.helper.make_tensor_value_info('output', kind, ['n', 7])], constants)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 17)])
    model.ir_version = 8
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(model.SerializeToString())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home of DeepFace's, and none of its models loaded yet."""
    from deepface.commons import backend_utils
    from deepface.modules import modeling

    monkeypatch.setenv('DEEPFACE_HOME', str(tmp_path))
    monkeypatch.setenv('DEEPFACE_BACKEND_ENGINE', 'pytorch')  # as where torch is installed
    monkeypatch.setattr(backend_utils, '_backend_engine', None)
    monkeypatch.setattr(modeling, 'cached_models', {task: {} for task in modeling.AVAILABLE_MODELS}, raising=False)
    return tmp_path / '.deepface' / 'weights' / backend.FILE


def test_missing_weights_are_told_with_the_command_that_gets_them(home: Path) -> None:
    with pytest.raises(Missing, match=r'curl -fL .*facial_expression_model_weights\.onnx'):
        backend.create()
    assert not home.exists(), 'nothing was downloaded'


def test_broken_weights_are_bad_input(home: Path) -> None:
    home.parent.mkdir(parents=True)
    home.write_bytes(b'<html>404</html>')
    with pytest.raises(BadInput, match='fetch it again'):
        backend.create()


@pytest.mark.parametrize(('output', 'label'), [(0, 'angry'), (1, 'disgusted'), (5, 'surprised'), (6, 'neutral')])
def test_its_outputs_are_read_in_its_order(home: Path, output: int, label: str) -> None:
    save(home, output)
    networks = backend.create()
    rng = np.random.default_rng(2)
    for count in (0, 1, 3):
        scores = networks.scores([rng.integers(0, 255, (112, 112, 3), np.uint8) for _ in range(count)])
        assert scores.shape == (count, len(LABELS)) and scores.dtype == np.float64
        if count:
            assert np.isneginf(scores[:, CONTEMPT]).all() and np.isfinite(np.delete(scores, CONTEMPT, 1)).all()
            assert np.exp(scores).sum(1) == pytest.approx(1, abs=1e-3)
            assert [LABELS[row.argmax()] for row in scores] == [label] * count
    assert networks.name == 'deepface'


def test_one_face_and_many_give_the_same(home: Path) -> None:
    save(home, 3)
    networks = backend.create()
    faces = [np.full((112, 112, 3), value, np.uint8) for value in (0, 128, 255)]
    together = networks.scores(faces)
    assert np.vstack([networks.scores([face]) for face in faces]) == pytest.approx(together, abs=1e-4)


def test_a_face_is_prepared_as_deepface_prepares_it(home: Path) -> None:
    """What `analyze` does with a face that needs no detection, in DeepFace's own functions."""
    save(home, 2)
    from deepface.modules import modeling, preprocessing

    face = np.random.default_rng(3).integers(0, 255, (112, 112, 3), np.uint8)
    ours = np.exp(backend.create().scores([face])[0])
    prepared = preprocessing.resize_image(face[..., ::-1] / 255, (224, 224))
    theirs = np.ravel(modeling.build_model(task='facial_attribute', model_name='Emotion').predict(prepared))
    for share, label in zip(theirs, backend.DEEPFACE, strict=True):
        assert ours[LABELS.index(label)] == pytest.approx(max(share, 1e-4), abs=2e-3)
