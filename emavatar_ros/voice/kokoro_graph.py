"""Kokoro's ONNX graph with a director's chair: inputs for melody and timing, and the times of its phonemes.

The published graph takes tokens, a style and one speed, and gives only sound. Inside it are the predicted length of
each token, the F0 curve and the energy curve; this file adds inputs that act on them and outputs that show them:

    f0_scale [1]    ratio to the F0 curve; 1 leaves it
    f0_range [1]    ratio to its spread about the mean of its voiced part; 1 leaves it
    energy [1]      added to the energy curve (weak: levels are set on the sound instead); 0 leaves it
    dur_scale [1,T] ratio to each token's length, before rounding to steps; 1 leaves it
    quiet [1,T]     1 for the tokens at the end in whose steps nothing is heard, else 0
    durations [1,T] steps per token, pads included; a step is 600 samples, 25 ms: their sum x 600 is the sound's length
    f0 [1,1,n]      the F0 curve used, Hz, two values a step, 0 to 10 where unvoiced
    kept [2]        first step that was made into sound, and the one after the last

A third of a short clause's steps are silence, as dear to make as speech: all but LEAD steps before it and TAIL behind
it are cut out between the half that plans and the half that makes the sound. (To shorten them as durations costs the
first and the last phoneme; so, 28 clauses of two voices are understood as well as whole ones, and begin and end within
10 ms of them.)

The spread is taken about the mean of this very clause, worked out in the graph: no voice needs a table.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from emavatar_ros.errors import BadInput, Missing

VERSION: Final = 2
"""Raise it when `with_prosody` changes what it makes: files made by another version are left alone and made anew."""
STEP: Final = 600
"""Samples of sound in one step of a duration."""
LEAD: Final = 6
"""Steps of the first pad that are made into sound: the first phoneme begins in the last two."""
TAIL: Final = 5
"""Steps behind the last phoneme that are made into sound: it rings on."""
_F0: Final = '/encoder/F0_proj/Conv_output_0'
_ENERGY: Final = '/encoder/N_proj/Conv_output_0'
_LENGTH: Final = '/encoder/Div_output_0'
_STEPS: Final = '/encoder/Clip_output_0'
_PLANNED: Final = (('/encoder/MatMul_1_output_0', 2, 1),
                   ('/encoder/Reshape_output_0', 1, 2), ('/encoder/Reshape_1_output_0', 1, 2))
"""What the planning half hands over: tensor, its axis of time, and its values a step."""


def with_prosody(model: Any) -> Any:
    """Add the inputs and outputs to a loaded Kokoro v1.0 graph (onnx.ModelProto), in place, and return it.

    Raises BadInput when it is another graph (a tensor is not where it should be).
    """
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    graph = model.graph
    made = {output for node in graph.node for output in node.output}
    for tensor in (_F0, _ENERGY, _LENGTH, _STEPS, *(planned[0] for planned in _PLANNED)):
        if tensor not in made:
            raise BadInput(f'this is no Kokoro v1.0 graph: it has no tensor {tensor}')

    def number(name: str, value: float) -> str:
        graph.initializer.append(numpy_helper.from_array(np.array([value], np.float32), name))
        return name

    def behind(tensor: str, replacement: str, nodes: list[Any]) -> None:
        """Let all who read `tensor` read `replacement`, which `nodes` make out of it."""
        for node in graph.node:
            for k, name in enumerate(node.input):
                if name == tensor:
                    node.input[k] = replacement
        place = next(k for k, node in enumerate(graph.node) if tensor in node.output)
        kept = list(graph.node)
        del graph.node[:]
        graph.node.extend([*kept[:place + 1], *nodes, *kept[place + 1:]])

    def op(kind: str, inputs: list[str], output: str, **attributes: Any) -> Any:
        return helper.make_node(kind, inputs, [output], **attributes)

    behind(_F0, 'prosody_f0', [
        op('Greater', [_F0, number('prosody_voiced_hz', 10.0)], 'prosody_is_voiced'),
        op('Cast', ['prosody_is_voiced'], 'prosody_voiced', to=TensorProto.FLOAT),
        op('Mul', [_F0, 'prosody_voiced'], 'prosody_voiced_f0'),
        op('ReduceSum', ['prosody_voiced_f0'], 'prosody_sum', keepdims=0),
        op('ReduceSum', ['prosody_voiced'], 'prosody_count', keepdims=0),
        op('Max', ['prosody_count', number('prosody_one', 1.0)], 'prosody_some'),
        op('Div', ['prosody_sum', 'prosody_some'], 'prosody_mean'),
        op('Sub', [_F0, 'prosody_mean'], 'prosody_off'),
        op('Mul', ['prosody_off', 'f0_range'], 'prosody_spread'),
        op('Add', ['prosody_spread', 'prosody_mean'], 'prosody_spread_f0'),
        op('Mul', ['prosody_mean', number('prosody_half', 0.5)], 'prosody_floor'),
        op('Max', ['prosody_spread_f0', 'prosody_floor'], 'prosody_kept_f0'),
        op('Mul', ['prosody_kept_f0', 'f0_scale'], 'prosody_scaled_f0'),
        op('Where', ['prosody_is_voiced', 'prosody_scaled_f0', _F0], 'prosody_f0')])
    behind(_ENERGY, 'prosody_energy', [op('Add', [_ENERGY, 'energy'], 'prosody_energy')])
    behind(_LENGTH, 'prosody_length', [op('Mul', [_LENGTH, 'dur_scale'], 'prosody_length')])
    def whole(name: str, value: int) -> str:
        graph.initializer.append(numpy_helper.from_array(np.array([value], np.int64), name))
        return name

    nothing = number('silence_none', 0.0)
    first, second = whole('silence_first', 0), whole('silence_second', 1)
    cut = [
        op('Cast', [_STEPS], 'silence_steps', to=TensorProto.FLOAT),
        op('ReduceSum', ['silence_steps'], 'silence_total', keepdims=0),
        op('Slice', ['silence_steps', first, second, second], 'silence_pad'),
        op('ReduceSum', ['silence_pad'], 'silence_before', keepdims=0),
        op('Sub', ['silence_before', number('silence_lead', LEAD)], 'silence_spare_before'),
        op('Max', ['silence_spare_before', nothing], 'silence_start'),
        op('Mul', ['silence_steps', 'quiet'], 'silence_at_end'),
        op('ReduceSum', ['silence_at_end'], 'silence_behind', keepdims=0),
        op('Sub', ['silence_behind', number('silence_tail', TAIL)], 'silence_spare_behind'),
        op('Max', ['silence_spare_behind', nothing], 'silence_end'),
        op('Sub', ['silence_total', 'silence_end'], 'silence_stop'),
        op('Concat', ['silence_start', 'silence_stop'], 'silence_kept', axis=0),
        op('Cast', ['silence_kept'], 'kept', to=TensorProto.INT64),
        op('Slice', ['kept', first, second, first], 'kept_from'),
        op('Slice', ['kept', second, whole('silence_third', 2), first], 'kept_to')]
    place = next(k for k, node in enumerate(graph.node) if _STEPS in node.output)
    kept = list(graph.node)
    del graph.node[:]
    graph.node.extend([*kept[:place + 1], *cut, *kept[place + 1:]])
    for k, (tensor, axis, values) in enumerate(_PLANNED):
        times, along = whole(f'silence_values_{k}', values), whole(f'silence_axis_{k}', axis)
        behind(tensor, f'kept_{k}', [op('Mul', ['kept_from', times], f'kept_from_{k}'),
                                     op('Mul', ['kept_to', times], f'kept_to_{k}'),
                                     op('Slice', [tensor, f'kept_from_{k}', f'kept_to_{k}', along], f'kept_{k}')])
    for name, shape in (('f0_scale', [1]), ('f0_range', [1]), ('energy', [1]), ('dur_scale', [1, 'sequence_length']),
                        ('quiet', [1, 'sequence_length'])):
        graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    for tensor, name in ((_STEPS, 'durations'), ('prosody_f0', 'f0')):
        graph.node.append(op('Identity', [tensor], name))
        graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    graph.output.append(helper.make_tensor_value_info('kept', TensorProto.INT64, None))
    del graph.value_info[:]
    return model


def session(path: Path, threads: int) -> Any:
    """An onnxruntime session of the Kokoro file with the inputs and outputs above, on `threads` CPU threads.

    The changed and optimised graph is kept beside the model, named by this file's VERSION, onnxruntime's version and
    the model's size and digest: opening it takes 0.6 s of processor time where the whole way takes 3 s. Where that
    folder can't be written, it is made anew each time. Raises Missing without onnxruntime or onnx.
    """
    try:
        import onnxruntime
    except ImportError:
        raise Missing('the Kokoro voice needs onnxruntime; install it with: pip install "emavatar_ros[embedded]"'
                      ) from None
    data = path.read_bytes()
    key = hashlib.sha256(data).hexdigest()[:12]
    kept = path.with_name(f'{path.stem}.prosody{VERSION}-ort{onnxruntime.__version__}-{key}.onnx')
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Threads that spin while they wait take the face's processor time.
    options.add_session_config_entry('session.intra_op.allow_spinning', '0')
    options.log_severity_level = 3
    levels = onnxruntime.GraphOptimizationLevel
    if kept.exists():
        options.graph_optimization_level = levels.ORT_DISABLE_ALL
        try:
            return onnxruntime.InferenceSession(str(kept), options, providers=['CPUExecutionProvider'])
        except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
            kept.unlink(missing_ok=True)  # damaged: make it anew
        except onnxruntime.capi.onnxruntime_pybind11_state.InvalidProtobuf:
            kept.unlink(missing_ok=True)
    try:
        import onnx
    except ImportError:
        raise Missing('the Kokoro voice needs onnx; install it with: pip install "emavatar_ros[embedded]"') from None
    changed = with_prosody(onnx.load_from_string(data)).SerializeToString()
    options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED
    if os.access(path.parent, os.W_OK):
        with tempfile.TemporaryDirectory(dir=path.parent, prefix='.prosody-') as folder:
            made = Path(folder) / 'graph.onnx'
            options.optimized_model_filepath = str(made)
            opened = onnxruntime.InferenceSession(changed, options, providers=['CPUExecutionProvider'])
            os.replace(made, kept)
            return opened
    return onnxruntime.InferenceSession(changed, options, providers=['CPUExecutionProvider'])


class Stopped(Exception):
    """A run was ended by its options' `terminate`."""


def run(session: Any, given: dict[str, Any], options: Any) -> tuple[Any, Any, Any]:
    """audio, durations and f0 of one run, the audio as long as the durations say: what was not made is silence. Raises
    Stopped when `options.terminate` was set meanwhile."""
    import numpy as np
    from onnxruntime.capi.onnxruntime_pybind11_state import Fail, RuntimeException

    try:
        audio, durations, f0, kept = session.run(['audio', 'durations', 'f0', 'kept'], given, options)
    except (Fail, RuntimeException):
        if options.terminate:
            raise Stopped from None
        raise
    steps = int(durations.sum())
    return np.pad(audio.ravel(), (int(kept[0]) * STEP, (steps - int(kept[1])) * STEP)), durations, f0


def run_options() -> Any:
    """Options of one run; setting `terminate` on them from another thread ends it."""
    import onnxruntime

    return onnxruntime.RunOptions()
