#!/usr/bin/env python3
"""Trains the voice view's head (perception/data/voice_head.npz) on the Berlin Database of Emotional Speech.

    tools/train_voice.py --data EMODB_FOLDER [--cache FEATURES.npz] [--out voice_head.npz]

Every clip is heard as the product hears it: the recogniser's encoder states over the speech (mean, deviation) and the
prosody measures. Besides the clean clip there is a copy heard elsewhere (a telephone's band or a room's echo, noise,
another loudness, a longer encoder window), because the head must not learn the studio. Features are standardised by a
causal baseline like the one at run time (a population prior that the speaker's own clips pull away from it, in random
order), and one linear layer is fitted to them. Reported: leave-one-speaker-out accuracy for a speaker's first clips
and with the baseline grown; the temperature comes from the same held-out predictions. Needs scikit-learn. The
recordings stay where they are: only the weights ship (licence of the data: unrestricted use).
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from emavatar_ros.listening import whisper
from emavatar_ros.media.files import read_audio
from emavatar_ros.perception.voice import prosody
from emavatar_ros.perception.voice.encoder import CLASSES, Baseline

EMOTIONS = {'W': 'angry', 'E': 'disgusted', 'A': 'fear', 'F': 'happy', 'N': 'neutral', 'T': 'sad'}
VARIANTS = ('clean', 'elsewhere')
ORDERS = 3
"""Random orders of each speaker's clips for the causal baseline."""


def vary(samples: np.ndarray, variant: str, chance: np.random.Generator) -> tuple[np.ndarray, float]:
    """A clip as another microphone hears it, and the encoder window it is heard in, in seconds."""
    if variant == 'clean':
        return samples, 8.0
    heard = samples
    if chance.random() < 0.5:  # a telephone's band
        spectrum = np.fft.rfft(heard)
        hertz = np.fft.rfftfreq(len(heard), 1 / 16000)
        spectrum[(hertz < 300) | (hertz > 3400)] *= 0.05
        heard = np.fft.irfft(spectrum, len(heard))
    else:  # a room's echo
        echo = np.exp(-np.arange(3200) / 600) * chance.normal(0, 0.08, 3200)
        echo[0] = 1
        heard = np.convolve(heard, echo)[:len(heard)]
    heard = heard + chance.normal(0, 1, len(heard)) * heard.std() * 10 ** (-chance.uniform(15, 35) / 20)
    heard = heard * 10 ** (chance.uniform(-15, 3) / 20)
    return np.clip(heard, -1, 1).astype(np.float32), float(chance.uniform(8, 11))


_recogniser: whisper.Whisper | None = None


def hear(job: tuple[Path, int]) -> list[np.ndarray]:
    """The features of one clip in each variant. job: its path and a number that makes its noise its own."""
    global _recogniser  # one in each process: a model can't be handed from one to another
    if _recogniser is None:
        _recogniser = whisper.create(whisper.Config(threads=1))
    path, number = job
    chance = np.random.default_rng(number)
    clip = read_audio(path).mono(16000).samples
    found = []
    for variant in VARIANTS:
        samples, window = vary(clip, variant, chance)
        found.append(np.concatenate([_recogniser.embed(samples, window), prosody.measure(samples)]))
    return found


def features(folder: Path, jobs: int) -> dict[str, np.ndarray]:
    """Features of every labelled clip: x [variants, clips, features], y (index in CLASSES), speaker."""
    paths = [path for path in sorted(folder.glob('*.flac')) if path.stem[5] in EMOTIONS]
    if not paths:
        sys.exit(f'no clips like 03a01Fa.flac in {folder}')
    rows = []
    with multiprocessing.get_context('spawn').Pool(jobs) as pool:
        for row in pool.imap(hear, [(path, number) for number, path in enumerate(paths)], chunksize=4):
            rows.append(row)
            if len(rows) % 50 == 0:
                print(f'{len(rows)} of {len(paths)} clips', file=sys.stderr, flush=True)
    return {'x': np.array(rows, np.float32).swapaxes(0, 1), 'speaker': np.array([p.stem[:2] for p in paths]),
            'y': np.array([CLASSES.index(EMOTIONS[p.stem[5]]) for p in paths])}


def standardise(x: np.ndarray, speaker: np.ndarray, mean: np.ndarray, spread: np.ndarray, order: int
                ) -> tuple[np.ndarray, np.ndarray]:
    """Each clip by the baseline its speaker has at that time, and how many clips that baseline knew."""
    chance = np.random.default_rng(order)
    out, known = np.empty_like(x), np.empty(len(x), int)
    for who in np.unique(speaker):
        baseline = Baseline(mean, spread)
        for clip in chance.permutation(np.flatnonzero(speaker == who)):
            out[clip], known[clip] = baseline.standardise(x[clip]), baseline.count
            baseline.add(x[clip])
    return out, known


