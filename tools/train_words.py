"""Train the words head on GoEmotions and this project's own seed sentences.

    python tools/train_words.py --data FOLDER [--cache FILE.npz] [--out emavatar_ros/perception/data/words_head.npz]

FOLDER holds GoEmotions (CC BY 4.0, Google Research) as train.tsv, dev.tsv, test.tsv, labels.txt and mapping.json (its
28 names to our labels). Features are the token means of MiniLM's input and six layers; the head is one hidden layer
beside a linear one, plus a weight per token, trained by Adam with dropout in numpy. Comments with labels of several
of our emotions teach with an even share of each; the figures are over those of one.

words_seeds.tsv has a line a sentence: label(s), text, and for a short answer the line before it ("avatar: ...").
`good`, `bad` and `plain` label news instead of feelings: what was brought to the one who hears it. A fifth of the
sentences (by a checksum of the text) is held out: never learned from, only measured.

GoEmotions has no contempt: the seed sentences teach it, as a second, two-way decision that takes its share from the
other emotions; a third, three-way decision tells good news from bad. The prior of GoEmotions (half happy, hardly any
fear) is partly taken out, and a temperature makes confidences fit, both chosen on dev. The view as it ships, with
everything it weighs in afterwards, is measured on test; the figures go to the card beside the weights.

Needs scikit-learn besides the package. About 20 minutes of one core for the features (cached), 6 for the rest.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from tqdm import tqdm

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.history import Line
from emavatar_ros.models.store import Store
from emavatar_ros.perception.words.embedding import Embedding
from emavatar_ros.perception.words.minilm import Words, create

HERE = Path(__file__).parent
CONTEMPT = LABELS.index('contempt')
SCORN_INPUTS = 4 * 384
NEWS = ('good', 'bad', 'plain')
SEED_SHARE = 0.08
"""Share of seed sentences in a batch: they are how people talk to a kiosk, GoEmotions is how they comment."""


@dataclass(frozen=True)
class Part:
    """features: float16 [n, 7 * 384]; tokens: ids of each text; targets: float32 [n, 8], rows sum to 1."""

    features: NDArray[np.float16]
    tokens: list[list[int]]
    targets: NDArray[np.float32]

    @property
    def single(self) -> NDArray[np.intp]:
        """Indices of the texts with exactly one emotion."""
        return np.flatnonzero(self.targets.max(axis=1) == 1)


@dataclass(frozen=True)
class Seed:
    """One line of words_seeds.tsv; before: the line before it, None or as "avatar: ..."."""

    labels: tuple[str, ...]
    text: str
    before: str = ''

    @property
    def held(self) -> bool:
        """True for the fifth that nothing is learned from."""
        return zlib.crc32(self.text.encode()) % 5 == 0

    @property
    def news(self) -> int | None:
        """0 good, 1 bad, 2 plain, None for a feeling."""
        return NEWS.index(self.labels[0]) if self.labels[0] in NEWS else None

    @property
    def history(self) -> tuple[Line, ...]:
        """The line before, as the view takes it."""
        role, _, text = self.before.partition(': ')
        return (Line(role, text),) if text else ()


def read_seeds() -> list[Seed]:
    """All of words_seeds.tsv."""
    rows = [line.split('\t') for line in (HERE / 'words_seeds.tsv').read_text().splitlines()]
    return [Seed(tuple(row[0].split(',')), *row[1:]) for row in rows]


def features(embedding: Embedding, texts: list[str], name: str) -> NDArray[np.float16]:
    """Token means of all layers, float16 [n, 2688], in batches of like length."""
    order = np.argsort([len(embedding.tokens(text)) for text in texts], kind='stable')
    out: NDArray[np.float16] | None = None
    for at in tqdm(range(0, len(order), 64), desc=name):
        chosen = order[at:at + 64]
        rows = embedding.layers([texts[i] for i in chosen])
        if out is None:
            out = np.zeros((len(texts), rows[0].size), dtype=np.float16)
        out[chosen] = rows.reshape(len(rows), -1)
    assert out is not None
    return out


def read(data: Path, embedding: Embedding, cache: Path | None) -> dict[str, Part]:
    """train, dev, test and seeds."""
    names = (data / 'labels.txt').read_text().split()
    mapping = json.loads((data / 'mapping.json').read_text())
    texts: dict[str, list[str]] = {}
    labels: dict[str, list[set[str]]] = {}
    for part in ('train', 'dev', 'test'):
        rows = [line.split('\t') for line in (data / f'{part}.tsv').read_text().splitlines()]
        texts[part] = [row[0] for row in rows]
        labels[part] = [{mapping[names[int(i)]] for i in row[1].split(',')} for row in rows]
    seeds = [seed for seed in read_seeds() if seed.news is None and not seed.before and not seed.held]
    texts['seeds'], labels['seeds'] = [seed.text for seed in seeds], [set(seed.labels) for seed in seeds]
    stored = dict(np.load(cache)) if cache and cache.exists() else {}
    parts = {}
    for part, lines in texts.items():
        if part == 'seeds' or part not in stored:
            stored[part] = features(embedding, lines, part)
        targets = np.zeros((len(lines), len(LABELS)), dtype=np.float32)
        for row, found in zip(targets, labels[part], strict=True):
            row[[LABELS.index(label) for label in found]] = 1 / len(found)
        parts[part] = Part(stored[part], [embedding.tokens(text) for text in lines], targets)
    if cache:
        np.savez(cache, **stored)
    return parts


def bags(tokens: list[list[int]], column: dict[int, int]) -> list[NDArray[np.intp]]:
    """The distinct tokens of each text that have a weight, as columns."""
    return [np.array(sorted({column[t] for t in row if t in column}), dtype=np.intp) for row in tokens]


class Head:
    """The head while it learns: float32 parameters and Adam's moments."""

    def __init__(self, inputs: int, hidden: int, tokens: int, rng: np.random.Generator) -> None:
        self.p = {'w1': rng.normal(0, (2 / inputs) ** 0.5, (inputs, hidden)), 'b1': np.zeros(hidden),
                  'w2': rng.normal(0, (1 / hidden) ** 0.5, (hidden, 8)), 'b2': np.zeros(8),
                  'skip': np.zeros((inputs, 8)), 'tokens': np.zeros((tokens, 8))}
        self.p = {name: value.astype(np.float32) for name, value in self.p.items()}
        self.m = {name: np.zeros_like(value) for name, value in self.p.items()}
        self.v = {name: np.zeros_like(value) for name, value in self.p.items()}
        self.steps = 0

    def logits(self, x: NDArray[np.float32], bag: list[NDArray[np.intp]]) -> NDArray[np.float32]:
        """float32 [n, 8]."""
        words = np.stack([self.p['tokens'][row].sum(axis=0) / max(len(row), 1) ** 0.5 for row in bag])
        hidden = np.maximum(x @ self.p['w1'] + self.p['b1'], 0)
        return np.asarray(hidden @ self.p['w2'] + self.p['b2'] + x @ self.p['skip'] + words, dtype=np.float32)

    def learn(self, x: NDArray[np.float32], bag: list[NDArray[np.intp]], target: NDArray[np.float32], rate: float,
              drop: tuple[float, float], decay: dict[str, float], rng: np.random.Generator) -> float:
        """One step of Adam on cross-entropy; returns the loss."""
        p = self.p
        x = x * (rng.random(x.shape, dtype=np.float32) >= drop[0]) / np.float32(1 - drop[0])
        inner = x @ p['w1'] + p['b1']
        keep = (rng.random(inner.shape, dtype=np.float32) >= drop[1]) / np.float32(1 - drop[1])
        hidden = np.maximum(inner, 0) * keep
        scale = [1 / max(len(row), 1) ** 0.5 for row in bag]
        words = np.stack([p['tokens'][row].sum(axis=0) * s for row, s in zip(bag, scale, strict=True)])
        z = hidden @ p['w2'] + p['b2'] + x @ p['skip'] + words
        z -= z.max(axis=1, keepdims=True)
        q = np.exp(z)
        q /= q.sum(axis=1, keepdims=True)
        loss = float(-(target * np.log(q + 1e-9)).sum(axis=1).mean())
        d = (q - target) / len(x)
        back = (d @ p['w2'].T) * keep * (inner > 0)
        g = {'w1': x.T @ back, 'b1': back.sum(axis=0), 'w2': hidden.T @ d, 'b2': d.sum(axis=0), 'skip': x.T @ d,
             'tokens': np.zeros_like(p['tokens'])}
        rows = np.concatenate(bag)
        np.add.at(g['tokens'], rows, np.repeat(d * np.array(scale)[:, None], [len(row) for row in bag], axis=0))
        self.steps += 1
        for name, gradient in g.items():
            self.m[name] += 0.1 * (gradient - self.m[name])
            self.v[name] += 0.001 * (gradient ** 2 - self.v[name])
            step = (self.m[name] / (1 - 0.9 ** self.steps)) / (np.sqrt(self.v[name] / (1 - 0.999 ** self.steps)) + 1e-8)
            p[name] -= np.float32(rate) * (step + decay.get(name, 0.0) * p[name]).astype(np.float32)
        return loss


