"""What the voice shows, whatever the words: six emotions from how something was said.

Model: one linear layer (this project's, tools/train_voice.py; data/voice_head.md says what it learned and how well)
over the recogniser's encoder states, which transcription computes anyway, and the measures of prosody.py. Hardware:
nothing to speak of (some milliseconds an utterance).

Both are taken relative to the person (baseline.py). The less a voice resembles those the head learned from, the less
sure it is. Surprise and contempt have no training clips: the view never names them, and gives each the share that the
emotions it did not name have on average. It abstains from what it can't judge and says why. One thread at a time.
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
from emavatar_ros.media.audio import Audio
from emavatar_ros.perception.voice import VIEW, prosody
from emavatar_ros.perception.voice.baseline import Baseline, Vector
from emavatar_ros.perception.voice.prosody import NAMES, RATE
from emavatar_ros.settings import setting

CLASSES: Final = ('angry', 'disgusted', 'fear', 'happy', 'neutral', 'sad')
"""The emotions it was trained on, in the order of LABELS."""
UNHEARD: Final = ('contempt', 'surprised')
HEARD: Final = {'fear': 'afraid'}
"""How a voice sounds, where that is another word than the label."""
MODEL: Final = 'whisper-encoder+prosody'


@dataclass(frozen=True)
class Config:
    """Settings of the voice view."""

    shortest: float = setting(0.4, 'least speech to judge', unit='s', low=0.1, high=5.0)
    quietest: float = setting(-55.0, 'level below which nothing is judged', unit='dB', low=-90.0, high=-20.0)
    voiced: float = setting(0.15, 'share of the sound that must be voiced: less is noise or a whisper', low=0.0,
                            high=1.0)
    clipped: float = setting(0.9, 'share of the sound cut off at full scale above which nothing is judged', low=0.0,
                             high=1.0)
    strangest: float = setting(6.0, 'strangeness above which nothing is judged: speech has 0.5 to 4, music 9 and more',
                               low=1.0, high=100.0)
    least: float = setting(0.3, 'confidence below which the view abstains; chance is 0.17', low=0.0, high=1.0)


class EncoderVoice:
    """The voice view of one person."""

    def __init__(self, head: dict[str, Any], config: Config | None = None) -> None:
        """head: the arrays of voice_head.npz."""
        self.config = config or Config()
        self._head = head
        self.forget()

    def forget(self) -> None:
        """Another person: the baseline is the population's again."""
        self._baseline = Baseline(self._head['mean'], self._head['within'], self._head['between'])

    def hear(self, audio: Audio, embedding: Vector | None, final: bool = True) -> Candidate:
        """What an utterance's sound shows. embedding: the recogniser's, float32 [1024]; without it prosody alone
        decides, which is right far less often. final: it is over, and the baseline learns from it."""
        samples = audio.mono(RATE).samples
        measures = prosody.measure(samples)
        reason = self._unfit(samples, dict(zip(NAMES, measures.tolist(), strict=True)))
        if reason:
            return Candidate.abstain(VIEW, MODEL, reason)
        expected = len(self._head['mean']) - len(NAMES)
        known = embedding is not None and len(embedding) == expected and bool(np.isfinite(embedding).all())
        values = np.concatenate([embedding if known and embedding is not None
                                 else np.asarray(self._head['mean'][:expected]), measures]).astype(np.float32)
        z = self._baseline.standardise(values)
        measured = named(z[-len(NAMES):], measures)
        if known and strangeness(self._head, z[:expected]) > self.config.strangest:
            return Candidate.abstain(VIEW, MODEL, 'it does not sound like anybody speaking: music, perhaps')
        if final:
            self._baseline.add(values)
        kind, model = ('both', MODEL) if known else ('prosody', 'prosody')
        found = distribution(score(self._head, z, kind), float(self._head[f'{kind}_temperature']))
        if found.confidence < self.config.least:
            return Candidate.abstain(VIEW, model, 'the voice shows no clear emotion', measured)
        return Candidate.of(VIEW, model, found, sentence(measured, found.label), measures=measured,
                            affect=affect(found, z[-len(NAMES):]))

    def _unfit(self, samples: NDArray[np.float32], measured: dict[str, float]) -> str:
        """Why a sound can't be judged, or ''."""
        if prosody.speech_seconds(samples) < self.config.shortest:
            return 'too little was said to judge the voice'
        if measured['level'] < self.config.quietest:
            return 'the voice is too quiet to judge'
        if prosody.clipped_share(samples) > self.config.clipped:
            return 'the sound is cut off: the microphone is turned up too far to judge the voice'
        if measured['voiced_share'] < self.config.voiced:
            return 'there is a sound, but hardly any voice in it'
        return ''


