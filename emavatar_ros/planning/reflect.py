"""Turns the visitor's words round: "I lost my keys" becomes "you lost your keys", or nothing when that isn't safe.

A text is cut into plain statements; of those that can be turned a reason ("because ...") is taken before all, then what
the visitor says of themselves, then the first. Questions, orders, speech to the avatar, conditions, quotations,
unfinished or long
sentences, swear words and hard words about oneself are never turned round. English swaps pronouns and the forms of be
(reflect_en); Spanish verbs carry their person, so only those of a table are turned (reflect_es).
"""

from __future__ import annotations

import re
from typing import Final

from emavatar_ros.emotion.labels import UNPLEASANT
from emavatar_ros.planning import reflect_en, reflect_es, texts
from emavatar_ros.planning.wordlists import lists

SENTENCES: Final = 6
"""How many sentences of a text are looked at."""
UNSPEAKABLE: Final = re.compile(r'["“”«»<>{}\[\]*:;()@#/\\_=|~^]|\d{5}|(?:\d[ -]?){7}|\.\.|…|--')
END: Final = re.compile(r'(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bSr\.)(?<!\bSra\.)(?<!\b[a-z]\.)'
                        r'(?<=[.!?…])\s+|\n+', re.IGNORECASE)

ADDRESSED: Final = {'en': re.compile(r"\byou(?:r|rs|'\w+)?\b"),
                    'es': re.compile(r'\b(?:te|tu|tus|ti|contigo|has|estás|eres|tienes|\w+ste)\b')}


def sentences(text: str) -> list[str]:
    """The sentences of what somebody said, straight apostrophes, names like "Dr. Smith" kept whole."""
    text = re.sub(r"[’‘`´]", "'", text.strip())
    return [part.strip() for part in END.split(text) if part and part.strip()]


def reflect(text: str, language: str) -> str | None:
    """A statement of the visitor's as a clause addressed to them, without final stop, beginning in lower case; or None.

    language: of texts.LANGUAGES. At most wordlists.LONGEST words.
    """
    turn = {'en': reflect_en.clauses, 'es': reflect_es.clauses}.get(language)
    if turn is None:
        return None
    known = lists(language)
    found = []
    for sentence in sentences(text)[:SENTENCES]:
        if sentence.endswith('?') or '?' in sentence or UNSPEAKABLE.search(sentence) or known.harsh.search(sentence):
            continue
        found += turn(sentence, known)
    # A reason first, then what is the visitor's own, then the first.
    return max(found, key=lambda item: item[0])[1] if found else None


def topic(text: str, language: str) -> str | None:
    """What belongs to the visitor and is talked about, as "your exam"; None when nothing known is named."""
    if language not in texts.LANGUAGES:
        return None
    known = lists(language)
    mine = {'en': r'my', 'es': r'mis?'}[language]
    for found in re.finditer(rf"\b({mine}) ([a-záéíóúñü]+)(?![\w'’-])", text, re.IGNORECASE):
        noun = found.group(2).lower()
        after = re.match(r"\s+([a-z]+)", text[found.end():])
        # "my phone bill" is no phone.
        compound = language == 'en' and after and after.group(1).lower() in known.nouns
        if noun in known.nouns and not compound:
            owner = {'my': 'your', 'mi': 'tu', 'mis': 'tus'}[found.group(1).lower()]
            return f'{owner} {noun}'
    return None


def addresses(clause: str, language: str) -> bool:
    """Whether the clause is about the visitor, not only about others."""
    return bool(ADDRESSED[language].search(clause))


def names_feeling(clause: str, language: str) -> bool:
    """Whether the clause already says how somebody feels: naming it again would be one too many."""
    return bool(_words(clause) & lists(language).feelings)


def fits(clause: str, language: str, emotion: str) -> bool:
    """Whether the clause's words don't contradict the emotion: irony and comfort are not said back as meant."""
    known, words = lists(language), _words(clause)
    denied = language == 'en' and re.search(r"n't\b|\bnot\b|\bnever\b|\bno\b", clause)
    denied = denied or (language == 'es' and re.search(r'\b(?:no|nunca|sin)\b', clause))
    if emotion in UNPLEASANT:
        return bool(denied) or not words & known.pleasant or bool(words & known.unpleasant)
    return emotion != 'happy' or not (words & known.unpleasant or denied)


def _words(clause: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+(?:'[a-z]+)?", clause.lower()))