def softmax(z: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows sum to 1."""
    q = np.exp(np.asarray(z, dtype=np.float64) - z.max(axis=1, keepdims=True))
    return np.asarray(q / q.sum(axis=1, keepdims=True))


def calibration_error(p: NDArray[np.float64], truth: NDArray[np.intp], bins: int = 10) -> float:
    """Expected calibration error: mean gap of confidence and accuracy over equal-width bins."""
    sure, right = p.max(axis=1), p.argmax(axis=1) == truth
    at = np.minimum((sure * bins).astype(int), bins - 1)
    return float(sum(abs(sure[at == i].mean() - right[at == i].mean()) * (at == i).mean() for i in range(bins)
                     if (at == i).any()))


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--data', type=Path, required=True, help='folder with GoEmotions')
    parser.add_argument('--cache', type=Path, help='file that keeps the features between runs')
    parser.add_argument('--out', type=Path, default=HERE.parent / 'emavatar_ros/perception/data/words_head.npz')
    parser.add_argument('--hidden', type=int, default=160)
    parser.add_argument('--epochs', type=int, default=12)
    parser.add_argument('--rate', type=float, default=4e-4)
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    embedding = Embedding(Store().path('minilm'))
    parts = read(args.data, embedding, args.cache)
    train, dev, seeds = (parts[name] for name in ('train', 'dev', 'seeds'))

    counts = Counter(token for row in train.tokens + seeds.tokens for token in set(row))
    kept = sorted(token for token, count in counts.items() if count >= 5)
    column = {token: i for i, token in enumerate(kept)}
    bag = {name: bags(part.tokens, column) for name, part in parts.items()}
    mean = train.features.astype(np.float32).mean(axis=0)
    scale = 1 / (train.features.astype(np.float32).std(axis=0) + 1e-2)
    ready = {name: ((part.features - mean) * scale).astype(np.float32) for name, part in parts.items()}

    head = Head(len(mean), args.hidden, len(kept), rng)
    decay = {'w1': 0.05, 'w2': 0.02, 'skip': 0.2, 'tokens': 0.02}
    batch, from_seeds = 128, round(128 * SEED_SHARE)
    taught = np.flatnonzero(seeds.targets[:, CONTEMPT] == 0)
    steps = len(train.targets) // batch
    best: tuple[float, dict[str, NDArray[np.float32]]] = (-1.0, {})
    for epoch in range(args.epochs):
        order = rng.permutation(len(train.targets))
        losses = []
        for at in range(steps):
            chosen, few = order[at * batch:(at + 1) * batch], rng.choice(taught, from_seeds, replace=False)
            rate = args.rate * 0.5 * (1 + np.cos(np.pi * (epoch * steps + at) / (args.epochs * steps)))
            losses.append(head.learn(
                np.concatenate((ready['train'][chosen], ready['seeds'][few])),
                [bag['train'][i] for i in chosen] + [bag['seeds'][i] for i in few],
                np.concatenate((train.targets[chosen], seeds.targets[few])), rate, (0.2, 0.4), decay, rng))
        score = macro(head, ready['dev'], bag['dev'], dev, prior(train), 0.4)
        print(f'epoch {epoch + 1}: loss {np.mean(losses):.3f}, dev macro-F1 {score:.3f}', flush=True)
        if score > best[0]:
            best = (score, {name: value.copy() for name, value in head.p.items()})
    head.p = best[1]

    found = prior(train)
    share = max((0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), key=lambda a: macro(head, ready['dev'], bag['dev'], dev, found, a))
    shift = (-share * np.log(found)).astype(np.float32)
    truth = dev.targets.argmax(axis=1)[dev.single]
    z = (head.logits(ready['dev'], bag['dev']) + shift)[dev.single]
    z[:, CONTEMPT] = -1e4
    temperature = min(np.arange(0.6, 2.5, 0.05),
                      key=lambda t: -np.log(softmax(z / t)[np.arange(len(truth)), truth] + 1e-9).mean())

    # Contempt: seeds against the other seeds and a sample of comments, on the last four layers.
    sample = rng.choice(len(train.targets), 4000, replace=False)
    last = slice(len(mean) - SCORN_INPUTS, None)
    is_scorn = seeds.targets[:, CONTEMPT] == 1
    x = np.concatenate((ready['seeds'][:, last], ready['train'][sample][:, last]))
    y = np.concatenate((is_scorn, np.zeros(len(sample), dtype=bool)))
    weights = np.concatenate((np.where(is_scorn, 3.0, 1.0), np.full(len(sample), 0.2)))
    scorn = LogisticRegression(C=2e-3, max_iter=1000)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    crossed = cross_val_predict(scorn, x, y, cv=folds, params={'sample_weight': weights}, method='decision_function')
    scorn.fit(x, y, sample_weight=weights)
    own, comments = crossed[:len(is_scorn)] > 0, scorn.decision_function(ready['test'][:, last]) > 0
    news = learn_news(embedding, train, mean, scale, rng)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        args.out, mean=mean.astype(np.float16), scale=scale.astype(np.float16), w1=head.p['w1'].astype(np.float16),
        b1=head.p['b1'], w2=head.p['w2'].astype(np.float16), b2=head.p['b2'] + shift,
        skip=head.p['skip'].astype(np.float16),
        token_ids=np.array(kept, dtype=np.int32), tokens=head.p['tokens'].astype(np.float16),
        contempt=scorn.coef_[0].astype(np.float16), contempt_bias=scorn.intercept_.astype(np.float32),
        news=news.coef_.T.astype(np.float16), news_bias=news.intercept_.astype(np.float32),
        lexicon=lexicon(bag, parts, len(kept)).astype(np.float16),
        temperature=np.array([temperature], dtype=np.float32))
    alone = macro(head, ready['test'], bag['test'], parts['test'], found, share)
    lines = [f'prior taken out {share}, temperature {temperature:.2f}, {args.out.stat().st_size / 1e6:.2f} MB',
             f'GoEmotions test, the head alone: macro-F1 {alone:.3f} over seven classes',
             f'contempt among the seeds, 5-fold: found {own[is_scorn].mean():.2f}, '
             f'false {own[~is_scorn].mean():.3f}; test comments called contempt {comments.mean():.3f}']
    lines += measured(create(head=args.out), args.data)
    print('\n'.join(lines))
    card = args.out.with_suffix('.md')
    if card.exists():
        text = card.read_text()
        card.write_text(text[:text.index('```\n')] + '```\n' + '\n'.join(lines) + '\n```\n')


def lexicon(bag: dict[str, list[NDArray[np.intp]]], parts: dict[str, Part], tokens: int) -> NDArray[np.float64]:
    """How much each token raises each emotion, log-odds [tokens, 8]; twelve imagined texts keep rare ones near 0."""
    counts = np.zeros((tokens, len(LABELS)))
    for name in ('train', 'seeds'):
        for row, target in zip(bag[name], parts[name].targets, strict=True):
            counts[row] += target
    base = prior(parts['train'])
    share = (counts + 12 * base) / (counts.sum(axis=1, keepdims=True) + 12 * base.sum())
    return np.asarray(np.log(share / (1 - share)) - np.log(base / (1 - base)))


def learn_news(embedding: Embedding, train: Part, mean: NDArray[np.float32], scale: NDArray[np.float32],
               rng: np.random.Generator) -> LogisticRegression:
    """Good news, bad news or neither, from the last four layers: the news among the seeds, and comments' feelings."""
    seeds = [seed for seed in read_seeds() if seed.news is not None and not seed.held]
    kind = np.array([1, 1, 1, 1, 0, 2, 1, 2])  # of LABELS
    chosen = rng.choice(train.single, 3000, replace=False)
    last = slice(len(mean) - SCORN_INPUTS, None)
    rows = np.concatenate((features(embedding, [seed.text for seed in seeds], 'news'), train.features[chosen]))
    x = ((rows - mean) * scale).astype(np.float32)[:, last]
    y = np.concatenate(([seed.news for seed in seeds], kind[train.targets[chosen].argmax(axis=1)]))
    weights = np.concatenate((np.full(len(seeds), 3.0), np.full(len(chosen), 0.02)))
    return LogisticRegression(C=1e-2, max_iter=1000).fit(x, y, sample_weight=weights)


def measured(view: Words, data: Path) -> list[str]:
    """Lines of figures: the view as it ships, on GoEmotions' test and on the seeds held out."""
    names = (data / 'labels.txt').read_text().split()
    mapping = json.loads((data / 'mapping.json').read_text())
    texts, truth = [], []
    for line in (data / 'test.tsv').read_text().splitlines():
        text, labels, _ = line.split('\t')
        found = {mapping[names[int(i)]] for i in labels.split(',')}
        if len(found) == 1:
            texts.append(text)
            truth.append(LABELS.index(found.pop()))
    read = [view.read(text).distribution for text in tqdm(texts, desc='test')]
    kept = [i for i, one in enumerate(read) if one is not None]
    p = np.stack([one.array for one in read if one is not None])
    right = np.array(truth)[kept]
    classes = [i for i in range(len(LABELS)) if i != CONTEMPT]
    each = f1_score(right, p.argmax(axis=1), labels=classes, average=None)
    lines = [f'GoEmotions test, {len(kept)} of {len(texts)} comments read: macro-F1 {each.mean():.3f} over seven '
             f'classes, accuracy {np.mean(p.argmax(axis=1) == right):.3f}, '
             f'expected calibration error {calibration_error(p, right):.3f}',
             ', '.join(f'{LABELS[i]} {value:.2f}' for i, value in zip(classes, each, strict=True)),
             'confidence  comments  mean confidence  accuracy']
    sure, hit = p.max(axis=1), p.argmax(axis=1) == right
    at = np.minimum((sure * 10).astype(int), 9)
    lines += [f'{i / 10:.1f}-{(i + 1) / 10:.1f}     {(at == i).sum():8d}  {sure[at == i].mean():15.2f}  '
              f'{hit[at == i].mean():8.2f}' for i in range(10) if (at == i).any()]
    held = [seed for seed in read_seeds() if seed.held and seed.news is None]
    alone = [view.read(seed.text).label in seed.labels for seed in held if not seed.before]
    scorn = [seed for seed in held if 'contempt' in seed.labels]
    answers = [seed for seed in read_seeds() if seed.before]
    told = [view.read(seed.text, history=seed.history).label in seed.labels for seed in answers]
    untold = [view.read(seed.text).label in seed.labels for seed in answers]
    lines += [f'held-out seeds: right {np.mean(alone):.2f} of {len(alone)}; of {len(scorn)} with contempt '
              f'{sum(view.read(seed.text).label == "contempt" for seed in scorn)} are found',
              f'short answers among the seeds, which the tables were made with: right {np.mean(told):.2f} of '
              f'{len(told)} with the line before, {np.mean(untold):.2f} without']
    return lines


def prior(part: Part) -> NDArray[np.float64]:
    """How frequent each emotion is in a part, contempt as the rarest."""
    shares = np.asarray(part.targets, dtype=np.float64).mean(axis=0)
    shares[CONTEMPT] = shares[shares > 0].min()
    return np.asarray(shares)


def macro(head: Head, x: NDArray[np.float32], bag: list[NDArray[np.intp]], part: Part,
          found: NDArray[np.float64], share: float) -> float:
    """Macro-F1 over the seven classes with `share` of the prior's logarithm taken out."""
    z = head.logits(x, bag) - share * np.log(found)
    z[:, CONTEMPT] = -1e4
    classes = [i for i in range(len(LABELS)) if i != CONTEMPT]
    return float(f1_score(part.targets.argmax(axis=1)[part.single], z.argmax(axis=1)[part.single], labels=classes,
                          average='macro'))


if __name__ == '__main__':
    main()
