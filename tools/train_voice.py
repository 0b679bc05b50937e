#!/usr/bin/env python3
"""Trains the voice view's head (perception/data/voice_head.npz) on the Berlin Database of Emotional Speech.

    tools/train_voice.py --data EMODB_FOLDER [--cache FOLDER] [--out voice_head.npz]

Every clip is heard as the product hears it: cut by the voice activity detector, the recogniser's encoder states over
the speech (mean, deviation), the measures of prosody.py. Besides the clean clip there are copies heard elsewhere
(degrade.py), because the head must not learn the studio. Each copy is seen by a person's baseline after several numbers
of other utterances, as at run time. The head is a linear discriminant with a shrunk covariance: what varies within an
emotion, be it the speaker, the words, the room or the line, counts for little. So does how Kokoro's voices in six
languages, who say something neutral, differ from the actors' neutral: a stranger is not afraid. Deterministic.

Reported, of speakers left out one at a time: accuracy after 0, 1, 3 and 10 utterances, clean and degraded; labels that
another loudness changes; calibration; valence and arousal. The temperatures come from the same held-out predictions.
The recordings stay where they are: only the weights ship.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import degrade
import numpy as np

from emavatar_ros.avatars import load
from emavatar_ros.emotion.affect import valence_arousal
from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.listening import silero, whisper
from emavatar_ros.listening.recording import probabilities
from emavatar_ros.listening.voice_activity import WINDOW
from emavatar_ros.media.files import read_audio
from emavatar_ros.perception.voice import prosody
from emavatar_ros.perception.voice.baseline import Baseline
from emavatar_ros.perception.voice.encoder import CLASSES, distribution, score, strangeness
from emavatar_ros.voice import kokoro

EMOTIONS = {'W': 'angry', 'E': 'disgusted', 'A': 'fear', 'F': 'happy', 'N': 'neutral', 'T': 'sad'}
RATE = 16000
VARIANTS = {'clean': 0, 'crowd': 1, 'telephone': 2, 'elsewhere': 3, 'babble': 5}
"""How every clip is heard, each with a seed of its own. babble, crowd: six people talk, 10 dB below the clip, or below
its loud half: 3 dB more; telephone: through 8 kHz, 300 to 3400 Hz; elsewhere: what degrade.py draws, heard in a shorter
encoder window."""
REPORTED = ('clean', 'babble', 'crowd', 'telephone')
GAINS = (-12, 12)
"""dB; the louder one is cut off at full scale. Heard of every third clip, never trained on."""
KNOWN = (0, 1, 3, 10)
"""Utterances of a person heard before, for the report."""
TRAINED_AFTER = (0, 3)
"""The same, for training."""
MICROPHONES = 20.0
"""Deviation between people of the measured level, in dB: how far and how sensitive the microphone is, nobody knows."""
LEVEL = -len(prosody.NAMES) + prosody.NAMES.index('level')
HEADS = {'both': slice(None), 'prosody': slice(-len(prosody.NAMES), None)}
EMBEDDING = slice(-len(prosody.NAMES))
SHRINKAGE, NUISANCE, STRANGER = 0.3, 1.0, 0.05
"""Share of the covariance that is taken as equal for all features; weights of what only the room and the line change,
and of what sets strangers apart."""
DIRECTIONS = 32
"""Directions of the embedding in which the clips differ most; what lies outside tells a voice of another kind."""
STRANGERS = {
    ('en', 'The train to the coast leaves at ten past four.'): 'af_bella af_sarah am_michael',
    ('en', 'You will find the second room on the left side.'): 'am_adam bf_emma bm_george af_nova am_liam',
    ('es', 'La sala está al fondo a la izquierda.'): 'em_alex',
    ('fr', 'Le train part à quatre heures dix.'): 'ff_siwis',
    ('hi', 'ट्रेन चार बजकर दस मिनट पर निकलती है।'): 'hf_alpha hm_omega',
    ('it', 'La sala si trova in fondo a sinistra.'): 'if_sara im_nicola',
    ('pt', 'A sala fica no fundo à esquerda.'): 'pf_dora pm_alex'}
"""Kokoro's voices that say something neutral, by language and sentence."""

FOLDED = ('mean', 'within', 'between', 'both_weights', 'both_bias')
"""The arrays in which the heads of the bench differ from the one that ships."""

Scores = dict[tuple[str, str, int], np.ndarray]


