"""Train the classifier that hears danger in words beyond the patterns.

    python tools/train_care.py --data FOLDER [--cache FILE.npz] [--out emavatar_ros/planning/data/danger_head.npz]

FOLDER holds GoEmotions (CC BY 4.0, Google Research) as train.tsv, dev.tsv and test.tsv: comments that are almost never
about danger, the negatives. The positives, and negatives that sound like them, are care_seeds.tsv, written for this
project apart from the sentences in test/data/care. Features are the means of MiniLM's last four layers;
`--cache` takes the file that train_words.py makes. One linear layer, eight classes (kind and about) beside none,
logistic regression, the same weights every time. Comments in which the patterns find danger are not learned from: some
are.

Each language has a threshold, the lowest that lets at most SHARE of the dev comments (English) through and no more than
TEMPTED of the seeds' negatives in that language when each fifth of the seeds is judged by weights learned from the
others. Those negatives are the hardest that we could think of. Nor may more than ORDINARY of the planner bench's lines
pass: what visitors with a feeling but in no danger say. Prints recall over those fifths.

Needs scikit-learn besides the package. About five minutes of one core without the cache, two with it.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm

from emavatar_ros.evaluation.bench_planner import inputs
from emavatar_ros.language import guess
from emavatar_ros.models.store import Store
from emavatar_ros.perception.words.embedding import Embedding
from emavatar_ros.planning import danger
from emavatar_ros.planning.danger_head import CLASSES, FILE, LAYERS
from emavatar_ros.planning.texts import LANGUAGES

HERE = Path(__file__).parent
SHARE = 0.002
"""Share of comments that the classifier may take for danger."""
TEMPTED = 0.06
"""The same of the seeds' negatives."""
ORDINARY = 0.01
"""The same of the planner bench's lines: somebody whose grandfather died needs no help line."""
FEWER = 10
"""Every tenth comment is learned from: more teach nothing new."""
WEIGHT = 5.0
"""What a seed counts for, a comment for one: there are hundreds against thousands."""
FIFTHS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--data', type=Path, required=True, help='folder with GoEmotions: train.tsv, dev.tsv, test.tsv')
    parser.add_argument('--cache', type=Path, help='features of the comments, made by train_words.py')
    parser.add_argument('--out', type=Path, default=FILE)
    told = parser.parse_args()
    embedding = Embedding(Store().path('minilm'))
    seeds = [line.split('\t') for line in (HERE / 'care_seeds.tsv').read_text(encoding='utf-8').splitlines()[1:]]
    labels = np.array([CLASSES.index(label) for label, _ in seeds])
    own = features(embedding, [text for _, text in seeds])
    language = np.array([guess(text, 'en') for _, text in seeds])
    harmless = np.array([danger.harmless(text) for _, text in seeds])
    train, dev = (comments(embedding, told.data, part, told.cache) for part in ('train', 'dev'))
    mean, scale = train.mean(axis=0), 1 / (train.std(axis=0) + 1e-6)
    train, dev, own = ((x - mean) * scale for x in (train, dev, own))
    fifth = np.array([zlib.crc32(text.encode()) % FIFTHS for _, text in seeds])
    judged = np.zeros(len(own))
    for held in tqdm(range(FIFTHS), desc='held out'):
        w, b = fit(train, own[fifth != held], labels[fifth != held])
        judged[fifth == held] = alarm(own[fifth == held], w, b)
    w, b = fit(train, own, labels)
    none = labels == 0
    judged[harmless] = 0  # never asked about
    said = {spoken: (features(embedding, [line.text for line in inputs() if line.language == spoken]) - mean) * scale
            for spoken in LANGUAGES}
    thresholds = [max(np.quantile(alarm(said[spoken], w, b), 1 - ORDINARY),
                      np.quantile(alarm(dev, w, b), 1 - SHARE) if spoken == 'en' else 0.5,
                      np.quantile(judged[none & (language == spoken)], 1 - TEMPTED)) for spoken in LANGUAGES]
    limit = dict(zip(LANGUAGES, thresholds, strict=True))
    found = judged > np.array([limit.get(spoken, 1.0) for spoken in language])
    plainly = np.array([danger.find(text) is not None for _, text in seeds])
    both = found | plainly
    told.out.parent.mkdir(exist_ok=True)
    np.savez_compressed(told.out, weights=(w * scale[:, None]).astype(np.float16),
                        bias=(b - (mean * scale) @ w).astype(np.float32), thresholds=np.array(thresholds, np.float32))
    print(f'thresholds {np.round(thresholds, 3)}, {told.out.stat().st_size / 1000:.0f} kB')
    for spoken in LANGUAGES:
        for name, kept in (('of danger, each fifth held out in turn', ~none), ('that sound like it', none)):
            rows = kept & (language == spoken)
            print(f'{spoken}: {rows.sum()} seeds {name}: patterns {plainly[rows].mean():.3f}, '
                  f'classifier {found[rows].mean():.3f}, either {both[rows].mean():.3f}')


def features(embedding: Embedding, texts: list[str]) -> NDArray[np.float32]:
    """MiniLM's means of each text, float32 [n, 4 * 384]."""
    return np.concatenate([embedding.layers([text])[:, LAYERS].reshape(1, -1) for text in tqdm(texts, desc='MiniLM')])


def comments(embedding: Embedding, folder: Path, part: str, cache: Path | None) -> NDArray[np.float32]:
    """Features of the comments in which the patterns find no danger."""
    told = [line.split('\t')[0] for line in (folder / f'{part}.tsv').read_text(encoding='utf-8').splitlines()]
    step = FEWER if part == 'train' else 1
    rows = np.array([at % step == 0 and danger.find(text) is None
                     for at, text in enumerate(tqdm(told, desc=f'patterns, {part}'))])
    if cache is not None:
        with np.load(cache) as stored:
            layers = stored[part][rows].reshape(-1, 7, 384)[:, LAYERS]
            return np.asarray(layers.reshape(rows.sum(), -1), dtype=np.float32)
    return features(embedding, [text for text, kept in zip(told, rows, strict=True) if kept])


def fit(train: NDArray[np.float32], own: NDArray[np.float32], labels: NDArray[np.int_]) -> tuple[
        NDArray[np.float64], NDArray[np.float64]]:
    """Weights [features, classes] and bias [classes]; the comments count as class 0."""
    x = np.concatenate((train, own))
    y = np.concatenate((np.zeros(len(train), int), labels))
    weight = np.concatenate((np.ones(len(train)), np.full(len(own), WEIGHT)))
    model = LogisticRegression(C=1e-3, max_iter=300).fit(x, y, weight)
    return model.coef_.T, model.intercept_


def alarm(x: NDArray[np.float32], w: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely each text is about danger."""
    z = x @ w + b
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(1 - p[:, 0] / p.sum(axis=1))


if __name__ == '__main__':
    main()
