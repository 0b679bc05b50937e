"""What a short answer means after the line before it.

"Really?", "No.", "Great." and "I'm fine." say little by themselves: what they say depends on whether the line before
brought something good, something bad or neither. A yes or no to a question is turned into the statement it stands for
("Did they fix it?" "No." -> "They did not fix it."), which is then read as if the visitor had said it.

The tables are this project's own judgement of what people usually mean; they are soft, and only weighed in.
"""

from __future__ import annotations

import re
from typing import Final

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.perception.words.phrases import one_of, plain

_KINDS: Final = {kind: re.compile(one_of(lines)) for kind, lines in {
    'again': r"""
        of course(?: (?:it|he|she) (?:is|does|has|did|was)| (?:they|you) (?:are|have|do|did))
        (?:not )?again|(?:how )?typical|(?:that |it )?figures|(?:i )?(?:just )?knew it|naturally|as (?:always|usual)
        here we go again|always the same|same as (?:always|ever)|finally|at last|about time
        """,
    'doubt': r"""
        (?:oh )?really|seriously|(?:are you |you can't be )?serious|no way|for real|is (?:that|it) true|are you sure
        (?:are you|you're|you are|you must be|you've got to be|you have to be) (?:kidding|joking)(?: me)?
        what|huh|eh|wow|me|get out|you don't say|i (?:can't|don't) believe (?:it|this)|(?:oh )?my (?:god|goodness)
        """,
    'yes': r"""
        yes|yeah|yep|yup|sure|absolutely|definitely|certainly|of course|indeed|i (?:think|hope) so|i'm afraid so
        (?:i|it|they|he|she|we) (?:do|did|does|am|is|are|was|were|have|has|can|will)
        (?:just )?a (?:little|bit)(?: bit)?|very much(?: so)?|kind of|sort of
        """,
    'no': r"""
        no|nope|nah|never|not (?:really|yet|at all|so much|exactly|now|today)|i don't think so|i'm afraid not
        (?:unfortunately|sadly)(?: not)?|(?:i'm|i am|it's|it is|they're|he's|she's|we're) not
        (?:i|it|they|he|she|we) (?:\w+n't|did not|do not)|nothing|nobody|neither
        """,
    'thanks': r"""
        (?:many )?thanks(?: a lot| so much| very much)?|thank you(?: so much| very much| kindly)?|cheers|ta
        """,
    'fine': r"""
        (?:i'm|i am|it's|it is|we're|i'll be|everything's)(?: all| just| really| perfectly)? (?:fine|ok|okay|good|grand)
        (?:i'm|i am|it's|it is|that's|we're|i'll be) (?:all right|alright|nothing)|honest(?:ly)?|i'm used to it
        never mind(?: me)?|don't (?:worry|mind|fuss)(?: about)?(?: me| it)?|i don't mind|it doesn't matter|no worries
        """,
    'giveup': r"""
        whatever|forget (?:it|about it)|as you like|leave it|if you say so
        """,
    'dismay': r"""
        oh no|no no(?: no)?|oh (?:dear|god|lord)|oh my
        """,
    'praise': r"""
        (?:just |that's |how |very )*(?:great|wonderful|fantastic|perfect|lovely|brilliant|marvell?ous|super|nice|good)
        (?:just |that's |how )*(?:excellent|terrific|amazing|awesome|splendid)|(?:good|great) news
        (?:that's )?(?:just|exactly) what i (?:needed|wanted)
        """,
    'noted': r"""
        ok|okay|all right|alright|right|i see|i understand|fine|hm+|mm+|mhm|oh|ah|well|so|got it|understood|fair enough
        i know|uh huh|is that so
        """,
}.items()}
_POLITE: Final = re.compile(r"\b(?:please|then|sir|madam|man|mate|love|dear|now|and|but|um|uh|er)\b")

_AFTER: Final[dict[str, tuple[dict[str, float], dict[str, float], dict[str, float]]]] = {
    'thanks': ({'happy': 0.85, 'neutral': 0.15},
               {'angry': 0.3, 'sad': 0.25, 'neutral': 0.3, 'happy': 0.15},
               {'neutral': 0.55, 'happy': 0.45}),
    'again': ({'happy': 0.5, 'neutral': 0.25, 'surprised': 0.25},
              {'angry': 0.55, 'sad': 0.2, 'contempt': 0.1, 'neutral': 0.15},
              {'neutral': 0.65, 'angry': 0.2, 'happy': 0.15}),
    'doubt': ({'surprised': 0.5, 'happy': 0.4, 'neutral': 0.1},
              {'angry': 0.35, 'surprised': 0.4, 'sad': 0.13, 'fear': 0.12},
              {'surprised': 0.65, 'neutral': 0.35}),
    'yes': ({'happy': 0.75, 'neutral': 0.25},
            {'sad': 0.4, 'angry': 0.2, 'fear': 0.1, 'neutral': 0.3},
            {'neutral': 0.9, 'happy': 0.1}),
    'no': ({'surprised': 0.45, 'happy': 0.3, 'neutral': 0.25},
           {'sad': 0.4, 'angry': 0.25, 'surprised': 0.2, 'fear': 0.15},
           {'neutral': 0.85, 'angry': 0.08, 'sad': 0.07}),
    'fine': ({'happy': 0.5, 'neutral': 0.5},
             {'sad': 0.6, 'neutral': 0.25, 'angry': 0.12, 'happy': 0.03},
             {'neutral': 0.7, 'happy': 0.3}),
    'giveup': ({'neutral': 0.7, 'happy': 0.1, 'angry': 0.2},
               {'angry': 0.5, 'sad': 0.3, 'neutral': 0.2},
               {'neutral': 0.5, 'angry': 0.3, 'sad': 0.2}),
    'dismay': ({'surprised': 0.6, 'happy': 0.2, 'sad': 0.2},
               {'sad': 0.5, 'fear': 0.35, 'surprised': 0.15},
               {'sad': 0.35, 'surprised': 0.35, 'fear': 0.3}),
    'noted': ({'happy': 0.45, 'neutral': 0.5, 'surprised': 0.05},
              {'sad': 0.45, 'neutral': 0.3, 'angry': 0.2, 'fear': 0.05},
              {'neutral': 0.92, 'sad': 0.08}),
    'praise': ({'happy': 0.92, 'neutral': 0.08},
               {'angry': 0.55, 'sad': 0.2, 'contempt': 0.15, 'happy': 0.1},
               {'happy': 0.7, 'neutral': 0.3}),
    'stated': ({'happy': 0.75, 'neutral': 0.25},
               {'sad': 0.4, 'angry': 0.25, 'fear': 0.1, 'neutral': 0.25},
               {'neutral': 1.0}),
}
"""What each kind of answer says after something good, something bad, and neither."""