def vary(clip: np.ndarray, variant: str, others: list[np.ndarray], chance: np.random.Generator) -> np.ndarray:
    """A clip in one of VARIANTS or at one of GAINS ("gain 12"); others: clips of other people, for babble."""
    match variant.split():
        case ['clean']:
            return clip
        case ['babble']:
            noise = degrade.babble(others, len(clip), chance)
            return np.clip((clip + noise * np.sqrt((clip ** 2).mean() / (noise ** 2).mean()) * 10 ** -0.5) * 0.5, -1, 1)
        case ['crowd']:
            return np.clip(degrade.mix(clip, degrade.babble(others, len(clip), chance), 10) * 0.5, -1, 1)
        case ['telephone']:
            return degrade.band(degrade.narrow(clip), 300, 3400)
        case ['gain', decibels]:
            return np.clip(clip * 10 ** (float(decibels) / 20), -1, 1)
        case _:
            return degrade.elsewhere(clip, others, chance)


class Ear:
    """Hears a clip as the product does."""

    def __init__(self) -> None:
        self.recogniser = whisper.create(whisper.Config(threads=1))
        self.activity = silero.create(silero.Config(threads=1))

    def __call__(self, samples: np.ndarray, short: bool) -> np.ndarray:
        """Embedding and measures, float32 [1041]. short: in an encoder window not much longer than the sound."""
        samples = samples.astype(np.float32)
        voiced = np.flatnonzero(probabilities(samples, self.activity) >= 0.5)
        if len(voiced) >= 5:  # about what the listener keeps before and after
            samples = samples[max(0, voiced[0] * WINDOW - int(0.4 * RATE)):(voiced[-1] + 1) * WINDOW + int(0.2 * RATE)]
        seconds = len(samples) / RATE
        window = seconds + 1.5 if short else max(8.0, seconds + 4.0)
        return np.concatenate([self.recogniser.embed(samples, window), prosody.measure(samples)])


@dataclass(frozen=True)
class Clips:
    """The labelled clips: their sound, y [clips] index in CLASSES, speaker [clips], and where babble is taken from."""

    sounds: list[np.ndarray]
    numbers: list[int]
    y: np.ndarray
    speaker: np.ndarray
    others: dict[str, list[np.ndarray]]


def read(folder: Path) -> Clips:
    """Every clip of the folder; those without one of our emotions only talk in the background."""
    paths = sorted(folder.glob('*.flac'))
    chosen = [number for number, path in enumerate(paths) if path.stem[5] in EMOTIONS]
    if not chosen:
        sys.exit(f'no clips like 03a01Fa.flac in {folder}')
    sounds = [read_audio(path).mono(RATE).samples for path in paths]
    others = {who: [sound for sound, path in zip(sounds, paths) if path.stem[:2] != who]
              for who in {path.stem[:2] for path in paths}}
    return Clips([sounds[number] for number in chosen], chosen,
                 np.array([CLASSES.index(EMOTIONS[paths[number].stem[5]]) for number in chosen]),
                 np.array([paths[number].stem[:2] for number in chosen]), others)


def hear(clips: Clips, variant: str, cache: Path | None) -> np.ndarray:
    """Features of the clips in a variant, float32 [clips, features]; of every third clip when it is a gain."""
    kept = cache / f'{variant}.npy' if cache else None
    if kept and kept.exists():
        return np.asarray(np.load(kept))
    ear = Ear()
    rows = []
    for at in range(0, len(clips.y), 3 if variant.startswith('gain') else 1):
        chance = np.random.default_rng([VARIANTS.get(variant, 9), clips.numbers[at]])
        heard = vary(clips.sounds[at], variant, clips.others[clips.speaker[at]], chance)
        rows.append(ear(heard, short=variant == 'elsewhere'))
    print(f'{variant}: {len(rows)} clips heard', file=sys.stderr, flush=True)
    found = np.array(rows, np.float32)
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, found)
    return found


def strangers(cache: Path | None) -> np.ndarray:
    """Features of STRANGERS, float32 [voices, features]."""
    kept = cache / 'strangers.npy' if cache else None
    if kept and kept.exists():
        return np.asarray(np.load(kept))
    ear, avatar, rows = Ear(), load('mira'), []
    for (language, text), voices in STRANGERS.items():
        for name in voices.split():
            profile = replace(avatar.voice, kokoro={language: name})
            voice = kokoro.create(kokoro.Config(threads=1), replace(avatar, voice=profile))
            pieces = [speech.audio.mono(RATE).samples for speech in voice.speak(text, Delivery(), language)]
            rows.append(ear(np.concatenate(pieces), short=False))
    found = np.array(rows, np.float32)
    if kept:
        np.save(kept, found)
    return found


