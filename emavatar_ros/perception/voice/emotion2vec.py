"""What the voice shows, by emotion2vec plus: a large speech model fine-tuned on emotions.

Model: by default emotion2vec/emotion2vec_plus_large (300 million parameters; FunASR's model licence, which asks to name
the source; also as iic/emotion2vec_plus_large on ModelScope: name the folder it was downloaded to), or
emotion2vec/emotion2vec_plus_base (90 million). Languages: many. Hardware: a GPU, or several cores. Extra: funasr.

Nine outputs; `other` and `unknown` are doubt, and half of them or more abstention. It does not know contempt, for
which a small fixed share is kept. It judges each utterance alone, without a baseline of the person. `trust` holds its
confidence back, which no data of ours has calibrated. Nothing is downloaded unless `fetch` says so, and the library's
own look for updates is switched off. A model's folder is trusted: the library evaluates a line of its configuration.
Real loading code is tested on a tiny model of the same architecture; the published weights were not run by us.
"""

from __future__ import annotations

import logging
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.mappings import canonical, distribution
from emavatar_ros.errors import BadInput
from emavatar_ros.media.audio import Audio
from emavatar_ros.models import hub
from emavatar_ros.perception.voice import VIEW
from emavatar_ros.settings import setting

RATE: Final = 16000
NEEDED: Final = ('config.yaml', 'tokens.txt', 'model.pt')
WANTED: Final = ('*.yaml', '*.json', 'tokens.txt', 'model.pt')


@dataclass(frozen=True)
class Config:
    """Settings of emotion2vec."""

    model: str = setting('emotion2vec/emotion2vec_plus_large', "a hub's name or a folder")
    device: str = setting('', 'where it computes, as torch names it: cpu, cuda, cuda:1; empty: a GPU if there is one')
    threads: int = setting(2, 'threads that compute on a CPU', low=1, high=64)
    shortest: float = setting(0.4, 'least sound to judge', unit='s', low=0.1, high=5.0)
    longest: float = setting(15.0, 'of a longer utterance the end is judged', unit='s', low=1.0, high=60.0)
    quietest: float = setting(-55.0, 'level below which nothing is judged', unit='dB', low=-90.0, high=-20.0)
    least: float = setting(0.3, 'confidence below which the view abstains', low=0.0, high=1.0)
    trust: float = setting(0.8, 'how far its probabilities are believed; the rest is spread evenly', low=0.1, high=1.0)
    fetch: bool = setting(False, 'download the model from its hub when it is not on this machine')
    patience: float = setting(1800.0, 'longest download', unit='s', low=1.0, high=86400.0)


class Emotion2vec:
    """Judges one utterance at a time; learns nothing of anybody. One thread at a time."""

    def __init__(self, config: Config, path: Path) -> None:
        """Load from a folder; raises BadInput when it holds no such model."""
        root = logging.getLogger()
        before = root.level, list(root.handlers)
        try:
            # The library talks on standard output and sets up everybody's logging.
            with redirect_stdout(sys.stderr):
                import torch
                from funasr import AutoModel

                self._model: Any = AutoModel(
                    model=str(path), disable_update=True, disable_pbar=True, log_level='ERROR', ncpu=config.threads,
                    device=config.device or ('cuda' if torch.cuda.is_available() else 'cpu'))
        except (OSError, ValueError, KeyError, RuntimeError, AssertionError, AttributeError, UnpicklingError) as error:
            raise BadInput(f'{path} cannot be loaded by funasr: {" ".join(str(error).split())[:200]}') from None
        finally:
            root.setLevel(before[0])
            root.handlers[:] = before[1]
        self.config = config
        self.name = config.model.rstrip('/').rsplit('/', 1)[-1]

    def hear(self, audio: Audio, embedding: NDArray[np.float32] | None = None, final: bool = True) -> Candidate:
        """What an utterance's sound shows; see the Protocol. The recogniser's states are not used, nothing is kept."""
        samples = np.nan_to_num(audio.mono(RATE).samples)[-round(self.config.longest * RATE):]
        if len(samples) < self.config.shortest * RATE:
            return Candidate.abstain(VIEW, self.name, 'too little was said to judge the voice')
        if 20 * np.log10(np.sqrt(np.mean(np.square(samples, dtype=np.float64))) + 1e-9) < self.config.quietest:
            return Candidate.abstain(VIEW, self.name, 'the voice is too quiet to judge')
        try:
            answer = self._model.generate(samples, fs=RATE, granularity='utterance', extract_embedding=False)[0]
        except RuntimeError as error:  # a GPU's memory is full: the next utterance may find it free
            return Candidate.abstain(VIEW, self.name, f'the model failed: {" ".join(str(error).split())[:120]}')
        # Labels come in two languages, "难过/sad".
        labels = [canonical(str(label).rsplit('/', 1)[-1]) for label in answer['labels']]
        found, nothing = distribution(labels, answer['scores'])
        if found is None or nothing >= 0.5:
            return Candidate.abstain(VIEW, self.name, 'the model hears none of the eight emotions')
        found = Distribution.mix(((self.config.trust, found), (1 - self.config.trust, Distribution.uniform())))
        confidence = found.confidence * (1 - nothing)
        if confidence < self.config.least:
            return Candidate.abstain(VIEW, self.name, 'the voice shows no clear emotion')
        sound = 'afraid' if found.label == 'fear' else found.label
        return Candidate.of(VIEW, self.name, found, f'the voice sounds {sound}', confidence=confidence)

    def forget(self) -> None:
        """Nothing is kept of anybody."""


def create(config: Config | None = None) -> Emotion2vec:
    """The configured model from its folder or the hub's cache; raises Missing, saying how to get it."""
    config = config or Config()
    hub.require('funasr', 'torch', 'funasr')
    return Emotion2vec(config, hub.folder(config.model, NEEDED, WANTED, 'funasr', config.fetch, config.patience))
