"""faster-whisper: speech recognition in 99 languages, and the voice's embedding from the same pass.

Model: Whisper base (OpenAI, MIT) as CTranslate2 int8 (Systran/faster-whisper-base), 145 MB, about 380 MB of memory,
any CPU; larger folders of the same format can be named. Measured on one thread for sentences of 3 s: 0.25 s
of processor time for the encoder, 0.05 for the language, 0.3 for the words.

Design: the encoder runs once; its states give the language, the words and the embedding. Whisper was trained on 30 s
windows; a window of 4 s more than the sound, at least 8 s, is a tenth of the work and read 20 test sentences equally
well (one of 1 s more repeats itself without end). What repeats itself or is doubtful is tried again with 30 s.
Whisper invents words for noise ("you", "1.5"): its own probability of no speech, the mean log-probability and
repetition decide, and those rules are here, so that every caller has them. Threading: one caller at a time.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emavatar_ros.errors import Missing
from emavatar_ros.listening.transcription import PIECE, Transcription, join
from emavatar_ros.media.audio import Audio, Samples
from emavatar_ros.settings import setting

RATE: Final = 16_000
HOP: Final = 160
"""Samples for each column of the spectrogram; the encoder halves the rate to one state per 20 ms."""
LONGEST: Final = 30.0
SHORTEST: Final = 0.1
LOUDNESS: Final = -18.0
"""Level that the loud parts of every sound are brought to, in dB re full scale."""
QUIETEST: Final = 1e-4
"""Peak below which a sound is silence (-80 dB)."""
INVENTED: Final = frozenset((
    'you', 'thank you', 'thanks for watching', 'thank you for watching', 'thanks', 'bye', 'okay', 'so', 'the end',
    'please subscribe', 'subtitles by the amara org community', "i'm sorry", 'gracias', 'amara org'))
"""What Whisper says to noise most often; taken only when it is sure that there was speech."""


@dataclass(frozen=True)
class Config:
    """Settings of the recogniser."""

    folder: str = setting('', 'folder of a faster-whisper model; empty takes whisper-base from the model store')
    device: str = setting('auto', 'where it runs: auto takes a CUDA GPU where there is one',
                          choices=('auto', 'cpu', 'cuda'))
    compute: str = setting('int8', 'arithmetic; int8_float16 or float16 suit a GPU',
                           choices=('int8', 'int8_float16', 'float16', 'float32'))
    threads: int = setting(2, 'processor threads', low=1, high=32)
    beam: int = setting(1, 'hypotheses followed at once; 5 is a little better and takes twice as long', low=1, high=10)
    language: str = setting('', 'language every visitor speaks (ISO 639-1); empty detects it')
    languages: str = setting('en es fr it pt de hi ja zh', 'languages a visitor may speak; empty allows all')
    fallback_language: str = setting('en', 'language assumed when a first utterance is too unclear to tell')


class Whisper:
    """A faster-whisper model folder, loaded."""

    def __init__(self, folder: Path, config: Config | None = None) -> None:
        self.config = config or Config()
        try:
            import ctranslate2
            import tokenizers
            from faster_whisper.feature_extractor import FeatureExtractor
        except ImportError as error:
            raise Missing(f"faster-whisper can't be imported ({error}): pip install 'emavatar-ros[embedded]'") from None
        if not (folder / 'model.bin').is_file() or not (folder / 'tokenizer.json').is_file():
            raise Missing(f'{folder} is no faster-whisper model: run "emavatar models pull"')
        self.name = folder.name
        self._storage = ctranslate2.StorageView.from_array
        try:
            self._model: Any = ctranslate2.models.Whisper(str(folder), device=self.config.device,
                                                          compute_type=self.config.compute,
                                                          intra_threads=self.config.threads)
        except (RuntimeError, ValueError) as error:
            asked = f'{self.config.device} with {self.config.compute}'
            raise Missing(f'the recogniser does not start on {asked} ({error}): set whisper.device to cpu and '
                          'whisper.compute to int8') from None
        self._features: Any = FeatureExtractor(feature_size=self._model.n_mels)
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(folder / 'tokenizer.json'))
        self._allowed = frozenset(self.config.languages.split())

    def warm_up(self) -> None:
        """Run once, so that the first visitor doesn't wait for memory to be laid out."""
        self.transcribe(Audio(np.random.default_rng(0).normal(0, 0.01, RATE).astype(np.float32), RATE))

    def transcribe(self, audio: Audio, language: str | None = None, expected: str | None = None) -> Transcription:
        """The words in a sound of any length and rate.

        language (ISO 639-1) is believed when given; otherwise it is detected, and `expected` (what the visitor spoke
        so far) is kept unless another is heard clearly. The text is '' for silence, noise and music.
        """
        samples = audio.mono(RATE).samples
        if len(samples) < SHORTEST * RATE or np.abs(samples).max() < QUIETEST:
            return Transcription('', '', 0.0, reason='silence')
        size = int(PIECE * RATE)
        parts: list[tuple[int, Transcription]] = []
        for start in range(0, len(samples), size):
            piece = samples[start:start + size]
            if len(piece) >= SHORTEST * RATE:
                parts.append((len(piece), self._piece(piece, language, expected)))
                expected = parts[-1][1].language or expected
        return join(parts)

    def _piece(self, samples: Samples, language: str | None, expected: str | None) -> Transcription:
        seconds = len(samples) / RATE
        window = min(LONGEST, max(8.0, seconds + 4.0))
        states, embedding = self._encode(samples, window)
        spoken = language or self.config.language or self._language(states, seconds, expected)
        text, score, no_speech, doubt = self._words(states, spoken, seconds)
        if doubt and no_speech < 0.6 and window < LONGEST:
            states, _ = self._encode(samples, LONGEST)
            text, score, no_speech, doubt = self._words(states, spoken, seconds)
        if doubt:
            return Transcription('', spoken, 0.0, embedding, doubt)
        return Transcription(text, spoken, float(np.exp(min(score, 0.0))), embedding)

    def embed(self, samples: Samples, window: float = 8.0) -> NDArray[np.float32]:
        """The embedding alone, float32 [1024]: of mono 16 kHz sound, heard in a window of so many seconds."""
        return self._encode(samples, window)[1]

    def _encode(self, samples: Samples, window: float) -> tuple[Any, NDArray[np.float32]]:
        """Encoder states of the sound padded to `window` seconds, and their mean and deviation over the speech.

        The sound is brought to one loudness first: how far the microphone is must not change what is heard."""
        columns = int(window * RATE) // HOP // 2 * 2
        padded = np.zeros(columns * HOP, np.float32)
        padded[:len(samples)] = samples * 10 ** ((LOUDNESS - loud(samples)) / 20)
        spectrogram = np.ascontiguousarray(self._features(padded, padding=0)[None, :, :columns], np.float32)
        states = self._model.encode(self._storage(spectrogram), to_cpu=True)
        array = np.asarray(states, dtype=np.float32)[0]
        first, last = speech_span(samples)
        spoken = array[int(first * 50):max(int(first * 50) + 5, int(np.ceil(last * 50)))]
        return states, np.concatenate([spoken.mean(axis=0), spoken.std(axis=0)])

    def _language(self, states: Any, seconds: float, expected: str | None) -> str:
        """The language heard: the expected one unless another is clear; a very unclear first one is the fallback."""
        heard = [(token[2:-2], p) for token, p in self._model.detect_language(states)[0]]
        allowed = dict([(code, p) for code, p in heard if not self._allowed or code in self._allowed] or heard)
        best = max(allowed, key=lambda code: allowed[code])
        if expected and best != expected:
            clear = seconds >= 1.2 and allowed[best] >= 0.4 and allowed[best] >= 8 * allowed.get(expected, 0.0)
            return best if clear else expected
        return best if expected or allowed[best] >= 0.3 else self.config.fallback_language

    def _words(self, states: Any, language: str, seconds: float) -> tuple[str, float, float, str]:
        """Text, mean log-probability, probability of no speech, and why the text can't be believed ('' if it can)."""
        prompt = [self._tokenizer.token_to_id(token) for token in
                  ('<|startoftranscript|>', f'<|{language}|>', '<|transcribe|>', '<|notimestamps|>')]
        if None in prompt:
            raise Missing(f'the recogniser {self.name} does not know the language {language!r}')
        most = min(200, 16 + round(seconds * 14))  # nobody says more tokens a second; it bounds what runs away
        result = self._model.generate(states, [prompt], beam_size=self.config.beam, max_length=len(prompt) + most,
                                      return_scores=True, return_no_speech_prob=True)[0]
        tokens = [token for token in result.sequences_ids[0] if token < prompt[0] - 1]
        text = clean(self._tokenizer.decode(tokens))
        return text, result.scores[0], result.no_speech_prob, doubtful(text, result.scores[0], result.no_speech_prob,
                                                                       len(tokens) >= most - 1)


