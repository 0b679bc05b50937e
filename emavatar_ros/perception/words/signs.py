"""What can be counted in a visitor's words without a model: negation, laughter, irony and the like (English).

These are named as `deliberate`'s evidence names them, each 0/1 or a count. They are cues, not proof: irony most of
all, which is why `ironic` only takes certainty away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.history import Line

_PRAISE: Final = (
    r"(?:(?:oh|well|yeah|wow|just|that's|thats|how|so|really|absolutely|simply)[ ,]+)*"
    r"(?:great|wonderful|fantastic|perfect|lovely|brilliant|terrific|marvell?ous|super|nice|amazing|awesome|fabulous|"
    r"charming|delightful|splendid|what a joy|bravo)")
_UNWELCOME: Final = (
    r"(?:delay(?:s|ed)?|overtime|late|broken|broke|cancell?ed|lost|crash(?:ed|es)?|fail(?:ed|s)?|waiting|traffic|stuck|"
    r"queue|bills?|tax(?:es)?|fines?|raining|monday)")
_SARCASM: Final = tuple(re.compile(pattern, re.IGNORECASE) for pattern in (
    rf"^\W*{_PRAISE}\b ?[,.!…-]+ ?(?:just )?(?:yet )?(?:another|one more|again)\b",
    rf"^\W*{_PRAISE}\b ?[,.!…-]+ ?(?!.*\b(?:not|n't|no)\b).*\b{_UNWELCOME}\b",
    r"\bjust what (?:i|we) needed\b", r"\bjust my luck\b", r"\bthanks (?:a lot )?for nothing\b", r"\blucky me\b",
    r"^\W*(?:yeah|oh),? (?:right|sure)\b[,.!]", r"^\W*(?:oh[, ]+)?(?:please[, ]+)?as if\b", r"\bbig surprise\b",
    r"\bhow (?:very )?(?:original|thoughtful|convenient)\b[.!]",
    rf"\b(?:i|we) (?:just |really )?love (?:it when|waiting|being)\b.*\b{_UNWELCOME}\b"))
_PATTERNS: Final = {
    'negation': re.compile(r"\b(?:not|no|never|nobody|nothing|none|neither|nor|hardly|without|cannot|\w+n['’]t)\b",
                           re.I),
    'intensifier': re.compile(r"\b(?:very|really|so|such|extremely|totally|completely|absolutely|utterly|too|"
                              r"incredibly|terribly|awfully)\b", re.I),
    'laughter': re.compile(r"\b(?:(?:ha){2,}h?|(?:he){2,}|lol|lmao|rofl)\b|[😂🤣]", re.I),
    'swear': re.compile(r"\b(?:damn(?:ed)?|hell|shit(?:ty)?|fuck\w*|bloody|crap|bastards?|bitch(?:es)?|arse(?:hole)?s?|"
                        r"ass(?:hole)?s?|bullshit)\b", re.I),
    'apology': re.compile(r"\b(?:sorry|apologi[sz]e|apologies|forgive me|my fault|my bad)\b", re.I),
    'question': re.compile(r"\?"),
}
_REQUEST: Final = re.compile(
    r"(?:^|[.!,;…]\s*|\b(?:and|so|but|please)\s+)(?:where|when|which|how (?:much|many|long|far|(?:do|can) (?:i|we|you)|"
    r"(?:would|does) one)|what time|what(?: is|['’]s) (?:the|your)|(?:can|could) (?:you|i|we)|would you|will you|may i|"
    r"(?:is|are) there|do you have|have you got|is it possible)\b[^?]*\?", re.I)
_OPPOSITE: Final = {'happy': -1, 'sad': 1, 'angry': 1, 'disgusted': 1, 'fear': 1, 'contempt': 1}
_IRONY: Final = {'angry': 0.45, 'contempt': 0.25, 'sad': 0.2, 'disgusted': 0.1}
"""What praise of something unwelcome usually means."""


def measures(text: str, history: Sequence[Line] = (), label: str | None = None) -> dict[str, float]:
    """Counts of each cue, sarcasm_frame 0/1, and contradiction_with_history: 1 when `label`, read from this text, is
    the opposite of what the visitor last felt."""
    found = {name: float(len(pattern.findall(text))) for name, pattern in _PATTERNS.items()}
    found['sarcasm_frame'] = float(any(pattern.search(text) for pattern in _SARCASM))
    before = next((line.emotion for line in reversed(history) if line.role == 'visitor' and line.emotion), None)
    sides = _OPPOSITE.get(label or '', 0) * _OPPOSITE.get(before or '', 0)
    found['contradiction_with_history'] = float(sides < 0)
    return found


def asks(text: str) -> bool:
    """True for a practical question (where, when, how much, could you ...): curiosity, not surprise."""
    return bool(_REQUEST.search(text))


def calmer(distribution: Distribution) -> Distribution:
    """The same reading of a practical question: most of the surprise is calm. GoEmotions counts curiosity as surprise,
    and this costs .003 of macro-F1 there."""
    p = distribution.array
    moved = 0.7 * p[LABELS.index('surprised')]
    p[LABELS.index('surprised')] -= moved
    p[LABELS.index('neutral')] += moved
    return Distribution.of(p)


def ironic(distribution: Distribution) -> Distribution:
    """The same reading, were it half meant the other way round: half of the happiness becomes what irony hides."""
    p = distribution.array
    happy = LABELS.index('happy')
    moved = p[happy] / 2
    p[happy] -= moved
    for label, share in _IRONY.items():
        p[LABELS.index(label)] += moved * share
    return Distribution.of(p)
