"""turn.json: a turn's results as a JSON object that follows turn_schema.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.record import emotion_json
from emavatar_ros.planning.script import Script
from emavatar_ros.reply import MP4, WAV, Performed
from emavatar_ros.senses import Perceived

STAGES: Final = ('listening', 'perception', 'deliberation', 'planning', 'voice', 'face', 'total', 'first_audio')


@dataclass(frozen=True)
class TurnRecord:
    """One turn. timings: wall seconds by STAGES, 0 where there was nothing to do; models: which model did which job
    (listening; words, voice, face, whole: the views; reply, speech, renderer)."""

    perceived: Perceived
    estimate: Estimate
    script: Script
    performed: Performed
    timings: Mapping[str, float]
    models: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """The object that turn.json holds."""
        perceived = self.perceived.as_json()
        return {
            'transcript': perceived['transcript'],
            'emotion': emotion_json(self.estimate),
            'candidates': perceived['candidates'],
            'missing': perceived['missing'],
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
