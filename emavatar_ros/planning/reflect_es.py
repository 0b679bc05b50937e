"""Spanish statements turned round, only where it is safe: sentences about others, and the verbs of a table."""

from __future__ import annotations

import re
from typing import Final

from emavatar_ros.planning.wordlists import LONGEST, Words

SWAP: Final = {'mi': 'tu', 'mis': 'tus', 'me': 'te', 'mí': 'ti', 'conmigo': 'contigo', 'mío': 'tuyo', 'mía': 'tuya',
               'míos': 'tuyos', 'mías': 'tuyas'}
NOUNS: Final = frozenset(['trabajo', 'caso', 'extraño', 'recuerdo', 'mudo', 'acuerdo', 'vino', 'vista', 'di', 'traje'])
"""Verb forms that are nouns elsewhere: turned only where a verb must stand."""
PRONOUNS: Final = frozenset(['me', 'se', 'lo', 'la', 'los', 'las', 'le', 'les'])
OWN: Final = re.compile(r'^(\w*(?:ar|er|ir|ír|ándo|iéndo))me$')
"""A verb with "me" at its end: "irme" becomes "irte"."""
FIRM: Final = frozenset(['firme', 'duerme', 'alarme', 'confirme', 'afirme'])
ARTICLES: Final = frozenset(['el', 'la', 'los', 'las', 'mi', 'mis', 'este', 'esta', 'ese', 'esa', 'esos', 'esas',
                             'todo', 'todos', 'un', 'una', 'unos', 'unas', 'de', 'otra'])
LEAD: Final = re.compile(r'^(?:(?:pues|bueno|y|pero|es que|sí|no,|hoy|ayer|anoche|ahora|esta mañana|además|porque)'
                         r'(?:,\s*|\s+))+(?=\w)', re.IGNORECASE)
CUT: Final = re.compile(r',?\s+(porque|ya que|pero|y)\s+'
                        r'(?=(?:mi|mis|el|la|los|las|me|no|nadie|alguien|yo|estoy|tengo|he|soy|voy|fui|\w+(?:é|í))\b)'
                        r'|,\s+(?=(?:mi|mis|me|no|nadie|alguien|yo)\b)', re.IGNORECASE)
FIRST_PERSON: Final = re.compile(r'^\w+(?:é|í|amos|emos|imos|ré|aba|ía)$')
HARMLESS: Final = frozenset(['aquí', 'allí', 'así', 'ahí', 'mí', 'ti', 'café', 'bebé', 'té', 'cafés', 'día', 'mía',
                             'compañía', 'policía', 'todavía', 'energía', 'fotografía', 'alegría', 'librería',
                             'cafetería', 'panadería', 'tía', 'vía', 'vos', 'había'])
THIRD: Final = re.compile(r'^\w+(?:ó|aron|ieron|yeron)$')
WAS: Final = re.compile(r'^\w+(?:aba|aban|ía|ían)$')
PLAIN: Final = re.compile(r'[A-Za-zÁÉÍÓÚÑÜáéíóúñü]+|\d+(?:[.,:]\d+)?%?')


def clauses(sentence: str, known: Words) -> list[tuple[int, str]]:
    """As reflect_en.clauses."""
    bare = sentence.strip('¡!¿.… ,')
    if bare.isupper():
        bare = bare.lower()
    bare = LEAD.sub('', bare)
    found, start, joiner = [], 0, ''
    cuts = [*CUT.finditer(bare), None]
    for cut in cuts:
        part = bare[start:cut.start() if cut else len(bare)]
        turned = None if known.stop.search(part) else _turned(part, known)
        if turned:
            own = bool(re.search(r'\b(?:te|tu|tus|ti)\b|\b\w+ste\b|\b(?:has|estás|eres|tienes)\b', turned))
            found.append((3 if joiner in ('porque', 'ya que') else 2 if own else 1, turned))
        if cut:
            start, joiner = cut.end(), (cut.group(1) or '').lower()
    return found


def _turned(part: str, known: Words) -> str | None:
    words = part.split()
    if not 3 <= len(words) <= LONGEST or any(not PLAIN.fullmatch(word) for word in words):
        return None
    low = [word.lower() for word in words]
    first = low[0] in known.starts or low[0] in known.table
    if not first or low[-1] in known.dangling or (low[0] in ('esto', 'eso', 'este') and len(low) < 4):
        return None
    if low[0] == 'yo':
        words, low = words[1:], low[1:]
    verb = 0
    while verb < len(low) - 1 and (low[verb] in ('no', 'ya', 'hoy', 'ayer', 'anoche', 'nunca', 'también', 'casi',
                     'solo')
                                   or (low[verb] in PRONOUNS and _verbal(low[verb + 1], known))):
        verb += 1
    own = low[verb] in known.table
    if not own and not _others(low, verb, known):
        return None
    turned = []
    for place, word in enumerate(low):
        if own and place == verb:
            turned.append(known.table[word])
        elif word in known.table and word not in NOUNS:
            return None  # a second verb: who does it can't be told
        elif word == 'yo' or re.search(r'(?:r|ndo)(?:nos|me(?:lo|la|los|las))$', word) or _mine(place, low, own):
            return None
        elif OWN.match(word) and word not in FIRM:
            turned.append(OWN.sub(r'\1te', word))
        elif place and low[place - 1] in ('y', 'ni', 'no') and place != verb and re.search(r'(?:o|oy)$', word):
            return None
        elif word in SWAP:
            turned.append(SWAP[word])
        else:
            turned.append(word if place == 0 else words[place])
    return ' '.join(turned)


def _mine(place: int, low: list[str], own: bool) -> bool:
    """Whether this word may be a verb in the first person that the table does not have."""
    word = low[place]
    if not FIRST_PERSON.match(word) or word in HARMLESS:
        return False
    if WAS.match(word):
        # A noun in -ía behind its article; or "the food was", whose subject is there.
        return not (place and low[place - 1] in ARTICLES) and (own or low[0] not in ARTICLES | {'nadie', 'alguien'})
    return True


def _verbal(word: str, known: Words) -> bool:
    """Whether an object pronoun may stand before this word."""
    return word in PRONOUNS or word in known.table or word in known.thirds or bool(THIRD.match(word))


def _others(low: list[str], verb: int, known: Words) -> bool:
    """Whether a third person's verb stands where it must: at `verb`, or behind a noun of one to three words."""
    if low[verb] in known.thirds or THIRD.match(low[verb]):
        return low[verb] not in PRONOUNS
    if low[verb] in PRONOUNS and low[verb] in ('me', 'le', 'les'):
        return False
    for place in range(verb + (2 if low[verb] in PRONOUNS else 1), min(verb + 5, len(low))):
        word = low[place]
        if (word in known.thirds and word not in NOUNS) or THIRD.match(word) or WAS.match(word):
            return word not in HARMLESS
        if word in ('y', 'o', 'para', 'por', 'con', 'en'):
            return False
    return False
