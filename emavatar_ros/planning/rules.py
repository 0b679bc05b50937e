"""The refiner's rules: each looks at one thing in a reply, in well under a millisecond.

A rule gives a Flaw, the most that a score may be because of it, or None when all is well. What they look for is data
(prompts/refiner.yaml), English and Spanish at once: models slip from one into the other. They judge a reply while it
grows, so a rule for the whole waits until it is complete.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final

import yaml

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.emotion.labels import UNPLEASANT
from emavatar_ros.history import Line
from emavatar_ros.planning import texts
from emavatar_ros.planning.script import Beat
from emavatar_ros.planning.tone import BRIGHT, GRAVE, Realise, fits, tone

SCORES: Final = ('coherence', 'empathy', 'feasibility', 'alignment')
WORD: Final = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
LONG_BEAT: Final = 28  # words: more than ten seconds of speech
LONG_REPLY: Final = 55  # words
LAST: Final = 8  # lines of the history that a reply is compared with
UNSPEAKABLE: Final = re.compile(r'https?:|www\.|[*_#<>{}\[\]|\\^~=]|\d{7}|\w@\w')


@dataclass(frozen=True)
class Draft:
    """What is judged: the beats so far, the visitor's words and feeling (a label or unsure) that they answer, BCP 47,
    and what was said before, oldest first. realise: what a voice makes of an instruction (voice.instruction.delivery);
    without it nobody judges feasibility and alignment."""

    beats: tuple[Beat, ...]
    visitor: str
    emotion: str
    language: str = 'en'
    history: Sequence[Line] = ()
    complete: bool = False
    realise: Realise | None = None

    @property
    def text(self) -> str:
        """The reply so far."""
        return ' '.join(beat.text for beat in self.beats)


@dataclass(frozen=True)
class Flaw:
    """`score` may be `most` (1 to 5) at most. name: the rule, for counting and for its advice."""

    score: str
    most: int
    name: str


Rule = Callable[[Draft], Flaw | None]


def flaws(draft: Draft) -> Iterator[Flaw]:
    """All that is wrong with a draft of at least one beat."""
    for rule in RULES:
        found = rule(draft)
        if found is not None:
            yield found


def answers(draft: Draft) -> Flaw | None:
    """Coherence: a question put in earnest gets a statement: an answer, or who knows. Complete replies only."""
    asked = draft.visitor.strip().endswith('?') and draft.emotion not in UNPLEASANT | {'surprised'}
    if not draft.complete or not asked:
        return None
    stated = [part for part in re.split(r'(?<=[.!?…])\s+', draft.text) if not part.endswith('?')]
    met = any(_says('answers', part) or _shares(part, draft.visitor) for part in stated)
    return None if met else Flaw('coherence', 3, 'answers')


def returns(draft: Draft) -> Flaw | None:
    """Coherence: the visitor's own question is not asked back."""
    asked, back = draft.visitor.strip(), draft.text
    if not asked.endswith('?') or not back.endswith('?'):
        return None
    # The first clause of a question may be a beat of its own.
    question = re.split(r'[.!?…]\s+', back)[-1]
    kinds = [set(map(str.lower, _WHICH.findall(text))) for text in (question, asked)]
    again = kinds[0] & kinds[1] and _matter(question) and _matter(question) <= _matter(asked)
    return Flaw('coherence', 2, 'returns') if again else None


def touches(draft: Draft) -> Flaw | None:
    """Coherence: the reply has to do with what was said, now or before, or names the feeling. A first beat that stays
    general is weak, a whole reply that does is not about the visitor."""
    if not _matter(draft.visitor):
        return None
    said = ' '.join((draft.visitor, *(line.text for line in draft.history[-LAST:] if line.role == 'visitor')))
    if _shares(draft.text, said) or _names(draft.text, draft.emotion):
        return None
    general = draft.complete and not _says('siding', draft.text) and not _says('answers', draft.text)
    return Flaw('coherence', 3 if general else 4, 'touches')


def repeats(draft: Draft) -> Flaw | None:
    """Coherence: nothing is said twice, neither in the reply nor after what the avatar said before."""
    newest = draft.beats[-1].text
    before = [beat.text for beat in draft.beats[:-1]]
    for line in draft.history[-LAST:]:
        if line.role == 'avatar':
            before += re.split(r'(?<=[.!?…])\s+', line.text)
    # "I see." may come again.
    again = any(_same(newest, other) for other in before)
    return Flaw('coherence', 2, 'repeats') if again else None


