"""What a face's expression looks like to two small networks, and the weighted mean of their opinions.

Models: face-api's expression network (MIT, 329 kB, 112 px colour) and mini-XCEPTION as trained by `fer` (MIT,
873 kB, 64 px grey). Both are read from their publishers' files (TensorFlow.js weights, a Keras file) and built as
ONNX graphs in memory; onnxruntime runs both in about 3 ms on one thread. Measured by this project on 1,674
student-labelled faces: .59 and .45 alone. Each sees the face and its mirror image, which adds .016 and makes the two
sides of a face count the same. The weights were chosen by looking at those faces.

Neither knows contempt. Faces are cut level with the eyes, 1.05 times the face's box: turned by 45 degrees they
read .18, levelled .57. Dark ones are brightened first (see crop.py).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.emotion.mappings import FACE_API, MINI_XCEPTION
from emavatar_ros.errors import Missing
from emavatar_ros.models.onnx import session
from emavatar_ros.perception.face.crop import SIDE
from emavatar_ros.perception.face.landmarks import Pixels

_GREY = 64
NAME: Final = 'face-api + mini-xception'
_FACE_API_MEAN: Final = (122.782, 117.001, 104.298)
_LEAST: Final = 1e-3
"""A network's zero is not taken as proof: this is the least probability it can give."""
_WEIGHTS: Final = (0.72, 0.28)
"""How much face-api and mini-XCEPTION count."""


@dataclass(frozen=True)
class Config:
    """Nothing to set."""


class Pair:
    """Both networks, loaded. Not for two threads at once."""

    name = NAME

    def __init__(self, face_api: Path, mini_xception: Path) -> None:
        """Build from the folders of the models `face-api-expression` and `mini-xception`; raises Missing."""
        weights, manifest = (_file(face_api, f'face_expression_model{part}', 'face-api-expression')
                             for part in ('.bin', '-weights_manifest.json'))
        self._colour = session(_face_api(weights, manifest), 'cpu', 1)
        keras = _file(mini_xception, 'emotion_model.hdf5', 'mini-xception')
        self._grey = session(_mini_xception(keras), 'cpu', 1)

    def scores(self, faces: Sequence[Pixels]) -> NDArray[np.float64]:
        """Weighted mean log-probability of both networks over faces from `cut` and their mirror images, float64
        [n, 8]; contempt is minus infinity."""
        seen = np.stack([image for face in faces for image in (face, face[:, ::-1])])
        colour = seen.transpose(0, 3, 1, 2).astype(np.float32)
        greys = [cv2.cvtColor(cv2.resize(face, (_GREY, _GREY), interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY)
                 for face in faces]
        grey = np.stack([image for each in greys for image in (each, each[:, ::-1])])[:, None].astype(np.float32)
        first = self._colour.run(None, {'input': colour})[0]
        second = self._grey.run(None, {'input': grey / 127.5 - 1})[0]
        mean = np.zeros((len(faces), len(LABELS)))
        mean[:, LABELS.index('contempt')] = -np.inf
        for weight, order, values in zip(_WEIGHTS, (FACE_API, MINI_XCEPTION), (first, second), strict=True):
            logs = np.log(np.maximum(values, _LEAST)).reshape(len(faces), 2, -1).mean(axis=1)
            mean[:, [LABELS.index(label) for label in order]] += weight * logs
        return mean


def create(config: Config | None = None, face_api: Path | None = None, mini_xception: Path | None = None) -> Pair:
    """Both networks from the model store, or from the folders given."""
    from emavatar_ros.models.store import Store
    store = Store()
    return Pair(face_api or store.path('face-api-expression'), mini_xception or store.path('mini-xception'))


def _file(folder: Path, name: str, model: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise Missing(f'{path} is not there; fetch it with: emavatar models pull {model}')
    return path


class _Builder:
    """Nodes and constants of a growing ONNX graph for pictures [n, channels, h, w]."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError as error:
            raise Missing('seeing expressions needs onnx; install it with: '
                          'pip install emavatar_ros[embedded]') from error
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: Any) -> str:
        name = f'c{len(self._constants)}'
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(value, dtype=np.float32), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f'x{len(self._nodes)}'
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def convolution(self, x: str, kernel: Any, bias: Any = None, stride: int = 1, padding: str = 'SAME_UPPER',
                    each: bool = False) -> str:
        """TensorFlow's kernel [h, w, in, out]; `each`: one filter per channel [h, w, channels, 1]."""
        weights = kernel.transpose(2, 3, 0, 1) if each else kernel.transpose(3, 2, 0, 1)
        inputs = [x, self.constant(weights)] + ([] if bias is None else [self.constant(bias)])
        return self.add('Conv', *inputs, strides=[stride, stride], auto_pad=padding,
                        kernel_shape=list(kernel.shape[:2]), group=kernel.shape[2] if each else 1)

    def graph(self, size: tuple[int, int], output: str) -> bytes:
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        channels, side = size
        graph = helper.make_graph(
            self._nodes, 'expression',
            [helper.make_tensor_value_info('input', kinds.FLOAT, ['n', channels, side, side])],
            [helper.make_tensor_value_info(output, kinds.FLOAT, ['n', 7])], self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)])
        model.ir_version = 8
        return bytes(model.SerializeToString())