def score(head: dict[str, Any], z: Vector, kind: str) -> NDArray[np.float64]:
    """Scores of CLASSES, weaker the stranger the voice. z: standardised embedding and measures, float32 [features];
    kind: both, or prosody when there is no embedding."""
    measures = slice(-len(NAMES), None)
    if kind == 'prosody':
        return np.asarray(head['prosody_weights'] @ z[measures] + head['prosody_bias'], np.float64)
    doubt = max(1.0, strangeness(head, z[:-len(NAMES)]))
    return np.asarray((head['both_weights'] @ z + head['both_bias']) / doubt, np.float64)


def strangeness(head: dict[str, Any], z: Vector) -> float:
    """How much of a standardised embedding lies outside the directions in which the training clips differ: they have 1
    on average and hardly ever 2, voices of another kind or language 2 to 4."""
    off = z - head['usual']
    outside = off - (head['directions'].astype(np.float32) @ off) @ head['directions'].astype(np.float32)
    return float((outside ** 2).sum() / head['outside'])


def distribution(scores: NDArray[np.floating], temperature: float) -> Distribution:
    """Of the scores of CLASSES; each of UNHEARD is as likely as those that aren't the likeliest are on average."""
    known = np.exp((scores - scores.max()) / temperature)
    known = known / known.sum()
    unnamed = (1 - known.max()) / (len(CLASSES) - 1)
    return Distribution.from_mapping(dict(zip(CLASSES, known.tolist(), strict=True)) | dict.fromkeys(UNHEARD, unnamed))


def affect(found: Distribution, z: Vector) -> tuple[float, float]:
    """Valence and arousal in [-1, 1]: where the emotions lie on the circumplex, and for arousal also how high, lively,
    loud and sharp the voice is for this person. z: standardised measures, float32 [len(NAMES)]."""
    valence, arousal = valence_arousal(found)
    effort = float(np.mean([z[NAMES.index(name)] for name in ('pitch', 'pitch_spread', 'level', 'edge')]))
    return valence, float(np.clip(0.7 * arousal + 0.3 * np.tanh(effort), -1, 1))


def named(z: Vector, measures: Vector) -> dict[str, float]:
    """The measures a collector may ask for, by the names of contracts.md."""
    at = NAMES.index
    return {'pitch_z': float(z[at('pitch')]), 'pitch_range_z': float(z[at('pitch_spread')]),
            'loudness_z': float(z[at('level')]), 'rate_z': float(z[at('rate')]),
            'tremor_z': float(z[at('pitch_change')]), 'pause_share': float(1 - measures[at('speech_share')]),
            'creak_share': float(measures[at('creak_share')])}


def sentence(measured: dict[str, float], label: str) -> str:
    """What stands out, in plain words: "the voice is low and flat"; if nothing does, that its timbre decided.

    measured: as `named` gives it, relative to the person."""
    words = {'pitch_z': ('low', 'high'), 'loudness_z': ('quiet', 'loud'), 'pitch_range_z': ('flat', 'lively'),
             'rate_z': ('slow', 'fast'), 'tremor_z': ('steady', 'shaky')}
    strongest = sorted(words, key=lambda name: -abs(measured[name]))
    said = [words[name][measured[name] > 0] for name in strongest if abs(measured[name]) >= 0.7][:3]
    if 'quiet' in said and 'steady' in said:
        said.remove('steady')
    if not said:
        return ('nothing stands out in the voice' if label == 'neutral' else
                f'pitch, loudness and pace do not stand out, but the voice sounds {HEARD.get(label, label)}')
    return 'the voice is ' + (f'{", ".join(said[:-1])} and {said[-1]}' if len(said) > 1 else said[0])


def head() -> dict[str, Any]:
    """The arrays of the head that ships."""
    with (files('emavatar_ros.perception') / 'data' / 'voice_head.npz').open('rb') as file, \
            np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def create(config: Config | None = None) -> EncoderVoice:
    """The view with the head that ships."""
    return EncoderVoice(head(), config)
