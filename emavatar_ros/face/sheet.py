"""One picture of everything a face can show: to look at after any change, and for `emavatar avatar sheet`."""

from __future__ import annotations

import os
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from emavatar_ros import avatars
from emavatar_ros.errors import BadInput
from emavatar_ros.face.expression import expression
from emavatar_ros.face.renderer import Renderer
from emavatar_ros.face.units import FaceState, units
from emavatar_ros.face.visemes import viseme

LABELS = ('neutral', 'happy', 'sad', 'surprised', 'angry', 'fear', 'disgusted', 'contempt')
VISEMES = {'aa': 'ɑ', 'ee': 'i', 'O': 'o', 'FV': 'f', 'PBM': 'm', 'th': 'θ'}
COLUMNS = 5


def states() -> dict[str, FaceState]:
    """The face states of a sheet by their labels."""
    shown = {label: FaceState(expression(label)) for label in LABELS}
    shown['blink'] = FaceState(units(eyeBlink=1.0))
    shown['gaze left'] = FaceState(units(), gaze=(0.40, 0.0))
    shown['gaze right'] = FaceState(units(), gaze=(-0.40, 0.0))
    shown['gaze down'] = FaceState(units(), gaze=(0.0, 0.30))
    shown |= {f'viseme {name}': FaceState(viseme(symbol)) for name, symbol in VISEMES.items()}
    shown['turn left'] = FaceState(expression('happy', 0.4), head=(0.0, 0.0, 0.5))
    shown['turn right'] = FaceState(units(), head=(0.05, 0.08, -0.5))
    return shown


def sheet(avatar: str, out: str | os.PathLike[str], size: int = 480) -> NDArray[np.uint8]:
    """Write the labelled sheet of an avatar (name or folder) as a picture file; `size`: px a side of each face.

    Returns the sheet, RGB uint8 [h, w, 3]. Raises BadInput for an unknown avatar or a file that can't be written.
    """
    tiles = []
    with Renderer(avatars.load(avatar), size, size) as renderer:
        for label, state in states().items():
            renderer.draw(state)
            tile = renderer.read()
            for colour, thick in ((255, 3), (40, 1)):
                cv2.putText(tile, label, (12, size - 14), cv2.FONT_HERSHEY_SIMPLEX, size / 800, (colour,) * 3, thick,
                            cv2.LINE_AA)
            tiles.append(tile)
    tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % COLUMNS)
    rows = [np.hstack(tiles[i:i + COLUMNS]) for i in range(0, len(tiles), COLUMNS)]
    picture: NDArray[np.uint8] = np.vstack(rows)
    path = Path(out)
    try:
        done, data = cv2.imencode(path.suffix or '.png', picture[..., ::-1])
    except cv2.error:
        done = False
    if not done:
        raise BadInput(f'{path} cannot be written: name a .png or .jpg file')
    try:
        path.write_bytes(data.tobytes())
    except OSError as error:
        raise BadInput(f'{path} cannot be written: {error.strerror}') from None
    return picture