def _face_api(weights: Path, manifest: Path) -> bytes:
    """face-api's network: four dense blocks of depthwise convolutions. Input: RGB 0 to 255."""
    raw = weights.read_bytes()
    w: dict[str, Any] = {}
    at = 0
    for entry in (item for part in json.loads(manifest.read_text()) for item in part['weights']):
        quantised = entry.get('quantization')
        kind = np.dtype(quantised['dtype'] if quantised else entry['dtype'])
        values = np.frombuffer(raw, kind, math.prod(entry['shape']), at)
        at += values.nbytes
        values = values.astype(np.float32)
        if quantised:
            values = values * np.float32(quantised['scale']) + np.float32(quantised['min'])
        w[entry['name']] = values.reshape(entry['shape'])
    b = _Builder()

    def separable(x: str, name: str, stride: int = 1) -> str:
        x = b.convolution(x, w[name + '/depthwise_filter'], stride=stride, each=True)
        return b.convolution(x, w[name + '/pointwise_filter'], w[name + '/bias'])

    x = b.add('Sub', 'input', b.constant(np.reshape(_FACE_API_MEAN, (1, 3, 1, 1))))
    x = b.add('Div', x, b.constant(255.0))
    for block in range(4):
        name = f'dense{block}'
        if block == 0:
            x = b.convolution(x, w[name + '/conv0/filters'], w[name + '/conv0/bias'], stride=2)
        else:
            x = separable(x, name + '/conv0', 2)
        first = b.add('Relu', x)
        second = separable(first, name + '/conv1')
        third = separable(b.add('Relu', b.add('Add', first, second)), name + '/conv2')
        both = b.add('Add', second, third)
        fourth = separable(b.add('Relu', b.add('Add', first, both)), name + '/conv3')
        x = b.add('Relu', b.add('Add', first, b.add('Add', both, fourth)))
    x = b.add('Flatten', b.add('AveragePool', x, kernel_shape=[7, 7], strides=[2, 2]), axis=1)
    x = b.add('Gemm', x, b.constant(w['fc/weights']), b.constant(w['fc/bias']))
    return b.graph((3, SIDE), b.add('Softmax', x, axis=1))


def _mini_xception(path: Path) -> bytes:
    """mini-XCEPTION from its Keras file, layer by layer. Input: grey -1 to 1."""
    try:
        import h5py
    except ImportError as error:
        raise Missing('seeing expressions needs h5py; install it with: pip install emavatar_ros[embedded]') from error
    b = _Builder()
    values: dict[str, str] = {}
    last = ''
    with h5py.File(path, 'r') as file:
        stored = file['model_weights']
        layers = json.loads(_text(file.attrs['model_config']))['config']['layers']

        def weights(layer: str) -> dict[str, Any]:
            names = [_text(name) for name in stored[layer].attrs['weight_names']]
            return {name.split('/')[-1].split(':')[0]: np.array(stored[layer][name]) for name in names}

        for layer in layers:
            name, config = layer['name'], layer['config']
            inputs = [values[source[0]] for source in layer['inbound_nodes'][0]] if layer['inbound_nodes'] else []
            padding = 'SAME_UPPER' if config.get('padding') == 'same' else 'VALID'
            match layer['class_name']:
                case 'InputLayer':
                    last = 'input'
                case 'Conv2D':
                    w = weights(name)
                    last = b.convolution(inputs[0], w['kernel'], w.get('bias'), config['strides'][0], padding)
                case 'SeparableConv2D':
                    w = weights(name)
                    each = b.convolution(inputs[0], w['depthwise_kernel'], None, config['strides'][0], padding, True)
                    last = b.convolution(each, w['pointwise_kernel'])
                case 'BatchNormalization':
                    w = weights(name)
                    parts = [b.constant(w[part]) for part in ('gamma', 'beta', 'moving_mean', 'moving_variance')]
                    last = b.add('BatchNormalization', inputs[0], *parts, epsilon=config['epsilon'])
                case 'Activation' if config['activation'] == 'softmax':
                    last = b.add('Softmax', inputs[0], axis=1)
                case 'Activation':
                    last = b.add('Relu', inputs[0])
                case 'MaxPooling2D':
                    last = b.add('MaxPool', inputs[0], kernel_shape=config['pool_size'], strides=config['strides'],
                                 auto_pad=padding)
                case 'Add':
                    last = b.add('Add', *inputs)
                case 'GlobalAveragePooling2D':
                    last = b.add('Flatten', b.add('GlobalAveragePool', inputs[0]), axis=1)
                case other:
                    raise Missing(f'{path} has a layer {other} this version does not know; fetch it again with: '
                                  'emavatar models pull mini-xception')
            values[name] = last
    return b.graph((1, _GREY), last)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