def population(x: np.ndarray, speaker: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of the speakers' means, deviation within a speaker, deviation between speakers. x: [clips, features]."""
    everybody = np.unique(speaker)
    means = np.stack([x[speaker == who].mean(axis=0) for who in everybody])
    within = np.stack([x[speaker == who].var(axis=0) for who in everybody]).mean(axis=0)
    chance = within * len(everybody) / len(x)  # by which the means of so few clips differ anyway
    between = np.sqrt(np.maximum(means.var(axis=0, ddof=1) - chance, 1e-3 * within))
    between[LEVEL] = MICROPHONES
    return means.mean(axis=0), np.sqrt(within) + 1e-6, between


def standardise(x: np.ndarray, speaker: np.ndarray, people: tuple[np.ndarray, ...], known: int) -> np.ndarray:
    """Each clip as the baseline sees it after `known` other clips of its speaker, drawn anew for each."""
    chance = np.random.default_rng(known)
    out = np.empty_like(x)
    for clip in range(len(x)):
        baseline = Baseline(*people)
        if known:
            others = np.flatnonzero(speaker == speaker[clip])
            others = others[others != clip]
            for other in chance.choice(others, min(known, len(others)), replace=False):
                baseline.add(x[other])
        out[clip] = baseline.standardise(x[clip])
    return out


def fit(x: np.ndarray, y: np.ndarray, speaker: np.ndarray, others: np.ndarray) -> dict[str, np.ndarray]:
    """The population, the two heads and the directions, as voice_head.npz has them, temperatures apart.
    x: [variants, clips, features]; others: features of STRANGERS.

    A linear discriminant: weights are the class means in units of the covariance, which is what varies within an
    emotion, once more what a room or a line alone changes (a copy against the clean clip), and what sets strangers
    apart from the neutral clips."""
    people = population(x.reshape(-1, x.shape[2]), np.tile(speaker, len(x)))
    seen = np.stack([[standardise(part, speaker, people, known) for part in x] for known in TRAINED_AFTER])
    rows = np.concatenate([seen, seen[:, :1]], axis=1).reshape(-1, x.shape[2]).astype(np.float64)  # clean counts twice
    labels = np.tile(y, len(rows) // len(y))
    means = np.stack([rows[labels == label].mean(axis=0) for label in range(len(CLASSES))])
    changed = (seen[0, 1:] - seen[0, :1]).reshape(-1, x.shape[2])
    strange = standardise(others, np.arange(len(others)), people, 0) - seen[0, 0][y == CLASSES.index('neutral')].mean(0)
    strange[:, LEVEL] = 0
    covariance = (spread(rows - means[labels]) + NUISANCE * spread(changed) + STRANGER * spread(strange))
    head = dict(zip(('mean', 'within', 'between'), (part.astype(np.float32) for part in people)))
    for kind, columns in HEADS.items():
        own = covariance[columns, columns]
        own = (1 - SHRINKAGE) * own + SHRINKAGE * np.trace(own) / len(own) * np.eye(len(own))
        weights = np.linalg.solve(own, means[:, columns].T).T
        bias = -0.5 * (weights * means[:, columns]).sum(axis=1)
        head[f'{kind}_weights'] = (weights - weights.mean(axis=0)).astype(np.float32)
        head[f'{kind}_bias'] = (bias - bias.mean()).astype(np.float32)
    usual = seen[0].reshape(-1, x.shape[2])[:, EMBEDDING].astype(np.float64)
    centre = usual.mean(axis=0)
    head['usual'] = centre.astype(np.float32)
    head['directions'] = np.linalg.eigh(spread(usual - centre))[1][:, -DIRECTIONS:].T.astype(np.float16)
    head['outside'] = np.float32(1)
    head['outside'] = np.float32(np.mean([strangeness(head, row) for row in usual]))
    return head


def spread(rows: np.ndarray) -> np.ndarray:
    """Second moments of the columns."""
    rows = rows.astype(np.float64)
    return rows.T @ rows / len(rows)


def held_out(x: np.ndarray, y: np.ndarray, speaker: np.ndarray, others: np.ndarray, heard: dict[str, np.ndarray]
             ) -> tuple[Scores, dict[str, np.ndarray]]:
    """Scores [clips, 6], as `score` gives them, by heads that never heard the clip's speaker: by kind of head, by name
    in `heard` (features of all clips, or of every third) and by number of KNOWN utterances; and these heads' arrays, as
    the bench wants them, named speaker_array."""
    folds: dict[str, np.ndarray] = {}
    scores: Scores = {(kind, name, known): np.zeros((len(rows), len(CLASSES)))
                      for kind in HEADS for name, rows in heard.items() for known in KNOWN}
    for who in np.unique(speaker):
        left = speaker != who
        head = fit(x[:, left], y[left], speaker[left], others)
        people = head['mean'], head['within'], head['between']
        folds |= {f'{who}_{name}': head[name].astype(np.float16) for name in FOLDED}
        for name, rows in heard.items():
            mine = speaker[::3 if len(rows) < len(y) else 1] == who
            for known in KNOWN:
                z = standardise(rows[mine], np.full(mine.sum(), who), people, known)
                for kind in HEADS:
                    scores[kind, name, known][mine] = [score(head, row, kind) for row in z]
    return scores, folds


def temperature(scores: np.ndarray, y: np.ndarray) -> float:
    """What the scores must be divided by for the view to be as sure as it is right (least negative log-likelihood)."""
    def loss(heat: float) -> float:
        return -float(np.mean([np.log(distribution(row, heat)[CLASSES[label]]) for row, label in zip(scores, y)]))
    return float(min(np.geomspace(0.5, 20, 40), key=loss))


def reliability(scores: np.ndarray, y: np.ndarray, heat: float) -> tuple[float, list[str]]:
    """Expected calibration error, and a line for each tenth of confidence: how sure, how often right, how many."""
    found = [distribution(row, heat) for row in scores]
    sure = np.array([one.confidence for one in found])
    right = np.array([one.label == CLASSES[label] for one, label in zip(found, y)])
    lines, error = [], 0.0
    for tenth in range(10):
        inside = (sure * 10).astype(int).clip(0, 9) == tenth
        if inside.any():
            error += inside.mean() * abs(sure[inside].mean() - right[inside].mean())
            lines.append(f'    {tenth / 10:.1f}-{(tenth + 1) / 10:.1f}  sure {sure[inside].mean():.2f}  right '
                         f'{right[inside].mean():.2f}  {inside.sum()} clips')
    return error, lines


def report(scores: Scores, y: np.ndarray, heats: dict[str, float]) -> None:
    """Print what held-out speakers got."""
    right = {key: (rows.argmax(axis=1) == (y if len(rows) == len(y) else y[::3])).mean()
             for key, rows in scores.items()}
    for kind in HEADS:
        for name in REPORTED:
            print(f'{kind}, {name}: after {", ".join(map(str, KNOWN))} utterances '
                  + ' '.join(f'{right[kind, name, known]:.3f}' for known in KNOWN))
    plain = scores['both', 'clean', 0].argmax(axis=1)
    for decibels in GAINS:
        same = scores['both', f'gain {decibels}', 0].argmax(axis=1) == plain[::3]
        print(f'{decibels:+d} dB leaves {same.mean():.3f} of the labels')
    print('recall, clean: ' + ', '.join(
        f'{label} {(plain == at)[y == at].mean():.2f}' for at, label in enumerate(CLASSES)))
    for name in REPORTED:
        error, lines = reliability(scores['both', name, 0], y, heats['both'])
        print(f'calibration, {name}: expected error {error:.3f}')
        print('\n'.join(lines))
    where = [valence_arousal(distribution(row, heats['both'])) for row in scores['both', 'clean', 0]]
    print('valence and arousal, clean: ' + ', '.join(
        '{} {:+.2f} {:+.2f}'.format(label, *np.array(where)[y == at].mean(axis=0)) for at, label in enumerate(CLASSES)))


def main() -> None:
    """Train, report, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').splitlines()[0])
    parser.add_argument('--data', type=Path, required=True, help='folder of the clips, 03a01Fa.flac and so on')
    parser.add_argument('--cache', type=Path, help='folder that keeps the features: they take minutes, the fit seconds')
    parser.add_argument('--out', type=Path,
                        default=Path(__file__).parents[1] / 'emavatar_ros/perception/data/voice_head.npz')
    parser.add_argument('--folds', type=Path, help='the heads that never heard one speaker, for the bench',
                        default=Path(__file__).parents[1] / 'emavatar_ros/evaluation/data/voice_folds.npz')
    args = parser.parse_args()
    args.folds.parent.mkdir(parents=True, exist_ok=True)
    clips = read(args.data)
    x = np.stack([hear(clips, variant, args.cache) for variant in VARIANTS])
    heard = {name: x[list(VARIANTS).index(name)] for name in REPORTED}
    heard |= {f'gain {decibels}': hear(clips, f'gain {decibels}', args.cache) for decibels in GAINS}
    others = strangers(args.cache)
    scores, folds = held_out(x, clips.y, clips.speaker, others, heard)
    heats = {kind: temperature(np.concatenate([scores[kind, name, 0] for name in REPORTED]),
                               np.tile(clips.y, len(REPORTED))) for kind in HEADS}
    report(scores, clips.y, heats)
    head = fit(x, clips.y, clips.speaker, others)
    np.savez_compressed(args.out, classes=np.array(CLASSES), **head,
                        **{f'{kind}_temperature': np.float32(heat) for kind, heat in heats.items()})
    np.savez_compressed(args.folds, **folds)
    print(f'{args.out}: {args.out.stat().st_size} bytes, {args.folds}: {args.folds.stat().st_size} bytes')


if __name__ == '__main__':
    main()
