"""What the voice shows, whatever the words: six emotions from how something was said.

Model: one linear layer (this project's, tools/train_voice.py, 50 kB) over the recogniser's encoder states, which
transcription computes anyway, and the measures of prosody.py. Trained on the Berlin Database of Emotional Speech: of
speakers it never heard it names 83 % of six emotions rightly, 77 % through a telephone or in a noisy room, 63 % from
prosody alone. Strangers in other languages are harder (about half right), so its confidence is held back (`trust`).
Weak: disgust taken for anger or fear, joy for anger. Hardware: nothing to speak of (a few milliseconds).

Both are taken relative to the person: a baseline starts as the population's and moves to what was heard so far.
Surprise and contempt have no training clips: the view keeps a fixed small share for each, which says nothing about
them. It abstains when there is too little voice, too little sound, or too little evidence. One thread at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.affect import valence_arousal
from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.media.audio import Audio
from emavatar_ros.perception.voice import VIEW, prosody
from emavatar_ros.perception.voice.prosody import NAMES, RATE
from emavatar_ros.settings import setting

CLASSES: Final = ('angry', 'disgusted', 'fear', 'happy', 'neutral', 'sad')
"""The emotions it was trained on, in the order of LABELS."""
UNHEARD: Final = 0.03
"""Share kept for each emotion it can't hear."""
MODEL: Final = 'whisper-encoder+prosody'

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Config:
    """Settings of the voice view."""

    shortest: float = setting(0.4, 'least speech to judge', unit='s', low=0.1, high=5.0)
    quietest: float = setting(-55.0, 'level below which nothing is judged', unit='dB', low=-90.0, high=-20.0)
    least: float = setting(0.3, 'confidence below which the view abstains; chance is 0.17', low=0.0, high=1.0)
    trust: float = setting(0.5, 'how sure the head may be of voices and languages unlike its training clips; 1 is as '
                           'sure as on those', low=0.1, high=1.0)


class Baseline:
    """How a person usually sounds: a prior that `WEIGHT` heard utterances are worth, and what was heard since."""

    WEIGHT: Final = 4.0
    MOST: Final = 12
    """Utterances after which older ones fade: a person may change, the microphone may move."""

    def __init__(self, mean: Vector, spread: Vector) -> None:
        """mean, spread: of the population, float32 [features]."""
        self.count = 0
        self._mean = np.asarray(mean, np.float64)
        self._spread = np.asarray(spread, np.float64)

    def standardise(self, values: Vector) -> Vector:
        """Deviations from the person's mean in units of a person's usual spread, held within 4."""
        return np.clip((values - self._mean) / self._spread, -4, 4).astype(np.float32)

    def add(self, values: Vector) -> None:
        """Another utterance of the same person."""
        self.count += 1
        self._mean += (values - self._mean) / (self.WEIGHT + min(self.count, self.MOST))


class EncoderVoice:
    """The voice view of one person."""

    def __init__(self, head: dict[str, Any], config: Config | None = None) -> None:
        """head: the arrays of voice_head.npz."""
        self.config = config or Config()
        self._head = head
        self.measured: dict[str, float] = {}
        """What `hear` measured last, by name: pitch_z, pitch_range_z, loudness_z, rate_z, tremor_z (standard deviations
        from the person's baseline), pause_share, creak_share (0 to 1)."""
        self.forget()

    def forget(self) -> None:
        """Another person: the baseline is the population's again."""
        self._baseline = Baseline(self._head['mean'], self._head['spread'])
        self.measured = {}

    def hear(self, audio: Audio, embedding: Vector | None) -> Candidate:
        """What an utterance's sound shows. embedding: the recogniser's, float32 [1024]; without it prosody alone
        decides, which is right far less often."""
        samples = audio.mono(RATE).samples
        if prosody.speech_seconds(samples) < self.config.shortest:
            return Candidate.abstain(VIEW, MODEL, 'too little was said to judge the voice')
        measures = prosody.measure(samples)
        if measures[NAMES.index('level')] < self.config.quietest:
            return Candidate.abstain(VIEW, MODEL, 'the voice is too quiet to judge')
        expected = len(self._head['mean']) - len(NAMES)
        known = embedding is not None and len(embedding) == expected and bool(np.isfinite(embedding).all())
        values = np.concatenate([embedding if known and embedding is not None
                                 else np.asarray(self._head['mean'][:expected]), measures]).astype(np.float32)
        z = self._baseline.standardise(values)
        self.measured = named(z[-len(NAMES):], measures)
        self._baseline.add(values)
        distribution = self._judge(z, 'both' if known else 'prosody')
        model = MODEL if known else 'prosody'
        if distribution.confidence < self.config.least:
            return Candidate.abstain(VIEW, model, 'the voice shows no clear emotion')
        valence, arousal = valence_arousal(distribution)
        loud = float(np.tanh((self.measured['loudness_z'] + self.measured['pitch_z']
                              + self.measured['pitch_range_z']) / 3))
        return Candidate.of(VIEW, model, distribution, sentence(self.measured, distribution.label),
                            affect=(valence, float(np.clip(0.7 * arousal + 0.3 * loud, -1, 1))))

    def _judge(self, z: Vector, kind: str) -> Distribution:
        columns = slice(None) if kind == 'both' else slice(-len(NAMES), None)
        scores = self._head[f'{kind}_weights'] @ z[columns] + self._head[f'{kind}_bias']
        scores = scores * self.config.trust / float(self._head[f'{kind}_temperature'])
        shares = np.exp(scores - scores.max())
        shares = shares / shares.sum() * (1 - UNHEARD * (len(LABELS) - len(CLASSES)))
        return Distribution.from_mapping({label: UNHEARD for label in LABELS if label not in CLASSES}
                                         | {label: float(p) for label, p in zip(CLASSES, shares)})


def named(z: Vector, measures: Vector) -> dict[str, float]:
    """The measures a collector may ask for, by the names of contracts.md."""
    at = NAMES.index
    return {'pitch_z': float(z[at('pitch')]), 'pitch_range_z': float(z[at('pitch_spread')]),
            'loudness_z': float(z[at('level')]), 'rate_z': float(z[at('rate')]),
            'tremor_z': float(z[at('pitch_change')]), 'pause_share': float(1 - measures[at('speech_share')]),
            'creak_share': float(measures[at('creak_share')])}


def sentence(measured: dict[str, float], label: str) -> str:
    """What stands out, in plain words: "the voice is low and flat"; if nothing does, that its timbre decided."""
    words = {'pitch_z': ('low', 'high'), 'loudness_z': ('quiet', 'loud'), 'pitch_range_z': ('flat', 'lively'),
             'rate_z': ('slow', 'fast'), 'tremor_z': ('steady', 'shaky')}
    strongest = sorted(words, key=lambda name: -abs(measured[name]))
    said = [words[name][measured[name] > 0] for name in strongest if abs(measured[name]) >= 0.7][:3]
    if 'quiet' in said and 'steady' in said:
        said.remove('steady')
    if not said:
        return ('the voice sounds as it usually does' if label == 'neutral' else
                f'pitch, loudness and pace are as usual, but the voice sounds {"afraid" if label == "fear" else label}')
    return 'the voice is ' + (f'{", ".join(said[:-1])} and {said[-1]}' if len(said) > 1 else said[0])


def create(config: Config | None = None) -> EncoderVoice:
    """The view with the head that ships."""
    with (files('emavatar_ros.perception') / 'data' / 'voice_head.npz').open('rb') as file, \
            np.load(file, allow_pickle=False) as arrays:
        return EncoderVoice(dict(arrays), config)
