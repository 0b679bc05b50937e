"""What can be counted in a visitor's words without a model: negation, laughter, swearing and the like (English).

These are named as `deliberate`'s evidence names them, each 0/1 or a count. They are cues, not proof. Irony has a file
of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, UNPLEASANT
from emavatar_ros.emotion.mappings import canonical
from emavatar_ros.history import Line
from emavatar_ros.perception.words import irony
from emavatar_ros.perception.words.phrases import one_of, phrases, plain

_NOT: Final = (r"(?:not|no(?!\.? ?\d)|never|nobody|nothing|none|neither|nor|hardly|barely|without|cannot|\w+n't|"
               r"(?:do|does|did|is|are|was|were|would|could|should|have|has|had|ca|wo|ai)nt)")
_CONJUNCTION: Final = (r'(?! (?:i|you|he|she|it|we|they|that|this|the|an?|my|your|what|where|when|how|who|if|let|do|'
                       r'please|did|does|is|are|am|was|were|has|have|can|far|on)\b)')
_PATTERNS: Final = {
    'negation': phrases(_NOT),
    'intensifier': phrases(rf"""
        very|extremely|totally|completely|absolutely|utterly|incredibly|terribly|awfully|perfectly|entirely|deeply
        truly|quite|honestly|(?<=, )honest|really(?! ?\?)
        such(?= [a-z])(?! as\b)|too(?= [a-z])|so(?= [a-z]){_CONJUNCTION}
        """),
    'laughter': re.compile(r"\b(?:(?:ha)+h?|(?:he){2,}h?|heh|hee|lol|lmao|rofl)\b|"
                           r"[\[(*](?:laugh|chuckle|giggle)\w*[\])*]|[😂🤣😆]", re.I),
    'swear': phrases(r"""
        (?:god)?damn(?:ed|it)?|dammit|hell|bloody|crap|flaming|piss(?:ed)?|bollocks|wtf|(?:bull)?shit\w*|fuck\w*
        f\*+\w*|s\*+t|bastards?|bitch(?:es)?|(?:arse|ass)(?:holes?)?|wankers?
        """),
    'apology': re.compile(
        r"(?<!feel )(?<!feels )(?<!felt )(?<!say )(?<!says )(?<!said )(?<!not )(?<!n't )(?<!than )\b" + one_of(r"""
        sorry(?! (?:little|excuse|state|sight|lot|for (?:him|her|them|himself|herself|themselves))\b)
        (?:i|we|let me)(?: \w+){0,3} apologi[sz]e|apologies|forgive me|beg (?:your|its|his|her|their) pardon
        my fault|my bad
        """) + r"\b", re.I),
    'question': re.compile(r"\?[?!]*"),
}
_REQUEST: Final = re.compile(
    r"(?:^|[.!,;…]\s*|\b(?:and|so|but|please)\s+)(?:where|when|which|how (?:much|many|long|far|(?:do|can) (?:i|we|you)|"
    r"(?:would|does) one)|what time|what(?: is|'s) (?:the|your)|(?:can|could) (?:you|i|we)|would you|will you|may i|"
    r"(?:is|are) there|do you have|have you got|is it possible)\b[^?]*\?", re.I)
_CLAUSE: Final = re.compile(r"[.,;:!?…()\n]+|\b(?:but|because|although|though|just|only|and|who|which|that)\b", re.I)
_NO_DENIAL: Final = phrases(r"""
    not (?:only|just)(?! (?:tired|yet))|not to mention|why (?:not|don't)|no (?:doubt|wonder|way|idea|matter)|nothing but
    (?:can't|cannot|couldn't) (?:wait|believe|stop|help|thank|get enough|agree|be|have|get|ask)
    never (?:been|felt|had|seen|better)|nothing (?:is |beats |could be )?(?:better|like)
    (?:isn't|aren't|wasn't|don't|doesn't|didn't|won't) (?:it|that|this|you|he|she|they|we|i)
    """)
"""Looks like a denial, and is none: "couldn't be happier", "isn't it lovely?"."""
_SCORN: Final = phrases(r"""
    you people|people like (?:you|him|her|them|that)|(?:your|that|his) (?:kind|sort) of people
    not worth (?:my|the) (?:time|breath)|(?:as if|like) (?:you|he|she|they)(?:'d| would| could)? (?:ever )?know\w*
    pathetic|worthless|laughable|so-called|jumped-up|too stupid|beneath (?:me|us)|look(?:ing)? down on|spare me
    calls? (?:yourself|himself|herself|themselves|that|this) an?|peasants?|imbeciles?|simpletons?|nobodies|despise\w*
    (?:bunch|lot) of (?:\w+ )?(?:clowns|idiots|amateurs|losers|fools|morons)|what a (?:loser|joke|clown|fool)
    (?:a|my) (?:child|toddler|cat|dog|monkey|toaster|parrot) (?:could|does|can|would)
    """)
_OF_MYSELF: Final = re.compile(r"\b(?:i'm|i am|i feel|i was|i'm just) (?:so |such a |a )*(?:pathetic|worthless|loser)|"
                               r"don't (?:look down|despise)", re.I)


def measures(text: str, history: Sequence[Line] = (), label: str | None = None) -> dict[str, float]:
    """Counts of each cue, sarcasm_frame 0/1, and contradiction_with_history: 1 when `label`, read from this text, is
    the opposite of what the visitor last felt, or when a feeling is denied that the line before named."""
    text = plain(text)
    found = {name: float(len(pattern.findall(text))) for name, pattern in _PATTERNS.items()}
    found['sarcasm_frame'] = float(irony.framed(text))
    felt = next((line.emotion for line in reversed(history) if line.role == 'visitor' and line.emotion), None)
    turned = {felt, label} & UNPLEASANT and 'happy' in (felt, label)
    if label == 'happy':
        turned = turned or any(line.role == 'visitor' and _LOW.search(plain(line.text)) for line in history[-2:])
    found['contradiction_with_history'] = float(bool(turned or (history and _denies(text, history[-1].text))))
    return found


_FINE: Final = re.compile(r"\b(?:i'm|i am|i feel) (?:really |quite |perfectly |absolutely )?(?:fine|okay|ok|all right|"
                          r"alright|grand|good|great)\b", re.I)
_LOW: Final = re.compile(r"\b(?:upset|sad|angry|cross|annoyed|worried|nervous|scared|afraid|anxious|low|unhappy|unwell|"
                         r"tired|lonely|hurt|crying|something wrong|not (?:well|happy))\b", re.I)


def _denies(text: str, before: str) -> bool:
    """True when `text` denies, or waves aside, a bad feeling that `before` names."""
    named = {word.lower() for word in _LOW.findall(plain(before))}
    return bool(named and (_FINE.search(text) or named & {word.lower() for word in denied(text)}))


def denied(text: str) -> list[str]:
    """The words that a "not" or the like turns round: at most four after it, within its clause."""
    words = []
    for clause in _CLAUSE.split(_NO_DENIAL.sub(' ', plain(text))):
        match = re.search(rf"\b{_NOT}\b", clause, re.I)
        if match:
            words += re.findall(r"[^\W\d_]+(?:'\w+)?", clause[match.end():])[:4]
    return [word for word in words if word.lower() not in _CARRIERS]


_CARRIERS: Final = frozenset(('feel', 'feels', 'felt', 'feeling', 'any', 'anymore', 'more', 'at', 'all', 'my', 'me'))
"""Words that carry no feeling of their own into a denial."""


def one_clause(text: str) -> bool:
    """True when the text says one thing only: what it denies is then all it says."""
    return sum(bool(re.search(r'\w', clause)) for clause in _CLAUSE.split(plain(text))) == 1


_DECLARED: Final = re.compile(
    r"\b(?:i'm|i am|i feel|i'm feeling|we're|we are) (?:(?:so|very|really|quite|just|a bit|a little|too|still|feeling|"
    r"absolutely|extremely|pretty) )*(\w+)(?! (?:so|not|i|you|your|that|we|it|there|he|she|they|the)\b)", re.I)


def declared(text: str) -> tuple[str, str] | None:
    """A feeling that the visitor says they have ("I'm so angry"): the words and the label; None for "I'm afraid so"."""
    for match in _DECLARED.finditer(plain(text)):
        label = canonical(match[1])
        if label and label != 'neutral':
            return match[0], label
    return None


def scorn(text: str) -> str | None:
    """The words that look down on somebody, or None; who says them of themselves is sad."""
    match = None if _OF_MYSELF.search(text) else _SCORN.search(text)
    return match[0] if match else None


def asks(text: str) -> bool:
    """True for a practical question (where, when, how much, could you ...): curiosity, not surprise."""
    return bool(_REQUEST.search(text))


def calmer(distribution: Distribution) -> Distribution:
    """The same reading of a practical question: most of the surprise is calm. GoEmotions counts curiosity as surprise,
    and this costs .003 of macro-F1 there."""
    return moved(distribution, 'surprised', 0.7, {'neutral': 1.0})


def moved(distribution: Distribution, label: str, share: float, to: dict[str, float]) -> Distribution:
    """The same reading with `share` of one emotion's probability given to others (weights that sum to 1)."""
    p = distribution.array
    taken = share * p[LABELS.index(label)]
    p[LABELS.index(label)] -= taken
    for name, part in to.items():
        p[LABELS.index(name)] += taken * part
    return Distribution.of(p)


_EMOJI: Final = {
    'angry': '😠😡🤬👿💢', 'contempt': '🙄😒😏', 'disgusted': '🤢🤮', 'fear': '😨😰😱😧😟😬',
    'happy': '😀😃😄😁😆😂🤣😊🙂😍🥰😘🤗🎉❤👍🥳😎🤩😅😻💖💕', 'neutral': '😐😶🤔👌', 'sad': '😢😭😞😔☹🙁😥💔😿😩🥺',
    'surprised': '😮😲😯🤯😳'}
_FACES: Final = {sign: label for label, signs in _EMOJI.items() for sign in signs}


def emoji(text: str) -> Distribution | None:
    """What the little faces in a text show, or None when there are none."""
    shown = [_FACES[sign] for sign in text if sign in _FACES]
    return Distribution.mix([(1.0, Distribution.from_mapping({label: 0.8, 'neutral': 0.1, 'surprised': 0.1}))
                             for label in shown]) if shown else None