def doubtful(text: str, score: float, no_speech: float, cut: bool = False) -> str:
    """Why a text can't be believed, or ''. score: mean log-probability; cut: it did not come to an end."""
    bare = re.sub(r"[^\w' ]", '', text.lower()).strip()
    if not bare:
        return 'no words'
    if cut or (len(text) > 30 and len(text.encode()) / len(zlib.compress(text.encode())) > 2.4) or repeats(bare):
        return 'the words repeat themselves without end'
    if no_speech > 0.6 and score < -0.7:
        return 'no speech'
    if bare in INVENTED and (no_speech > 0.4 or score < -0.8):
        return 'no speech'
    if score < -1.3:
        return 'nothing intelligible'
    return ''


def repeats(text: str) -> bool:
    """True when a word comes seven times in a row, or two to eight words three times: a recogniser that is stuck."""
    return re.search(r'\b(\S+)(?: \1\b){6,}|\b(\S+(?: \S+){1,7}?)(?: \2\b){2,}', text) is not None


def clean(text: str) -> str:
    """Only what was said: no notes in brackets ([Music], *sighs*), no music signs, single spaces."""
    text = re.sub(r'\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♪♫�]', ' ', text)
    return ' '.join(text.split())


def levels(samples: Samples) -> NDArray[np.float64]:
    """Level of every 20 ms of a 16 kHz sound, in dB re full scale."""
    step = RATE // 50
    count = max(1, len(samples) // step)
    blocks = samples[:count * step].reshape(count, -1) if len(samples) >= step else samples[None]
    return np.asarray(10 * np.log10((blocks.astype(np.float64) ** 2).mean(axis=1) + 1e-10))


def loud(samples: Samples) -> float:
    """Level of the loud parts of a 16 kHz sound, in dB re full scale; silence around them changes nothing, and a click
    of some ms hardly anything."""
    level = levels(samples)
    return float(np.percentile(level[level > level.max() - 40], 90))


def speech_span(samples: Samples) -> tuple[float, float]:
    """First and last moment, in seconds, within 30 dB of the loud parts of a 16 kHz sound."""
    spoken = np.flatnonzero(levels(samples) > loud(samples) - 30)
    return float(spoken[0] / 50), float((spoken[-1] + 1) / 50)


def create(config: Config | None = None) -> Whisper:
    """The recogniser, from the named folder or the model store. Raises Missing when the model or faster-whisper isn't
    there."""
    config = config or Config()
    if config.folder:
        return Whisper(Path(config.folder).expanduser(), config)
    from emavatar_ros.models.store import Store

    return Whisper(Store().path('whisper-base'), config)
