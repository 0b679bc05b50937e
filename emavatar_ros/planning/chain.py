"""The chain of empathy: what happened, what the visitor feels, because of what, and what the reply is to do.

After Empatheia (AvaMERG's annotation): published with every script, so that a reply can be understood later. Rules find
the first three in the visitor's own words, English and Spanish at once (a recogniser may name the wrong language); the
goal comes with the manner in which a feeling is answered. A language model may tell the chain better (`ask`), after the
reply, where it has the time.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from typing import Any, Final

import yaml

from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.labels import UNPLEASANT, UNSURE
from emavatar_ros.errors import EmavatarError
from emavatar_ros.history import Line
from emavatar_ros.models.llm import Limits, Llm, Message, Request
from emavatar_ros.perception.verdict import objects
from emavatar_ros.planning import texts
from emavatar_ros.planning.manner import manner
from emavatar_ros.planning.script import ChainOfEmpathy

LONGEST: Final = 160
"""Characters of one link of the chain."""
READ: Final = 500
"""Characters of the visitor's words that are read."""
RECENT: Final = 4
"""Earlier lines of the visitor's in which a cause is looked for."""
NOTHING: Final = 'nothing was said'
UNTOLD: Final = 'not told'
LINKS: Final = ('event_scenario', 'emotion_cause', 'goal_to_response')
"""What a model tells of the chain."""
SCHEMA: Final[Mapping[str, Any]] = {
    'type': 'object', 'additionalProperties': False, 'required': list(LINKS),
    'properties': {name: {'type': 'string', 'maxLength': LONGEST} for name in LINKS}}

_PART: Final = re.compile(r'(?<!\?P)<(\w+)>')
_EDGE: Final = re.compile(r'[,;:] |\b(?:and|but|y|pero) ', re.IGNORECASE)
"""Where a clause begins."""


def chain(text: str, estimate: Estimate, history: Sequence[Line] = ()) -> ChainOfEmpathy:
    """The chain by rules. text: the visitor's words, '' for none; history: what was said before, oldest first, where a
    cause is looked for when these words only name a feeling ("I'm so sad")."""
    told = _tidy(text)[:READ]
    event, cause = _event(told), _cause(_sentences(told))[1]
    if not cause and told and (not event or _is('bare', event)):
        before = [_tidy(line.text)[:READ] for line in reversed(history) if line.role == 'visitor']
        for said in before[:RECENT]:
            cause = _cause(_sentences(said))[1]
            if cause:
                event = _event(said)
                break
    asked = _is('asking', event) or (event.endswith('?') and estimate.label in ('neutral', UNSURE))
    if not cause and event and not _is('bare', event) and not asked:
        cause = event
    return ChainOfEmpathy(event or told[:LONGEST] or NOTHING, estimate.label, cause or UNTOLD, _goal(told, estimate))


def ask(llm: Llm, known: ChainOfEmpathy, text: str, reply: str, seconds: float, counts: Counter[str]
        ) -> ChainOfEmpathy:
    """The chain as the model tells it, `known` where it doesn't, in `seconds` at most. The feeling stays the arbiter's.

    counts learns what became of it: chain: read, chain: unreadable, chain: unavailable.
    """
    asked = json.dumps({'visitor': text[:600], 'feeling': known.user_emotion, 'reply': reply[:400]}, ensure_ascii=False)
    messages = (Message('system', texts.read('chain.txt')), Message('user', asked))
    answer = ''
    try:
        request = Request(messages, 120, schema=SCHEMA)
        with closing(llm.stream(request, Limits(seconds, seconds, seconds))) as stream:
            for piece in stream:
                answer += piece
                if len(answer) > 2000:
                    break
    except EmavatarError:
        counts['chain: unavailable'] += 1
        return known
    links: dict[str, str] = {}
    for value in objects(answer):
        links |= {name: _cut(_tidy(said)) for name in LINKS
                  if isinstance(said := value.get(name), str) and said.strip()}
    counts['chain: read' if links else 'chain: unreadable'] += 1
    return replace(known, **links)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], ...], dict[str, re.Pattern[str]]]:
    """The patterns of causes in their order, and the other ones by name."""
    data: dict[str, Any] = yaml.safe_load(texts.read('chain.yaml'))

    def made(pattern: str) -> re.Pattern[str]:
        while _PART.search(pattern):  # parts have parts
            pattern = _PART.sub(lambda part: str(data['parts'][part[1]]), pattern)
        return re.compile(pattern, re.IGNORECASE)

    others = ('bare', 'greeting', 'hedge', 'asking')
    return tuple(map(made, data['causes'])), {name: made(data[name]) for name in others}


def _is(kind: str, text: str) -> bool:
    return bool(_patterns()[1][kind].match(text))


def _tidy(text: str) -> str:
    return ' '.join(text.replace('’', "'").split())


def _sentences(told: str) -> list[str]:
    return [part.strip() for part in re.split(r'(?<=[.!?…])\s+', told) if part.strip(' .!?…,;')]


def _event(told: str) -> str:
    """The sentence that tells what happened: where the cause is, else the first that is more than a greeting or a bare
    feeling, else the first that is more than a greeting; '' without any."""
    sentences = _sentences(told)
    place, _ = _cause(sentences)
    said = [sentence for sentence in sentences if not _is('greeting', sentence)]
    if place is None:
        telling = [sentence for sentence in said if not _is('bare', sentence)]
        return _cut((telling or said or [''])[0])
    before = sentences[place - 1] if place else ''
    if re.match(r'(?:he|she|it)\b', sentences[place], re.IGNORECASE) and before in said and not _is('bare', before):
        return _cut(f'{before} {sentences[place]}')  # whom it is about was said before
    return _cut(sentences[place])


def _cause(sentences: Sequence[str]) -> tuple[int | None, str]:
    """Which sentence says why, and the clause; None and '' when none does."""
    for pattern in _patterns()[0]:
        for place, sentence in enumerate(sentences):
            if found := pattern.search(sentence):
                begins, ends = found.span('cause')
                if begins == found.start():
                    begins = max((edge.end() for edge in _EDGE.finditer(sentence, 0, begins)), default=0)
                return place, _cut(_patterns()[1]['hedge'].sub('', sentence[begins:ends].strip(' ,;:¡¿')))
    return None, ''


def _goal(told: str, estimate: Estimate) -> str:
    """What the reply is to do: the manner's goal, sharpened by what the words ask for."""
    goal = manner(estimate).goal
    if not told or estimate.label in UNPLEASANT:
        return f'answer the feeling beneath the words: {goal}' if estimate.conflict and told else goal
    if told.endswith('?') or _is('asking', told):
        return f'meet the question; {goal}'
    return goal


def _cut(text: str) -> str:
    """At most LONGEST characters, ended at a word."""
    return text if len(text) <= LONGEST else text[:LONGEST - 1].rsplit(' ', 1)[0] + '…'
