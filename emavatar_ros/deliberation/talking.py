"""How a language model plays a role: what it is told, how long it may take, and what becomes of its answer.

Everything a visitor said or showed goes in as one quoted JSON object. An answer that can't be read is asked for once
more, while there is time, and then dropped and counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib.resources import files
from typing import Any, Final, TypeVar

from emavatar_ros.deliberation.roles import Left, Seen
from emavatar_ros.errors import EmavatarError
from emavatar_ros.models.llm import Limits, Llm, Message, Request

T = TypeVar('T')
LINES: Final = 6
"""Lines said before that a model is told."""
LONGEST: Final = 4096
TOKENS: Final = 160
AGAIN: Final = 'That was not the JSON object asked for. Answer again, with the JSON object only.'


def prompt(name: str) -> Message:
    """The instructions of a role: a text file in prompts/."""
    return Message('system', (files('emavatar_ros.prompts') / f'{name}.txt').read_text(encoding='utf-8'))


def told(seen: Seen, **more: Any) -> dict[str, Any]:
    """What inspector and judge are told of a case."""
    views = [{'view': item.view, 'says': item.label, 'confidence': round(item.confidence, 2), 'because': item.evidence}
             if item.label else {'view': item.view, 'says': None, 'because': item.reason}
             for item in sorted(seen.candidates, key=lambda item: item.view)]
    return {'views': views, 'before': [{line.role: line.text} for line in seen.history[-LINES:]],
            'visitor_now': seen.text, **more}


def ask(llm: Llm, rules: Message, content: Mapping[str, Any], schema: Mapping[str, Any],
        read: Callable[[str], T | None], left: Left, counts: Counter[str],
        pictures: tuple[bytes, ...] = (), sounds: tuple[bytes, ...] = ()) -> T | None:
    """What `read` makes of the model's answer, or None. counts: learns what became of each answer."""
    messages: tuple[Message, ...] = (rules, Message('user', json.dumps(content, ensure_ascii=False), pictures, sounds))
    for repair in (False, True):
        answer = _answer(llm, messages, schema, left, counts)
        if answer is None:
            return None
        found = read(answer)
        if found is not None:
            counts['repaired' if repair else 'read'] += 1
            return found
        messages = (*messages, Message('assistant', answer[:500] or '{}'), Message('user', AGAIN))
    counts['dropped'] += 1
    return None


def _answer(llm: Llm, messages: tuple[Message, ...], schema: Mapping[str, Any], left: Left, counts: Counter[str]
            ) -> str | None:
    """What the model says in the time left; None when it is away or the time is over before it said anything."""
    time = left()
    if time <= 0:
        counts['late'] += 1
        return None
    answer = ''
    try:
        with closing(llm.stream(Request(messages, TOKENS, schema=schema), Limits(time, time, time))) as stream:
            for piece in stream:
                answer += piece
                if len(answer) > LONGEST:
                    break
    except EmavatarError:
        counts['late or away'] += 1
        if not answer:
            return None
    return answer
