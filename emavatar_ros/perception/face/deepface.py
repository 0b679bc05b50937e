"""What a face's expression looks like to DeepFace's emotion network.

Model: DeepFace's facial_expression_model (MIT; 1.5 million parameters, 6 MB; a small convolutional network on 48 px
grey pictures, trained on FER-2013). Hardware: a few milliseconds of one core a face. Extra: deepface, run by its engine
onnxruntime: TensorFlow is not needed. It brings a second OpenCV (opencv-contrib-python-headless): `emavatar doctor`
says how to keep one.

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

NAME: Final = 'deepface'
FILE: Final = 'facial_expression_model_weights.onnx'
_SOURCE: Final = f'https://github.com/serengil/deepface_models/releases/download/v1.0/{FILE}'
_SIDE = 224
_LEAST: Final = 1e-4
"""A network's zero is not taken as proof: this is the least probability it can give."""


@dataclass(frozen=True)
class Config:
    """Nothing to set."""


class DeepFace:
    """The network, loaded. Not for two threads at once."""

    name = NAME

    def __init__(self) -> None:
        """Load from DeepFace's own folder (`DEEPFACE_HOME`, else the home folder); raises Missing."""
        # Read once, at the first model of a process; else it takes TensorFlow or PyTorch where they are installed.
        os.environ['DEEPFACE_BACKEND_ENGINE'] = 'onnx'
        try:
            from deepface.modules import modeling
        except ImportError as error:
            raise Missing(f"the deepface backend needs {error.name}: pip install 'emavatar-ros[deepface]'") from None
        file = Path(os.environ.get('DEEPFACE_HOME') or Path.home()) / '.deepface' / 'weights' / FILE
        if not file.is_file():
            raise Missing(f"{file} is not there; fetch it with: curl -fL --create-dirs --max-time 600 -o '{file}' "
                          f'{_SOURCE}')
        try:
            self._client: Any = modeling.build_model(task='facial_attribute', model_name='Emotion')
        except (ImportError, ValueError, OSError, RuntimeError) as error:
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
    return DeepFace()