def kind(text: str) -> str | None:
    """Which kind of short answer the whole text is, or None when it says something of its own. Of several ("Okay,
    thanks.", "No. Really?") the first in the order of the table counts."""
    lowered = _POLITE.sub(' ', plain(text).lower())
    parts = [' '.join(part.split()) for part in re.split(r"[^\w' ]+", lowered)]
    parts = [part for part in parts if part]
    if sum(len(part.split()) for part in parts) > 8:
        return None
    if whole := _kind_of(' '.join(parts)):
        return whole
    found = [_kind_of(part) for part in parts]
    return min((name for name in found if name), key=list(_KINDS).index, default=None) if None not in found else None


def _kind_of(part: str) -> str | None:
    return next((name for name, pattern in _KINDS.items() if pattern.fullmatch(part)), None)


def after(answer: str, good: float, bad: float) -> Distribution:
    """What an answer of this kind says when the line before was good or bad news with these probabilities."""
    weights = (good, bad, max(0.0, 1 - good - bad))
    return Distribution.mix((weight, Distribution.from_mapping(table))
                            for weight, table in zip(weights, _AFTER[answer], strict=True))


_SWAP: Final = {'you': 'I', 'your': 'my', 'yours': 'mine', 'yourself': 'myself', 'i': 'you', 'my': 'your', 'me': 'you',
                'we': 'you', 'our': 'your', 'us': 'you'}
_NONE: Final = {'anyone': 'nobody', 'anybody': 'nobody', 'someone': 'nobody', 'somebody': 'nobody',
                'anything': 'nothing'}
_AUX: Final = r'(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should)'
_QUESTION: Final = re.compile(rf"(?:^|[.!?,;]\s*|\b(?:and|but|so) )(?P<aux>{_AUX})(?:n't)? (?P<rest>[^?.!]+)\?$", re.I)
_OFFER: Final = re.compile(r"(?:(?:would|will|could|can) you|do you (?:want|need|have)|(?:can|could|may|shall) i|"
                           r"shall we|are you looking for)\b", re.I)
_SUBJECT: Final = re.compile(r"(?:(?:the|an?|your|my|this|that|their|his|her|its|our) "
                             r"(?:\w+ (?=\w+ (?:been|\w+ed|\w+ing)\b))?)?\w+", re.I)


def restated(question: str, answer: str) -> str | None:
    """The statement that a yes or no (`answer`: 'yes' or 'no') to this question makes, in the visitor's person.

    None for what is no question of yes or no, and for an offer: declining a receipt says nothing."""
    match = _QUESTION.search(plain(question).strip())
    if not match or answer not in ('yes', 'no'):
        return None
    aux, rest = match['aux'].lower(), match['rest'].strip()
    if _OFFER.match(f'{aux} {rest}'):
        return None
    subject = _SUBJECT.match(rest)
    if not subject or subject.end() == len(rest):
        return None
    first = ' '.join(_SWAP.get(word.lower(), word) for word in subject[0].split())
    tail = ' '.join('me' if word.lower() == 'you' else _SWAP.get(word.lower(), word)
                    for word in rest[subject.end():].split())
    if first.lower() == 'i':
        aux = {'are': 'am', 'were': 'was'}.get(aux, aux)
    elif first.lower() == 'you':
        aux = {'am': 'are', 'was': 'were'}.get(aux, aux)
    middle = 'not ' if answer == 'no' else ''
    if middle and first.lower() in _NONE:
        first, middle = _NONE[first.lower()], ''
    return f'{first[:1].upper()}{first[1:]} {aux} {middle}{tail}.'


def offers(question: str) -> bool:
    """True when the line ends by offering or asking for something: an answer to it says little of a feeling."""
    match = _QUESTION.search(plain(question).strip())
    return bool(match and _OFFER.match(f"{match['aux'].lower()} {match['rest'].strip()}"))
