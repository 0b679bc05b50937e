"""What a face's expression looks like to DeepFace's emotion network.

Model: DeepFace's facial_expression_model (MIT; 1.5 million parameters, 6 MB; a small convolutional network on 48 px
grey pictures, trained on FER-2013). Hardware: a few milliseconds of one core a face. Extra: deepface; of its three
engines onnxruntime is enough, TensorFlow and PyTorch are chosen by `engine`.

Faces come cut and level from crop.py: DeepFace's own detection is skipped, and a face goes to the network as `analyze`
prepares it. The network doesn't know contempt. Its weights are never downloaded behind anybody's back: where they are
missing, the message names the command. Real loading code is tested with random weights; the published ones were not run
by us.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.emotion.mappings import DEEPFACE
from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.settings import setting

NAME: Final = 'deepface'
FILES: Final = {engine: f'facial_expression_model_weights.{kind}'
                for engine, kind in (('onnx', 'onnx'), ('pytorch', 'pth'), ('tensorflow', 'h5'))}
_SOURCE: Final = 'https://github.com/serengil/deepface_models/releases/download/v1.0/'
_SIDE = 224
_LEAST: Final = 1e-4
"""A network's zero is not taken as proof: this is the least probability it can give."""


@dataclass(frozen=True)
class Config:
    """Settings of DeepFace."""

    engine: str = setting('onnx', 'what computes; one for all of a process', choices=tuple(FILES))


class DeepFace:
    """The network, loaded. Not for two threads at once."""

    name = NAME

    def __init__(self, config: Config) -> None:
        """Load from DeepFace's own folder (`DEEPFACE_HOME`, else the home folder); raises Missing."""
        try:
            # DeepFace reads the engine once, at the first model that it makes in a process.
            os.environ['DEEPFACE_BACKEND_ENGINE'] = config.engine
            from deepface.modules import modeling
        except (ImportError, ValueError) as error:
            raise Missing(f"the deepface backend needs {getattr(error, 'name', None) or error}: "
                          "pip install 'emavatar-ros[deepface]'") from None
        file = Path(os.environ.get('DEEPFACE_HOME') or Path.home()) / '.deepface' / 'weights' / FILES[config.engine]
        if not file.is_file():
            raise Missing(f"{file} is not there; fetch it with: curl -fL --create-dirs --max-time 600 -o '{file}' "
                          f'{_SOURCE}{file.name}')
        try:
            self._client: Any = modeling.build_model(task='facial_attribute', model_name='Emotion')
        except ImportError as error:
            raise Missing(f'DeepFace cannot use its engine {config.engine}: {error}') from None
        except (ValueError, OSError, RuntimeError) as error:
            raise BadInput(f'{file} cannot be loaded, fetch it again: {" ".join(str(error).split())[:200]}') from None

    def scores(self, faces: Sequence[NDArray[np.uint8]]) -> NDArray[np.float64]:
        """Log-probabilities float64 [n, 8] of faces from `crop.cut`; contempt is minus infinity."""
        rows = np.full((len(faces), len(LABELS)), -np.inf)
        if len(faces):
            prepared = [cv2.resize(face[..., ::-1], (_SIDE, _SIDE)).astype(np.float32) / 255 for face in faces]
            # Of one picture it gives one row without an axis for pictures.
            found = np.reshape(self._client.predict(prepared), (len(faces), len(DEEPFACE)))
            rows[:, [LABELS.index(label) for label in DEEPFACE]] = np.log(np.maximum(found, _LEAST))
        return rows


def create(config: Config | None = None) -> DeepFace:
    """DeepFace's network; raises Missing, saying how to get what is not there."""
    return DeepFace(config or Config())
