"""How right and how sure of itself the face view is on labelled faces: python tools/measure_face.py DATA.

DATA is a folder with a legend.csv of the columns `image` and `emotion` (English words), in it
or in DATA/data, and the pictures beside it, in DATA or in DATA/images. Each picture is seen alone, so nobody's face at
rest is known. At most `--each` pictures of one emotion are taken, chosen by name, so that the same data give the same
figures. Prints accuracy, balanced accuracy, the expected calibration error, the reliability curve, the confusion and
what could not be read. Nothing is trained or written.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import Counter
from pathlib import Path

import cv2
import numpy as np

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.emotion.mappings import canonical
from emavatar_ros.perception.face.view import create

BINS = 10
EDGE = 0.3
"""Pictures cut close around a face get an empty edge of this share: the detector wants to see around it."""


def chosen(folder: Path, each: int) -> list[tuple[Path, str]]:
    """Pictures and labels, at most `each` of a label."""
    legend = next((path for path in (folder / 'legend.csv', folder / 'data' / 'legend.csv') if path.is_file()), None)
    if legend is None:
        raise SystemExit(f'{folder} has no legend.csv')
    found: dict[str, dict[str, Path]] = {label: {} for label in LABELS}
    with legend.open(newline='', encoding='utf-8') as file:
        for row in csv.DictReader(file):
            label = canonical(row['emotion'])
            path = folder / 'images' / row['image']
            if label is not None:
                found[label][row['image']] = path if path.is_file() else folder / row['image']
    return [(files[name], label) for label, files in found.items()
            for name in sorted(files, key=lambda name: hashlib.sha256(name.encode()).digest())[:each]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('data', type=Path)
    parser.add_argument('--each', type=int, default=300, help='pictures of one emotion at most')
    options = parser.parse_args()
    view = create()
    truth, read, reasons = [], [], Counter[str]()
    for path, label in chosen(options.data, options.each):
        picture = cv2.imread(str(path))
        if picture is None:
            reasons['not a picture'] += 1
            continue
        edge = round(EDGE * max(picture.shape[:2]))
        rgb = cv2.cvtColor(cv2.copyMakeBorder(picture, edge, edge, edge, edge, cv2.BORDER_CONSTANT,
                                              value=(128, 128, 128)), cv2.COLOR_BGR2RGB)
        view.forget()
        faces = view.see(rgb, 0.0)
        if not faces or faces[0].distribution is None:
            reasons[faces[0].reason.split(' (')[0] if faces else 'no face was found'] += 1
            continue
        truth.append(LABELS.index(label))
        read.append(faces[0].distribution.array)
    report(np.array(truth), np.array(read), reasons)


def report(truth: np.ndarray, read: np.ndarray, reasons: Counter[str]) -> None:
    """Print all figures; truth: [n] indices into LABELS, read: [n, 8] distributions."""
    said, sure = read.argmax(axis=1), read.max(axis=1)
    right = said == truth
    recall = {k: float(right[truth == k].mean()) for k in range(len(LABELS)) if (truth == k).any()}
    print(f'{len(truth)} faces read: accuracy {right.mean():.3f}, balanced {np.mean(list(recall.values())):.3f} '
          f'over {len(recall)} emotions')
    for reason, count in reasons.most_common():
        print(f'  not read: {count:4}  {reason}')
    error = 0.0
    print('confidence  right  faces')
    for low in np.arange(BINS) / BINS:
        mine = (sure > low) & (sure <= low + 1 / BINS)
        if mine.any():
            error += mine.mean() * abs(sure[mine].mean() - right[mine].mean())
            print(f'{sure[mine].mean():10.2f} {right[mine].mean():6.2f} {mine.sum():6}')
    print(f'expected calibration error {error:.3f}')
    print('truth \\ read'.ljust(12) + ''.join(label[:9].rjust(10) for label in LABELS) + '    recall')
    for k, share in recall.items():
        row = np.bincount(said[truth == k], minlength=len(LABELS))
        print(LABELS[k].ljust(12) + ''.join(f'{count:10}' for count in row) + f'{share:10.2f}')


if __name__ == '__main__':
    main()