def acknowledges(draft: Draft) -> Flaw | None:
    """Empathy: in pain, fear or anger the first thing said names the feeling, takes the visitor's side or names what
    they told; a bare question is an interrogation."""
    if draft.emotion not in UNPLEASANT:
        return None
    first = draft.beats[0].text
    if _names(first, draft.emotion) or _says('siding', first):
        return None
    if first.endswith('?') and _ASKS.match(first):
        return Flaw('empathy', 3, 'acknowledges')
    return None if _shares(first, draft.visitor) else Flaw('empathy', 4, 'acknowledges')


def advises(draft: Draft) -> Flaw | None:
    """Empathy: no advice before the feeling was acknowledged, and little after it."""
    if draft.emotion not in UNPLEASANT:
        return None
    for place, beat in enumerate(draft.beats):
        asking = beat.text.endswith('?') and not re.search(r"\b(?:why don|have you|how about|por qué no|has )",
                                                           beat.text, re.IGNORECASE)
        if _says('advice', beat.text) and not asking:
            before = ' '.join(earlier.text for earlier in draft.beats[:place])
            known = _names(before, draft.emotion) or _says('siding', before) or _shares(before, draft.visitor)
            return Flaw('empathy', 4 if known else 2, 'advises')
    return None


def cheerful(draft: Draft) -> Flaw | None:
    """Empathy: no gladness over pain. (Scorn is no pain.)"""
    glad = draft.emotion in UNPLEASANT - {'contempt'} and any(
        _says('cheerful', beat.text) and not _denied('cheerful', beat.text) and not beat.text.endswith('?')
        for beat in draft.beats)
    return Flaw('empathy', 2, 'cheerful') if glad else None


def doubts(draft: Draft) -> Flaw | None:
    """Empathy: what a visitor tells is taken at its word."""
    return Flaw('empathy', 3, 'doubts') if _says('doubts', draft.text) else None


def agrees(draft: Draft) -> Flaw | None:
    """Empathy: who complains or mocks is not asked what they like about it: "lovely" may have been irony."""
    liked = draft.emotion in UNPLEASANT - {'fear', 'sad'} and _says('likes', draft.text)
    return Flaw('empathy', 3, 'agrees') if liked else None


def gloomy(draft: Draft) -> Flaw | None:
    """Empathy: no condolence over joy."""
    return Flaw('empathy', 2, 'gloomy') if draft.emotion == 'happy' and _says('gloomy', draft.text) else None


def mirrors(draft: Draft) -> Flaw | None:
    """Empathy: anger and scorn are not given back, and not fanned."""
    return Flaw('empathy', 1, 'mirrors') if _says('mirrors', draft.text) else None


def hushes(draft: Draft) -> Flaw | None:
    """Empathy: nobody is told to calm down, cheer up or get over it."""
    return Flaw('empathy', 1, 'hushes') if _says('hushes', draft.text) else None


def misnames(draft: Draft) -> Flaw | None:
    """Empathy: the feeling that the reply sees in the visitor is not the opposite of theirs."""
    wrong = UNPLEASANT - {'contempt'} if draft.emotion == 'happy' else {'happy'} if draft.emotion in UNPLEASANT else ()
    seen = _SEEN.findall(draft.text)
    named = any(_says('feelings', word, label) for word in seen for label in wrong)
    return Flaw('empathy', 2, 'misnames') if named else None


def realisable(draft: Draft) -> Flaw | None:
    """Feasibility: each beat's instruction moves the voice: somebody asked to speak "bluely" hears nothing of it."""
    if draft.realise is None:
        return None
    for beat in draft.beats:
        if not beat.instruction.strip() or draft.realise(beat.instruction, '') == Delivery():
            return Flaw('feasibility', 3, 'realisable')
    return None


def speakable(draft: Draft) -> Flaw | None:
    """Feasibility: words only, nothing that can't be said aloud."""
    return Flaw('feasibility', 2, 'unspeakable') if UNSPEAKABLE.search(draft.text) else None


def length(draft: Draft) -> Flaw | None:
    """Feasibility: a listener stands: no beat over LONG_BEAT words, no reply over LONG_REPLY."""
    longest = max(len(beat.text.split()) for beat in draft.beats)
    if longest > 1.5 * LONG_BEAT or len(draft.text.split()) > LONG_REPLY:
        return Flaw('feasibility', 3, 'long')
    return Flaw('feasibility', 4, 'long') if longest > LONG_BEAT else None


