"""What a sentence means, as numbers: MiniLM's sentence embedding on the CPU.

Model: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0, 91 MB, 6 layers, 384 wide). The graph is built in memory
from the publisher's `model.safetensors` and run by onnxruntime on one thread, which leaves the other cores to sound
and pictures. Besides the usual mean over the last layer it gives the means of the inner layers, which know more
about tone than the last one does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import Missing
from emavatar_ros.models.onnx import session

LAYERS: Final = 6
WIDTH: Final = 384
HEADS: Final = 12
LONGEST: Final = 128
"""Tokens read of one text; the rest is cut."""

Array = NDArray[np.float32]


class Embedding:
    """MiniLM from the folder the model store gives; one thread, safe to call from one thread at a time."""

    def __init__(self, folder: Path) -> None:
        """Load `model.safetensors` and `tokenizer.json` from `folder`; raises Missing when something is not there."""
        weights, vocabulary = folder / 'model.safetensors', folder / 'tokenizer.json'
        for path in (weights, vocabulary):
            if not path.is_file():
                raise Missing(f'{path} is not there; fetch it with: emavatar models pull minilm')
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer
        except ImportError as error:
            raise Missing(f'reading words needs {error.name}; install it with: '
                          'pip install emavatar_ros[embedded]') from error
        self._tokenizer = Tokenizer.from_file(str(vocabulary))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)
        self._session = session(_graph(load_file(str(weights))), 'cpu', 1)

    def tokens(self, text: str) -> list[int]:
        """Token ids of one text, [CLS] and [SEP] included, at most LONGEST."""
        return list(self._tokenizer.encode(text).ids)

    def words(self, text: str) -> list[tuple[int, str]]:
        """The words that are one token, each with its id and as written; rarer words, in several, and the halves of
        "don't" are left out."""
        encoded = self._tokenizer.encode(text)
        pieces = Counter(at for at in encoded.word_ids if at is not None)
        return [(token, text[start:end]) for token, at, (start, end)
                in zip(encoded.ids, encoded.word_ids, encoded.offsets, strict=True)
                if at is not None and pieces[at] == 1 and text[start:end].isalpha()
                and "'" not in text[max(start - 1, 0):end + 1]]

    def layers(self, texts: Sequence[str]) -> Array:
        """Means over the tokens, float32 [texts, 7, 384]: the input layer, then the six layers' outputs."""
        rows = [self.tokens(text) for text in texts]
        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.float32)
        for i, row in enumerate(rows):
            ids[i, :len(row)] = row
            mask[i, :len(row)] = 1
        return np.asarray(self._session.run(None, {'ids': ids, 'mask': mask})[0], dtype=np.float32)

    def sentence(self, text: str) -> Array:
        """The usual sentence embedding, float32 [384] of length 1: cosine is a dot product."""
        mean = self.layers([text])[0, -1]
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


class _Builder:
    """Nodes and constants of a growing ONNX graph."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any) -> str:
        from onnx import numpy_helper
        name = f'c{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper
        name = f'x{len(self.nodes)}'
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name


def _graph(loaded: Mapping[str, Any]) -> bytes:
    """The encoder as a serialised ONNX model: ids int64 [n, t], mask float32 [n, t] -> layers float32 [n, 7, 384]."""
    try:
        from onnx import TensorProto, helper
    except ImportError as error:
        raise Missing('reading words needs onnx; install it with: pip install emavatar_ros[embedded]') from error
    w = {name.removeprefix('bert.'): value for name, value in loaded.items()}
    b = _Builder()

    def linear(x: str, name: str) -> str:
        return b.add('Add', b.add('MatMul', x, b.constant(w[name + '.weight'].T)), b.constant(w[name + '.bias']))

    def norm(x: str, name: str) -> str:
        scale, shift = b.constant(w[name + '.weight']), b.constant(w[name + '.bias'])
        return b.add('LayerNormalization', x, scale, shift, epsilon=1e-12)

    one, two = (b.constant(np.array([i], dtype=np.int64)) for i in (1, 2))
    column = b.add('Unsqueeze', 'mask', two)
    count = b.add('ReduceSum', 'mask', one, keepdims=1)

    def mean(x: str) -> str:
        total = b.add('ReduceSum', b.add('Mul', x, column), one, keepdims=0)
        return b.add('Unsqueeze', b.add('Div', total, count), one)

    # A masked token gets minus 10,000 before the softmax, which is nothing after it.
    off = b.add('Mul', b.add('Sub', 'mask', b.constant(np.float32(1))), b.constant(np.float32(1e4)))
    bias = b.add('Unsqueeze', b.add('Unsqueeze', off, one), one)
    split = b.constant(np.array([0, 0, HEADS, WIDTH // HEADS], dtype=np.int64))
    join = b.constant(np.array([0, 0, WIDTH], dtype=np.int64))
    zero = b.constant(np.array([0], dtype=np.int64))
    length = b.add('Slice', b.add('Shape', 'ids'), one, two, zero)
    places = b.add('Slice', b.constant(w['embeddings.position_embeddings.weight']), zero, length, zero)
    x = b.add('Gather', b.constant(w['embeddings.word_embeddings.weight']), 'ids')
    x = b.add('Add', b.add('Add', x, places), b.constant(w['embeddings.token_type_embeddings.weight'][0]))
    x = norm(x, 'embeddings.LayerNorm')
    means = [mean(x)]
    for layer in range(LAYERS):
        p = f'encoder.layer.{layer}.'
        q, k, v = (b.add('Reshape', linear(x, p + 'attention.self.' + part), split)
                   for part in ('query', 'key', 'value'))
        q, v = (b.add('Transpose', part, perm=[0, 2, 1, 3]) for part in (q, v))
        scores = b.add('MatMul', q, b.add('Transpose', k, perm=[0, 2, 3, 1]))
        scores = b.add('Mul', scores, b.constant(np.float32((WIDTH / HEADS) ** -0.5)))
        seen = b.add('MatMul', b.add('Softmax', b.add('Add', scores, bias), axis=-1), v)
        seen = b.add('Reshape', b.add('Transpose', seen, perm=[0, 2, 1, 3]), join)
        x = norm(b.add('Add', linear(seen, p + 'attention.output.dense'), x), p + 'attention.output.LayerNorm')
        inner = b.add('Gelu', linear(x, p + 'intermediate.dense'))
        x = norm(b.add('Add', linear(inner, p + 'output.dense'), x), p + 'output.LayerNorm')
        means.append(mean(x))
    out = b.add('Concat', *means, axis=1)
    graph = helper.make_graph(
        b.nodes, 'minilm',
        [helper.make_tensor_value_info('ids', TensorProto.INT64, ['n', 't']),
         helper.make_tensor_value_info('mask', TensorProto.FLOAT, ['n', 't'])],
        [helper.make_tensor_value_info(out, TensorProto.FLOAT, ['n', LAYERS + 1, WIDTH])], b.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 20)])
    model.ir_version = 9
    return bytes(model.SerializeToString())
