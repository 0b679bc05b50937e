"""Turns the visitor's words round: "I lost my keys" becomes "you lost your keys", or nothing when that isn't safe.

Only a plain statement is turned; questions, orders, speech to the avatar, quotations and long sentences are left alone.
English swaps pronouns and the forms of be. Spanish verbs carry their person, so only sentences about others ("mi gato
murió") are turned.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 13  # words
EN_SWAP: Final = {
    'i': 'you', 'me': 'you', 'my': 'your', 'mine': 'yours', 'myself': 'yourself', "i'm": "you're", "i've": "you've",
    "i'd": "you'd", "i'll": "you'll", 'we': 'you', 'us': 'you', 'our': 'your', 'ours': 'yours', "we're": "you're",
    "we've": "you've", "we'd": "you'd", "we'll": "you'll", 'ourselves': 'yourselves',
}
EN_BE: Final = {'am': 'are', 'was': 'were', "wasn't": "weren't"}
EN_START: Final = frozenset((
    'i', "i'm", "i've", "i'd", 'we', "we're", "we've", 'my', 'our', 'the', 'they', "they're", "they've", 'he', "he's",
    'she', "she's", 'it', "it's", 'somebody', 'someone', 'nobody', 'everybody', 'everyone', 'everything', 'there',
    "there's", 'this'))
EN_VERB: Final = re.compile(
    r"^(?:\w+(?:ed|en)|(?:am|is|are|was|were|have|has|had|do|does|did|can|can't|could|couldn't|will|won't|would|must|need|"
    r"want|got|get|gets|lost|went|came|left|took|told|said|saw|felt|feel|found|broke|made|met|won|paid|kept|think|know|hate|love|"
    r"miss|like|don't|doesn't|didn't|isn't|wasn't|aren't|haven't|hasn't|hadn't|ate|fell|forgot|heard|held|hit|hurt|put|ran|"
    r"sat|sent|shut|slept|spent|stole|threw|wait|work|write|wrote|bought|brought|caught|thought|stood|gave|grew|knew|led|"
    r"let|read|sold|spoke|woke|wore|began|drove|flew|quit|sounds|looks|feels|keeps|makes|takes|says|goes|comes|smells))$")
EN_STOP: Final = re.compile(
    r"\b(?:you|your|yours|you're|you've|you'll|please|who|what|why|how|when|where|if|because|but|so|and then|than|lol|"
    r"ha|haha|oh|well|um|uh|like,|let's|that|which|mean|guess|okay|ok|yes|no|wish|hope|think|believe|suppose|swear|"
    r"bet|wonder|want to|sorry|thank|thanks)\b", re.IGNORECASE)
ES_START: Final = frozenset(('mi', 'mis', 'nuestro', 'nuestra', 'nuestros', 'nuestras', 'el', 'la', 'los', 'las',
                             'alguien', 'nadie'))
ES_SWAP: Final = {'mi': 'tu', 'mis': 'tus', 'nuestro': 'vuestro', 'nuestra': 'vuestra', 'nuestros': 'vuestros',
                  'nuestras': 'vuestras', 'me': 'te'}
ES_STOP: Final = re.compile(
    r'\b(?:yo|tú|tu|tus|te|ti|usted|su|sus|nos|nosotros|mí|conmigo|qué|por qué|cómo|cuándo|dónde|quién|porque|pero|'
    r'si|que|cuando|favor|gracias|perdón|soy|estoy|tengo|voy|he|fui)\b', re.IGNORECASE)
ES_VERB: Final = re.compile(r'\b(?:ha|han|es|son|está|están|fue|era|murió|\w+(?:ó|aron|ieron|aba|aban|ía|ían))\b',
                            re.IGNORECASE)
ES_FIRST_PERSON: Final = re.compile(r'\b\w+(?:é|í|amos|emos|imos)\b', re.IGNORECASE)
TIME: Final = re.compile(r'^(?:today|yesterday|this morning|last night|tonight|now),? ', re.IGNORECASE)


def echo(text: str, language: str) -> str | None:
    """The visitor's statement as a clause addressed to them, without final stop, beginning in lower case; or None."""
    sentences = [part.strip() for part in re.split(r'(?<=[.!?…])\s+', text.replace('’', "'").strip()) if part.strip()]
    for sentence in sentences[:2]:
        if not sentence.endswith('?') and not re.search(r'["“”«»<>{}\[\]*:;()@#/\\]|\d{5}', sentence):
            turned = _english(sentence) if language == 'en' else _spanish(sentence) if language == 'es' else None
            if turned:
                return turned
    return None


def _english(sentence: str) -> str | None:
    bare = TIME.sub('', sentence.rstrip('.!…, '))
    words = bare.split()
    if not 3 <= len(words) <= LONGEST or EN_STOP.search(bare) or ',' in bare:
        return None
    start = words[0].lower()
    if start not in EN_START or not any(EN_VERB.match(word.lower()) or "'" in word for word in words[:5]):
        return None
    turned: list[str] = []
    was = ''
    for word in words:
        low = word.lower()
        if low in EN_BE and was in ('i', ''):
            new = EN_BE[low]
        elif low in EN_SWAP:
            new = EN_SWAP[low]
        else:
            new = low if not turned and low in EN_START else word
        turned.append(new)
        was = low if low in ('i',) else 'adverb' if was == 'i' and low.endswith('ly') else '-'
        was = 'i' if was == 'adverb' else was
    return ' '.join(turned)


def _spanish(sentence: str) -> str | None:
    bare = sentence.strip('¡!¿?.… ,')
    words = bare.split()
    if not 3 <= len(words) <= LONGEST or ',' in bare or words[0].lower() not in ES_START:
        return None
    if ES_STOP.search(bare) or ES_FIRST_PERSON.search(bare) or not ES_VERB.search(bare):
        return None
    turned = [ES_SWAP.get(word.lower(), word) for word in words]
    return ' '.join([turned[0].lower(), *turned[1:]])
