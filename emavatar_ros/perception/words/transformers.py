"""The words view by a text classifier of the transformers library.

Model: by default SamLowe/roberta-base-go_emotions (MIT; RoBERTa base, 125 million parameters, 0.5 GB; GoEmotions' 28
labels, several at once; English). Any sequence classifier whose labels are emotions will do, such as
j-hartmann/emotion-english-distilroberta-base (seven labels; its publisher names no licence), or a folder with one.
Hardware: a GPU, or one to two cores and some tens of milliseconds a sentence. Extra: transformers.

Its labels are read by emotion/mappings.py; what is none of ours becomes doubt, and half of it or more abstention. No
such model knows contempt, so a small fixed share is kept for it. `temperature` softens: measure it on your visitors'
words, no calibration data is here. Nothing is downloaded unless `fetch` says so. Real loading code is tested on a tiny
model of the same architecture; the published weights were not run by us.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.mappings import canonical, distribution
from emavatar_ros.errors import BadInput
from emavatar_ros.history import Line
from emavatar_ros.models import hub
from emavatar_ros.perception.words import VIEW
from emavatar_ros.settings import setting

NEEDED: Final = ('config.json', '*.safetensors', 'tokenizer*')
WANTED: Final = ('*.json', '*.safetensors', '*.txt', '*.model')


@dataclass(frozen=True)
class Config:
    """Settings of the classifier."""

    model: str = setting('SamLowe/roberta-base-go_emotions', "a hub's name or a folder, with .safetensors weights")
    languages: str = setting('en', 'languages that the model reads, BCP 47, comma-separated; empty: every one')
    device: str = setting('', 'where it computes, as torch names it: cpu, cuda, cuda:1; empty: a GPU if there is one')
    temperature: float = setting(1.5, 'what the log-probabilities are divided by: above 1 is less sure', low=0.1,
                                 high=10.0)
    longest: int = setting(256, 'words and pieces of words that are read; what follows is cut', low=16, high=4096)
    fetch: bool = setting(False, 'download the model from its hub when it is not on this machine')
    patience: float = setting(600.0, 'longest download', unit='s', low=1.0, high=86400.0)


class Classifier:
    """Reads one utterance at a time; keeps nothing. One thread at a time."""

    def __init__(self, config: Config, path: Path) -> None:
        """Load from a folder; raises BadInput when it holds no emotion classifier."""
        import torch
        import transformers
        from safetensors import SafetensorError

        self._torch: Any = torch
        self._config = config
        self._known = {name.strip().lower() for name in config.languages.split(',') if name.strip()}
        self.name = config.model.rstrip('/').rsplit('/', 1)[-1]
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            model, told = transformers.AutoModelForSequenceClassification.from_pretrained(
                path, local_files_only=True, use_safetensors=True, output_loading_info=True)
            if told['missing_keys']:
                raise ValueError('weights are missing, the library would make some up')
            self._device = config.device or ('cuda' if torch.cuda.is_available() else 'cpu')
            self._model = model.to(self._device).eval()
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            said = ' '.join(str(error).split())[:200]
            raise BadInput(f'{path} cannot be loaded as a text classifier: {said}') from None
        names = self._model.config.id2label
        self._labels = [canonical(str(names[index])) for index in sorted(names)]
        if len({label for label in self._labels if label}) < 3:
            raise BadInput(f'{self.name} tells no emotions: its labels are {", ".join(map(str, names.values()))[:120]}')
        self._several = self._model.config.problem_type == 'multi_label_classification'

    def read(self, text: str, language: str = 'en', history: Sequence[Line] = ()) -> Candidate:
        """What `text` says the visitor feels; see the Protocol. The history is not used."""
        if not re.search(r'[^\W_]', text):
            return Candidate.abstain(VIEW, self.name, 'nothing was said')
        primary = language.replace('_', '-').split('-')[0].lower()
        if self._known and primary not in self._known:
            reason = f'the model reads {", ".join(sorted(self._known))}, not {primary!r}'
            return Candidate.abstain(VIEW, self.name, reason if primary else 'the language is not known')
        found, nothing = distribution(*self._outputs(text.strip()))
        if found is None or nothing >= 0.5:
            return Candidate.abstain(VIEW, self.name, 'the model finds none of the eight emotions in the words')
        found = Distribution.from_logits(np.log(found.array), self._config.temperature)
        return Candidate.of(VIEW, self.name, found, f'the words as a whole sound {found.label}',
                            confidence=found.confidence * (1 - nothing))

    def warm_up(self) -> None:
        """Read something, so that the first visitor doesn't wait."""
        self._outputs('Hello there, how are you?')

    def _outputs(self, text: str) -> tuple[list[str | None], NDArray[np.float64]]:
        """The model's labels in ours, and their probabilities float64 [labels], which sum to 1 or more."""
        with self._torch.inference_mode():
            tokens = self._tokenizer(text, truncation=True, max_length=self._limit(), return_tensors='pt')
            logits = self._model(**tokens.to(self._device)).logits[0].double().cpu().numpy().clip(-60, 60)
        if not self._several:
            weights = np.exp(logits - logits.max())
            return self._labels, weights / weights.sum()
        # Each label may hold or not; where all of them together are unlikely, the rest is doubt.
        shares = 1 / (1 + np.exp(-logits))
        return [*self._labels, None], np.append(shares, max(0.0, 1 - shares.sum()))

    def _limit(self) -> int:
        return int(min(self._config.longest, self._tokenizer.model_max_length,
                       getattr(self._model.config, 'max_position_embeddings', 512) - 2))


def create(config: Config | None = None) -> Classifier:
    """The configured classifier from its folder or the hub's cache; raises Missing, saying how to get it."""
    config = config or Config()
    hub.require('transformers', 'torch', 'transformers')
    path = hub.folder(config.model, NEEDED, WANTED, 'transformers', config.fetch, config.patience)
    return Classifier(config, path)


