"""turn.json: a turn's record follows the schema that ships, and the schema refuses what breaks the contract."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from emavatar_ros.emotion.candidate import Candidate, Estimate, Exchange
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.planning.script import Beat, ChainOfEmpathy, Script
from emavatar_ros.reply import Performed
from emavatar_ros.senses import Perceived
from emavatar_ros.turn_record import TurnRecord, schema
from emavatar_ros.voice.speech import Phoneme

SAD = Distribution.from_mapping({'sad': 0.7, 'neutral': 0.2, 'angry': 0.1})
SCRIPT = Script((Beat('I am sorry.', 'softly', 'sad'), Beat('What happened?', 'warmly', 'neutral')), 'sad', 'en', 'llm',
                ChainOfEmpathy('a loss', 'sad', 'the loss', 'to console'), complete=True)
PERFORMED = Performed(24_000, 3.25, (Phoneme('aɪ', 0.1, 0.12),), 25.0, 720, 720, 92, 'llvmpipe', 1.5, 2.5, 12.0)
CANDIDATES = (Candidate.of('words', 'minilm', SAD, 'Words of loss.'),
              Candidate.abstain('voice', 'none', 'no sound was given'),
              Candidate.abstain('face', 'none', 'no picture was given'),
              Candidate.abstain('whole', 'none', 'no omni model is configured'))


def record(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        'perceived': Perceived('My dog died.', 'en', 1.0, CANDIDATES),
        'estimate': Estimate('sad', 0.7, SAD, -0.5, -0.3, True, 'questions', ('The words are sad.',),
                             (Exchange(1, 'Is the voice shaking?', 'Yes.', 'voice'),)),
        'script': SCRIPT, 'performed': PERFORMED,
        'timings': {'planning': 2.0, 'total': 9.0}, 'models': {'speech': 'kokoro', 'words': 'minilm'}}
    made: dict[str, Any] = json.loads(TurnRecord(**(values | changes)).dumps())
    return made


def valid(content: dict[str, Any]) -> bool:
    return jsonschema.Draft202012Validator(schema()).is_valid(content)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_a_record_follows_it() -> None:
    content = record()
    jsonschema.validate(content, schema())
    assert [candidate['view'] for candidate in content['candidates']] == ['words']
    assert [entry['view'] for entry in content['missing']] == ['voice', 'face', 'whole']
    assert list(content['emotion']['distribution']) == list(LABELS)
    assert content['emotion']['rounds'] == len(content['emotion']['questions']) == 1
    assert content['timings']['listening'] == 0


def test_silence_follows_it() -> None:
    nothing = [Candidate.abstain(view, 'none', 'nothing was heard') for view in ('words', 'voice', 'face', 'whole')]
    content = record(perceived=Perceived('', '', 0.0, tuple(nothing)),
                     estimate=Estimate('unsure', 0.0, Distribution.uniform(), 0.0, 0.0))
    jsonschema.validate(content, schema())
    assert content['candidates'] == [] and len(content['missing']) == 4


def _edit(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def edit(content: dict[str, Any]) -> None:
        at: Any = content
        for step in path[:-1]:
            at = at[step]
        if to is None:
            del at[path[-1]]
        else:
            at[path[-1]] = to
    return edit


@pytest.mark.parametrize('edit', [
    _edit('transcript', to=None), _edit('emotion', 'label', to='bored'), _edit('emotion', 'confidence', to=1.1),
    _edit('emotion', 'distribution', 'sad', to=None), _edit('emotion', 'distribution', 'bored', to=0.0),
    _edit('emotion', 'valence', to=-2), _edit('candidates', 0, 'label', to='unsure'),
    _edit('candidates', 0, 'view', to='smell'), _edit('script', 'composer', to='human'),
    _edit('script', 'iterations', to=3), _edit('script', 'scores', 'empathy', to=6), _edit('script', 'beats', to=[]),
    _edit('speech', 'file', to='/tmp/reply.wav'), _edit('speech', 'phonemes', 0, 'start', to=-0.1),
    _edit('face', 'images', to=0), _edit('timings', 'first_audio', to=None), _edit('timings', 'total', to=-1),
    _edit('models', 'speech', to=3), _edit('extra', to=1)])
def test_the_schema_refuses(edit: Callable[[dict[str, Any]], None]) -> None:
    content = copy.deepcopy(record())
    assert valid(content)
    edit(content)
    assert not valid(content)
