"""What the avatar never says: a check of each part of a reply before it may be spoken.

The patterns are data (prompts/guard.yaml), for English and Spanish, each reason counted when it stops a reply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from emavatar_ros.emotion.labels import UNPLEASANT
from emavatar_ros.language import guess
from emavatar_ros.planning import texts
from emavatar_ros.planning.danger import plain

REASONS: Final = ('meta', 'claims feelings, a body or a past', 'promises', 'diagnoses or prescribes',
                  'hurries or blames', 'invents facts', 'names methods', 'advises on law or medicine')
WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
FIRST_PERSON: Final = frozenset(('i', "i'm", "i've", 'my', 'me', 'we', 'our', 'us', 'yo', 'mi', 'mis', 'nos'))
LONGEST: Final = 260  # characters of one part


def fault(part: str, *, language: str, emotion: str, visitor: str, said: str = '',
          topics: Sequence[str] = ()) -> str | None:
    """Why this part of a reply must not be spoken, or None when it may.

    language: BCP 47 asked for; emotion: the visitor's, a label or unsure; visitor: the visitor's words; said: what the
    avatar said just before; topics: what the operator wants left alone.
    """
    text = part.replace('’', "'")
    words = [word.lower() for word in WORD.findall(text)]
    if not words:
        return 'empty'
    if len(part) > LONGEST:
        return 'too long'
    for reason in REASONS:
        if _says(reason, text):
            return reason
    if touches(part, topics):
        return 'topic'
    # A number nobody named is made up.
    if set(re.findall(r'\d+', text)) - set(re.findall(r'\d+', f'{visitor} {said}')):
        return 'invents facts'
    # Scorn is no suffering: praise is not out of place there.
    if (emotion in UNPLEASANT - {'contempt'} and _says('glad', text)) or (emotion == 'happy' and _says('sorry', text)):
        return 'tone'
    if _foreign(words, language):
        return 'language'
    if _same(words, visitor) or _same(words, said):
        return 'copies'
    return None


def topics(setting: str) -> tuple[str, ...]:
    """The operator's topics from a comma-separated setting, each made plain; a "*" at the end is kept."""
    told = (topic.strip() for topic in setting.split(','))
    return tuple(plain(topic) + '*' * topic.endswith('*') for topic in told if plain(topic))


def touches(text: str, topics: Sequence[str]) -> bool:
    """Whether one of `topics` is named: as whole words, in singular or plural, or by its beginning before a "*"."""
    words = plain(text)
    return any(re.search(rf'\b{re.escape(topic[:-1])}' if topic.endswith('*') else rf'\b{re.escape(topic)}(?:e?s)?\b',
                         words) for topic in topics)


def declines(language: str) -> str:
    """What is said when a visitor brings up a topic that is left alone."""
    return texts.guard()['topic'][texts.base(language)].strip()


def _says(reason: str, text: str) -> bool:
    """Whether a pattern of any language is found: models slip into English."""
    return any(_pattern(reason, language).search(text) for language in texts.LANGUAGES)


@cache
def _pattern(reason: str, language: str) -> re.Pattern[str]:
    lines = texts.guard()[reason][language].splitlines()
    return re.compile(rf'\b(?:{"|".join(lines)})\b', re.IGNORECASE)


def _foreign(words: list[str], language: str) -> bool:
    """Whether the words are clearly of another language, or rather of the other one of LANGUAGES."""
    short = language.split('-')[0].lower()
    if len(words) < 4:
        return False
    if guess(' '.join(words), short) != short:
        return True
    if short not in texts.LANGUAGES:
        return False
    known = {base: set(text.split()) for base, text in texts.guard()['function words'].items()}
    here = sum(word in known[short] for word in words)
    return any(sum(word in known[other] for word in words) > here for other in known if other != short)


def _same(words: list[str], other: str) -> bool:
    """Whether this is the other text over again: one of its sentences, or nearly all pairs of words from it with the
    speaker still as "I". Naming what somebody told ("a cockroach in the cup") is no copy."""
    sentences = [[word.lower() for word in WORD.findall(sentence)]
                 for sentence in re.split(r'[.!?…]+', other.replace('’', "'"))]
    if words in sentences:
        return True
    pairs = {pair for sentence in sentences for pair in pairwise(sentence)}
    shared = sum(pair in pairs for pair in pairwise(words))
    retold = len(words) >= 9 or any(word in FIRST_PERSON for word in words)
    return len(words) >= 4 and retold and shared >= 0.75 * (len(words) - 1)
