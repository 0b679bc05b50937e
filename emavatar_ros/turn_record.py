"""turn.json: a turn's results as a JSON object that follows turn_schema.json."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from emavatar_ros.emotion.candidate import Candidate, Estimate
from emavatar_ros.emotion.labels import VIEWS
from emavatar_ros.planning.script import Script
from emavatar_ros.reply import MP4, WAV, Performed

UNKNOWN: Final = 'und'
"""BCP 47 for a language that isn't known."""
STAGES: Final = ('listening', 'perception', 'deliberation', 'planning', 'voice', 'face', 'total', 'first_audio')
NO_OMNI: Final = 'no model that takes words, voice and face together is configured'


@dataclass(frozen=True)
class TurnRecord:
    """One turn. text, language, confidence: the transcript; timings: wall seconds by STAGES, 0 where there was nothing
    to do; models: which model did which job (listening, words, voice, face: the views; reply, speech, renderer)."""

    text: str
    language: str
    confidence: float
    estimate: Estimate
    candidates: tuple[Candidate, ...]
    script: Script
    performed: Performed
    timings: Mapping[str, float]
    models: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """The object that turn.json holds."""
        seen = {candidate.view: candidate for candidate in self.candidates}
        missing = [{'view': view, 'reason': seen[view].reason if view in seen else NO_OMNI} for view in VIEWS
                   if view not in seen or seen[view].abstains]
        return {
            'transcript': {'text': self.text, 'language': self.language or UNKNOWN,
                           'confidence': _share(self.confidence)},
            'emotion': emotion(self.estimate),
            'candidates': [candidate_json(seen[view]) for view in VIEWS if view in seen and not seen[view].abstains],
            'missing': missing,
            'script': self.script.as_json(),
            'speech': speech(self.performed, self.models['speech']),
            'face': face(self.performed),
            'timings': {stage: round(max(0.0, self.timings.get(stage, 0.0)), 3) for stage in STAGES},
            'models': dict(self.models),
        }

    def dumps(self) -> str:
        """turn.json's text."""
        return dumps(self.as_json())

    def summary(self, out: Path) -> str:
        """One line for a person."""
        return (f'{out}: turn.json, {WAV}, {MP4} ({self.performed.seconds:.1f} s of speech, {self.performed.fps:g} '
                f'images/s) in {self.timings["total"]:.1f} s; the visitor seems {self.estimate.label}')


def emotion(estimate: Estimate) -> dict[str, Any]:
    """The `emotion` of turn.json."""
    return {'label': estimate.label, 'confidence': _share(estimate.confidence),
            'distribution': estimate.distribution.as_dict(), 'valence': _signed(estimate.valence),
            'arousal': _signed(estimate.arousal), 'conflict': estimate.conflict, 'rounds': estimate.rounds,
            'method': estimate.method, 'reasons': [reason for reason in estimate.reasons if reason],
            'questions': [{'round': item.round, 'question': item.question, 'answer': item.answer,
                           'source': item.source} for item in estimate.questions]}


def speech(performed: Performed, voice: str) -> dict[str, Any]:
    """The `speech` of turn.json."""
    return {'file': WAV, 'sample_rate': performed.sample_rate, 'seconds': round(performed.seconds, 4), 'voice': voice,
            'phonemes': [{'symbol': p.symbol, 'start': round(p.start, 4), 'duration': round(p.duration, 4)}
                         for p in performed.phonemes]}


def face(performed: Performed) -> dict[str, Any]:
    """The `face` of turn.json."""
    return {'file': MP4, 'fps': performed.fps, 'width': performed.width, 'height': performed.height,
            'images': performed.images, 'renderer': performed.renderer}


def dumps(content: Mapping[str, Any]) -> str:
    """JSON text as a person can read it; a number that JSON doesn't know is an error."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + '\n'


def schema() -> dict[str, Any]:
    """The JSON schema that turn.json follows; it ships with the package."""
    text = resources.files('emavatar_ros').joinpath('turn_schema.json').read_text(encoding='utf-8')
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def candidate_json(candidate: Candidate) -> dict[str, Any]:
    """One of the `candidates` of turn.json; the distribution of a view that abstains is None."""
    known = candidate.distribution
    return {'view': candidate.view, 'label': candidate.label, 'confidence': _share(candidate.confidence),
            'distribution': None if known is None else known.as_dict(), 'valence': _signed(candidate.valence),
            'arousal': _signed(candidate.arousal), 'evidence': candidate.evidence, 'model': candidate.model}


def _share(value: float) -> float:
    return round(min(max(float(value), 0.0), 1.0), 4) if math.isfinite(value) else 0.0


def _signed(value: float) -> float:
    return round(min(max(float(value), -1.0), 1.0), 4) if math.isfinite(value) else 0.0
