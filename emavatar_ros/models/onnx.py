"""Sessions that run ONNX networks: one place that chooses processor, threads and TensorRT's engine cache.

The classic failure is silent: onnxruntime goes back to the CPU when a GPU provider can't load. Here a provider
that was asked for by name is what runs, or Missing says why not; with 'auto' a fall back is logged. Threads don't
spin while they wait: on a machine that also renders and plays sound, spinning threads steal what the others need.

TensorRT builds an engine from the network, which takes minutes, and keeps it. An engine is good only for the same
network, GPU, compute capability, TensorRT and driver: all of them make the name of its cache folder.
The CUDA and TensorRT paths were written against the documented options and have not been run on a GPU.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import logging
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from emavatar_ros.errors import BadInput, Missing

PROVIDERS: Final = {
    'cpu': 'CPUExecutionProvider',
    'cuda': 'CUDAExecutionProvider',
    'tensorrt': 'TensorrtExecutionProvider',
}
CHOICES: Final = ('auto', *PROVIDERS)

_log = logging.getLogger(__name__)


def session(model: Path | str | bytes, providers: str = 'auto', threads: int = 1, *, half: bool = False,
            exclude_ops: Sequence[str] = (), cache: Path | None = None) -> Any:
    """An onnxruntime.InferenceSession of a network given as a file or as its bytes.

    `providers`: 'cpu', 'cuda' or 'tensorrt' must run and nothing else; 'auto' takes CUDA where it loads, else the
    CPU. `threads` run one operator, at least 1. For TensorRT: `half` allows 16-bit floats, `exclude_ops` stay with
    CUDA (GridSample of 5-D tensors has no TensorRT form), `cache` is the folder of its engines (default: in the
    model store's).
    Raises BadInput for an unknown provider or a network that can't be read, Missing when the package, the file or
    the provider is not there.
    """
    if providers not in CHOICES:
        raise BadInput(f'providers must be one of {", ".join(CHOICES)}, not {providers!r}')
    if threads < 1:
        raise BadInput(f'threads must be at least 1, not {threads}')
    if not isinstance(model, bytes) and not Path(model).is_file():
        raise Missing(f'the network {model} is not there: run "emavatar models pull"')
    ort = _runtime()
    built = available()
    wanted = providers
    if providers == 'auto':
        wanted = 'cuda' if PROVIDERS['cuda'] in built else 'cpu'
    elif PROVIDERS[providers] not in built:
        raise Missing(f'this onnxruntime has no {PROVIDERS[providers]}, only {", ".join(built)}: '
                      "install 'emavatar-ros[gpu]' in place of onnxruntime, or on a Jetson NVIDIA's own build")
    if wanted != 'cpu':
        _load_libraries(ort, wanted)
    made = _make(ort, model, threads, _chain(wanted, model, half, exclude_ops, cache))
    first = made.get_providers()[0]
    if first != PROVIDERS[wanted]:
        reason = f'{PROVIDERS[wanted]} did not load (driver, CUDA or cuDNN missing?); {first} would run instead'
        if providers != 'auto':
            raise Missing(f'{reason}: run "emavatar doctor", or choose cpu')
        _log.warning('%s', reason.replace('would run', 'runs'))
    return made


def available() -> list[str]:
    """The providers this onnxruntime was built with; [] without onnxruntime. Being built with one doesn't mean that
    it loads."""
    try:
        return list(_runtime().get_available_providers())
    except Missing:
        return []


def _runtime() -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise Missing(f"onnxruntime can not be imported ({error}): pip install 'emavatar-ros[embedded]'") from None
    return onnxruntime


def _make(ort: Any, model: Path | str | bytes, threads: int, chain: list[Any]) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors; its warnings about unused initialisers tell a user nothing
    options.add_session_config_entry('session.intra_op.allow_spinning', '0')
    options.add_session_config_entry('session.inter_op.allow_spinning', '0')
    state = ort.capi.onnxruntime_pybind11_state
    try:
        return ort.InferenceSession(model if isinstance(model, bytes) else str(model), options, providers=chain)
    except (state.InvalidProtobuf, state.InvalidGraph, state.InvalidArgument, state.NoSuchFile, state.Fail,
            state.NotImplemented) as error:
        what = 'the network given as bytes' if isinstance(model, bytes) else str(model)
        raise BadInput(f'onnxruntime can not read {what}: {str(error).splitlines()[0]}') from None


def _chain(wanted: str, model: Path | str | bytes, half: bool, exclude_ops: Sequence[str],
           cache: Path | None) -> list[Any]:
    """onnxruntime's list of providers with their options, the one wanted first."""
    cpu, cuda = PROVIDERS['cpu'], (PROVIDERS['cuda'], {'cudnn_conv_algo_search': 'HEURISTIC'})
    if wanted == 'cpu':
        return [cpu]
    if wanted == 'cuda':
        return [cuda, cpu]
    folder = _engines(cache) / engine_key(model, half)
    folder.mkdir(parents=True, exist_ok=True)
    options = {
        'trt_engine_cache_enable': True, 'trt_engine_cache_path': str(folder),
        'trt_timing_cache_enable': True, 'trt_timing_cache_path': str(folder), 'trt_fp16_enable': half,
    }
    if exclude_ops:
        options['trt_op_types_to_exclude'] = ','.join(exclude_ops)
    return [(PROVIDERS['tensorrt'], options), cuda, cpu]


def _engines(cache: Path | None) -> Path:
    from emavatar_ros.models.store import default_root

    return cache or default_root() / '.engines'


def engine_key(model: Path | str | bytes, half: bool = False) -> str:
    """Name of the folder of a network's TensorRT engines: its sha256, the GPU, the driver and TensorRT."""
    digest = hashlib.sha256()
    if isinstance(model, bytes):
        digest.update(model)
    else:
        with open(model, 'rb') as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    network = digest.hexdigest()
    machine = '|'.join([_gpu(), _tensorrt_version(), 'half' if half else 'full'])
    return f'{network[:16]}-{hashlib.sha256(machine.encode()).hexdigest()[:16]}'


def _gpu() -> str:
    """GPU name, compute capability and driver; on a Jetson its board and L4T release."""
    if shutil.which('nvidia-smi'):
        try:
            query = ['nvidia-smi', '--query-gpu=name,compute_cap,driver_version', '--format=csv,noheader']
            return subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
        except (OSError, subprocess.SubprocessError) as error:
            _log.warning('nvidia-smi does not answer: %s', error)
    board = [Path('/proc/device-tree/model'), Path('/etc/nv_tegra_release')]
    return '|'.join(path.read_text(errors='replace').strip('\0\n ') for path in board if path.is_file()) or 'unknown'


def _tensorrt_version() -> str:
    for name in _tensorrt_libraries():
        try:
            return str(ctypes.CDLL(name).getInferLibVersion())
        except (OSError, AttributeError):
            continue
    return 'unknown'


def _tensorrt_libraries() -> list[str]:
    """libnvinfer where it may be: in the wheel `tensorrt_cu13_libs`, or on the loader's path (JetPack)."""
    found = []
    spec = importlib.util.find_spec('tensorrt_libs')
    for folder in (spec.submodule_search_locations or []) if spec else []:
        found += [str(path) for path in sorted(Path(folder).glob('libnvinfer.so.*'))]
    return [*found, 'libnvinfer.so.10']


def _load_libraries(ort: Any, wanted: str) -> None:
    """Load CUDA, cuDNN and TensorRT from their wheels first: no loader path names the folders they are in."""
    if hasattr(ort, 'preload_dlls'):
        ort.preload_dlls()
    if wanted == 'tensorrt':
        for name in _tensorrt_libraries():
            try:
                ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
                return
            except OSError as error:
                _log.info('%s does not load: %s', name, error)