def prior(x: np.ndarray, speaker: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The population: mean of the speakers' means, and the deviation within a speaker."""
    means = np.stack([x[speaker == who].mean(axis=0) for who in np.unique(speaker)])
    within = np.stack([x[speaker == who].var(axis=0) for who in np.unique(speaker)]).mean(axis=0)
    return means.mean(axis=0), np.sqrt(within) + 1e-6


def fit(x: np.ndarray, y: np.ndarray, speaker: np.ndarray, columns: slice, strength: float
        ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Prior mean and spread, weights [6, features] and bias [6]. x: [variants, clips, features]."""
    mean, spread = prior(x.reshape(-1, x.shape[2]), np.tile(speaker, len(x)))
    rows = [standardise(part, speaker, mean, spread, 10 * order + number)[0][:, columns]
            for order in range(ORDERS) for number, part in enumerate(x)]
    model = LogisticRegression(C=strength / len(rows), max_iter=1000, class_weight='balanced')
    model.fit(np.concatenate(rows), np.tile(y, len(rows)))
    return mean, spread, model.coef_.astype(np.float32), model.intercept_.astype(np.float32)


def held_out(x: np.ndarray, y: np.ndarray, speaker: np.ndarray, columns: slice, strength: float
             ) -> tuple[np.ndarray, np.ndarray]:
    """Scores [variants, clips, 6] of each clip by a head that never heard its speaker, and the baseline's count."""
    scores = np.zeros((*x.shape[:2], len(CLASSES)))
    known = np.zeros(x.shape[:2], int)
    for who in np.unique(speaker):
        test = speaker == who
        mean, spread, weights, bias = fit(x[:, ~test], y[~test], speaker[~test], columns, strength)
        for number, part in enumerate(x):
            z, known[number, test] = standardise(part[test], speaker[test], mean, spread, 99)
            scores[number, test] = z[:, columns] @ weights.T + bias
    return scores, known


def temperature(scores: np.ndarray, y: np.ndarray) -> float:
    """What the scores must be divided by to be as sure as they are right (least negative log-likelihood)."""
    def loss(t: float) -> float:
        z = scores / t
        z = z - z.max(axis=1, keepdims=True)
        return float(-(z[np.arange(len(y)), y] - np.log(np.exp(z).sum(axis=1))).mean())
    return float(min(np.geomspace(0.3, 10, 200), key=loss))


def main() -> None:
    """Train, report, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').splitlines()[0])
    parser.add_argument('--data', type=Path, required=True, help='folder of the clips, 03a01Fa.flac and so on')
    parser.add_argument('--cache', type=Path, help='keep the features here: they take minutes, the fit seconds')
    parser.add_argument('--out', type=Path,
                        default=Path(__file__).parents[1] / 'emavatar_ros/perception/data/voice_head.npz')
    parser.add_argument('--jobs', type=int, default=2, help='processes that hear clips')
    parser.add_argument('--strength', type=float, default=0.3, help="inverse of the head's regularisation")
    args = parser.parse_args()
    if args.cache and args.cache.exists():
        data = dict(np.load(args.cache))
    else:
        data = features(args.data, args.jobs)
        if args.cache:
            np.savez(args.cache, **data)
    x, y, speaker = data['x'], data['y'], data['speaker']
    shipped: dict[str, np.ndarray] = {'classes': np.array(CLASSES)}
    for name, columns in (('both', slice(None)), ('prosody', slice(-len(prosody.NAMES), None))):
        scores, known = held_out(x, y, speaker, columns, args.strength)
        right = scores.argmax(axis=2) == y
        for variant, hits, count in zip(VARIANTS, right, known):
            print(f'{name}, left-out speakers, {variant}: {hits.mean():.3f} (first 3 clips '
                  f'{hits[count < 3].mean():.3f}, from the 15th {hits[count >= 15].mean():.3f})')
        heat = temperature(scores.reshape(-1, len(CLASSES)), np.tile(y, len(x)))
        mean, spread, weights, bias = fit(x, y, speaker, columns, args.strength)
        print(f'{name}: temperature {heat:.2f}; recall ' + ', '.join(
            f'{label} {right[0][y == index].mean():.2f}' for index, label in enumerate(CLASSES)))
        shipped |= {f'{name}_weights': weights, f'{name}_bias': bias, f'{name}_temperature': np.float32(heat),
                    f'{name}_accuracy': np.float32(right[0].mean()), 'mean': mean.astype(np.float32),
                    'spread': spread.astype(np.float32)}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(args.out, **shipped)
    print(f'{args.out}: {args.out.stat().st_size} bytes')


if __name__ == '__main__':
    main()