def in_tune(draft: Draft) -> Flaw | None:
    """Alignment: words, instruction and face of each beat say the same: consolation is not said brightly or with a
    smile, joy not gravely or with a sad face."""
    if draft.realise is None:
        return None
    for beat in draft.beats:
        how = tone(beat.instruction, draft.realise)
        hurt = draft.emotion in ('sad', 'fear') and _names(beat.text, draft.emotion)
        consoling = hurt or _says('gloomy', beat.text)
        rejoicing = _says('cheerful', beat.text) and draft.emotion not in UNPLEASANT
        if (consoling and (how == BRIGHT or beat.expression == 'happy')) or (
                rejoicing and (how == GRAVE or beat.expression in UNPLEASANT)):
            return Flaw('alignment', 2, 'in tune')
        if not fits(draft.emotion, beat, draft.realise):
            return Flaw('alignment', 3, 'in tune')
    return None


RULES: Final[tuple[Rule, ...]] = (answers, returns, touches, repeats, acknowledges, advises, cheerful, doubts, agrees,
                                  gloomy, mirrors, hushes, misnames, realisable, speakable, length, in_tune)

_SEEN: Final = re.compile(
    r"\b(?:you(?:'re| are| sound| look| seem| must be| feel)(?: (?:so|very|really|quite|a bit|a little))*|"
    r'(?:estás|pareces|suenas|te sientes)(?: (?:muy|tan|un poco))*) (\w+)', re.IGNORECASE)

_WHICH: Final = re.compile(r'\b(?:what|which|who|why|when|where|how|qué|cuál|quién|dónde|cuándo|cómo|cuánt[oa]s?)\b',
                           re.IGNORECASE)
_ASKS: Final = re.compile(
    r'^\W*(?:and |so |y )?(?:(?:in |at |on |to )?(?:what|which|whom?)|why|when|where|how|who|do|does|did|have|has|are|'
    r'is|was|were|can|could|(?:a |de |en |por |con )?(?:qué|cuál|quién|dónde)|cuándo|cómo|cuánt[oa]s?|has|puedes)\b',
    re.IGNORECASE)
"""How a question begins that wants something, unlike "Rotten fish?"."""
_DENIED: Final = re.compile(r"\b(?:no|not|isn't|never|nothing|hardly|far from|sin|nada)\b[\w ']{0,20}$", re.IGNORECASE)


@cache
def words() -> dict[str, Any]:
    """The rules' data."""
    content: dict[str, Any] = yaml.safe_load(texts.read('refiner.yaml'))
    return content


@cache
def _pattern(kind: str, label: str) -> re.Pattern[str]:
    entry = words()[kind][label] if label else words()[kind]
    lines = [line.strip() for language in texts.LANGUAGES for line in entry[language].splitlines()]
    return re.compile(rf'\b(?:{"|".join(lines)})(?!\w)', re.IGNORECASE)


def _says(kind: str, text: str, label: str = '') -> bool:
    return bool(text) and bool(_pattern(kind, label).search(text.replace('’', "'")))


def _names(text: str, emotion: str) -> bool:
    """Whether a word of this feeling's is in the text; neutral and unsure have none."""
    return emotion in words()['feelings'] and _says('feelings', text, emotion)


def _denied(kind: str, text: str) -> bool:
    """Whether the word is said not to be so ("not great", "nothing lovely about it")."""
    found = _pattern(kind, '').search(text)
    return found is not None and bool(_DENIED.search(text[:found.start()]))


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize('NFD', text.replace('’', "'").lower())
    return ''.join(c for c in decomposed if not unicodedata.combining(c))


@cache
def _small() -> frozenset[str]:
    return frozenset(word for language in texts.LANGUAGES for word in _fold(words()['small'][language]).split())


@cache
def _groups() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_fold(line).split()) for line in words()['groups'].splitlines())


@cache
def _stem(word: str) -> frozenset[str]:
    """What a word is compared by: its beginning, and the groups it belongs to."""
    bare = re.sub(r"(?:'s|ing|ed|es|s|ly)$", '', word) if len(word) > 4 else word.removesuffix('s')
    known = {f'group {number}' for number, group in enumerate(_groups())
             if any(word.startswith(start) if len(start) >= 5 else word in (start, start + 's') for start in group)}
    return frozenset({bare[:5], *known})


def _matter(text: str) -> set[str]:
    """The words that carry matter, as they are compared."""
    found = {word for word in WORD.findall(_fold(text)) if word not in _small() and (len(word) > 2 or word.isdigit())}
    return set().union(*map(_stem, found))


def _shares(text: str, other: str) -> bool:
    return not _matter(text).isdisjoint(_matter(other))


def _same(one: str, other: str) -> bool:
    """Whether two sentences of at least four words are nearly the same."""
    a, b = WORD.findall(_fold(one)), WORD.findall(_fold(other))
    if len(a) < 4 or len(b) < 4:
        return False
    pairs = set(pairwise(a)), set(pairwise(b))
    return len(pairs[0] & pairs[1]) >= 0.75 * min(len(pairs[0]), len(pairs[1]))
