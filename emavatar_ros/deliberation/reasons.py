"""Says in sentences a person can read why an estimate is as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from emavatar_ros.deliberation.cues import Cues
from emavatar_ros.deliberation.roles import Seen
from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.labels import LABELS, UNSURE, VIEWS

LEAST_TELLING: Final = 0.3
"""A cue is named as a reason from this much more likelihood on, in nats."""

ADJECTIVE: Final = {'angry': 'angry', 'contempt': 'contemptuous', 'disgusted': 'disgusted', 'fear': 'afraid',
                    'happy': 'happy', 'neutral': 'neutral', 'sad': 'sad', 'surprised': 'surprised'}
SEEMS: Final = {'words': 'the words sound', 'voice': 'the voice sounds', 'face': 'the face looks',
                'whole': 'the whole seems'}
MASK: Final = {'angry': 'sarcasm is likely', 'contempt': 'sarcasm is likely', 'disgusted': 'sarcasm is likely',
               'fear': 'nervousness is likely behind it', 'sad': 'irony or a brave face is likely'}


def reasons(label: str, views: Sequence[Candidate], candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The sentences, most telling first: how the views stand to each other, their evidence, what was missing."""
    said = [_standing(label, views)]
    said += [f'{view.view}: {view.evidence}' for view in views if view.evidence]
    seen = {view.view for view in views}
    said += [f'no {item.view}: {item.reason}' for item in sorted(candidates, key=lambda item: item.view)
             if item.abstains and item.reason and item.view not in seen]
    return tuple(said)


def because(label: str, seen: Seen, table: Cues) -> tuple[str, ...]:
    """The sentences of a deliberation, most telling first: how the views stand, what the answers showed of the label,
    then the views' evidence and what was missing."""
    views = [item for item in seen.candidates if not item.abstains]
    views.sort(key=lambda item: VIEWS.index(item.view) if item.view in VIEWS else len(VIEWS))
    first, *rest = reasons(label, views, seen.candidates)
    shown = _shown(label, seen, table)
    if shown:
        first += f'; and {_and(shown)}'
    return (first, *rest)


def _shown(label: str, seen: Seen, table: Cues) -> list[str]:
    """At most three cues that speak for the label against its strongest rival, the strongest first, in plain words."""
    told = [item for round in seen.rounds for item in round.measured if item.measure in table.known]
    if label == UNSURE or not told:
        return []
    at = LABELS.index(label)
    rivals = [name for name in {item.label for item in seen.candidates} - {label, None} if name]
    found = []
    for item in told:
        row = table.known[item.measure].log_likelihood(np.array(item.value))
        against = max((row[LABELS.index(str(name))] for name in rivals), default=float(np.mean(row)))
        found.append((row[at] - against, item))
    found.sort(key=lambda pair: (-pair[0], pair[1].measure))
    return [table.known[item.measure].tell(item.value) for gain, item in found[:3] if gain > LEAST_TELLING]


def _standing(label: str, views: Sequence[Candidate]) -> str:
    heard = [f'{SEEMS.get(view.view, f"the {view.view} seems")} {_adjective(view)}' for view in views]
    if len({view.label for view in views}) == 1:
        text = _and(heard)
        return text if label != UNSURE else f'{text}, but not clearly enough to be sure'
    # What is pleasant on one side (what is plain, when nothing is), the rest on the other.
    light = 'happy' if any(view.label == 'happy' for view in views) else 'neutral'
    bright = [text for text, view in zip(heard, views, strict=True) if view.label == light]
    rest = [text for text, view in zip(heard, views, strict=True) if view.label != light]
    text = f'{_and(bright)}, but {_and(rest)}' if bright and rest else ', but '.join(heard)
    if label == UNSURE:
        return f'{text}: too contradictory to be sure'
    words = next((view for view in views if view.view == 'words'), None)
    others_hurt = any(view.view != 'words' and view.label not in ('happy', 'neutral', 'surprised') for view in views)
    if label in MASK and words is not None and words.label in ('happy', 'neutral') and others_hurt:
        happy = words.label == 'happy'
        return f'{text}: {MASK[label] if happy or label in ("sad", "fear") else "polite words over another feeling"}'
    return f'{text}: most of the evidence says {ADJECTIVE[label]}'


def _adjective(view: Candidate) -> str:
    if view.label == 'neutral':
        return {'words': 'plain', 'voice': 'flat', 'face': 'calm'}.get(view.view, 'neutral')
    return ADJECTIVE[view.label or 'neutral']


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f'{", ".join(parts[:-1])} and {parts[-1]}'
