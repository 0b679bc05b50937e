"""English statements turned round: I and you exchanged, with the forms of be that go with them."""

from __future__ import annotations

import re
from typing import Final

from emavatar_ros.planning.wordlists import LONGEST, Words

SWAP: Final = {
    'i': 'you', 'me': 'you', 'my': 'your', 'mine': 'yours', 'myself': 'yourself', "i'm": "you're", "i've": "you've",
    "i'd": "you'd", "i'll": "you'll", 'we': 'you', 'us': 'you', 'our': 'your', 'ours': 'yours', "we're": "you're",
    "we've": "you've", "we'd": "you'd", "we'll": "you'll", 'ourselves': 'yourselves',
}
BE: Final = {'am': 'are', 'was': 'were', "wasn't": "weren't"}
TYPED: Final = {'im': "I'm", 'ive': "I've", 'dont': "don't", 'cant': "can't", 'didnt': "didn't", 'wasnt': "wasn't",
                'isnt': "isn't", 'doesnt': "doesn't", 'couldnt': "couldn't", 'wouldnt': "wouldn't", 'thats': "that's",
                'hes': "he's", 'shes': "she's", 'theyre': "they're", 'havent': "haven't", 'hasnt': "hasn't",
                'werent': "weren't", 'arent': "aren't", 'shouldnt': "shouldn't", 'wont': "won't"}
"""Contractions without their apostrophe."""
SUBJECT: Final = (r"(?:i|i'm|i've|i'd|i'll|we|we're|we've|they|they're|they've|he|he's|she|she's|it|it's|my|our|"
                  r"the|this|that|that's|there|there's|nobody|somebody|someone|everybody|everyone)")
CUT: Final = re.compile(r"(?:,?\s+(and|but|so|because|cause|cuz|since|although|though|while)|,)"
                        rf"\s+(?={SUBJECT}\b(?!'\w{{3}}))"
                        r'|\s+[–—-]\s+', re.IGNORECASE)
TAIL: Final = re.compile(
    r',\s+(?=(?:still|just|but|and|so|because|which|who|when|though|even|especially|since|then)\b)', re.IGNORECASE)
LEAD: Final = re.compile(
    r"^(?:(?:well|so|and|but|also|plus|yes|yeah|yep|no|nope|nah|honestly|actually|basically|seriously|unfortunately|"
    r"sadly|luckily|anyway|okay|ok|oh|oh no|wow|ugh|today|yesterday|tonight|now|this morning|last night|this week)"
    r"(?:,\s*|\s+))+(?!is\b|was\b|will\b)(?=\w)", re.IGNORECASE)
FILLER: Final = re.compile(
    r",?\s+(?:lol|lmao|haha\w*|tbh|imo|tho|though|too|either|anyways?|as well)$|,\s+(?:man|dude|bro|buddy|mate|guys|"
    r"folks|honestly|thanks|thank you|please|sir|madam|mira|tomas|alright)$", re.IGNORECASE)
BOTH: Final = re.compile(r'^(?:me and my (\w+)|my (\w+) and (?:i|me)) (?=\w)', re.IGNORECASE)
POINTING: Final = frozenset(('this', 'that', "that's", 'these', 'those'))
"""What the visitor only points at: "that's gross" is not worth saying back, "that's my dream" is."""
DROPPED: Final = re.compile(r'^(?:just )?(?:lost|missed|forgot|passed|failed|won|found) (?:my|our|the|an?) \w',
                            re.IGNORECASE)
"""Past forms before which a speaker may drop the "I"."""
BROKEN: Final = re.compile(
    r"\byou(?: \w+ly)? (?:is|am|was|has|does|isn't|wasn't|hasn't|doesn't)\b|\b(?:i|my|me|mine|we|our|i'm|(?<!\d )am)\b|"
    r"\b(?:it|he|she|this|that|there) were\b|\byour (?:you|your|the|an?|is|are|i)\b|"
    r"\byou (?:you|your|yours|yourself)\b|"
    r"\b(\w+) \1\b|"
    r"\b(?:and|or|but|then) (?:was|wasn't|has|is)\b|"
    r"\bhad did\b|\bwas \w+ was\b|\bas you\b", re.IGNORECASE)
"""What no turned clause may contain, whatever the rules above made of it."""
NOTHING: Final = re.compile(
    r"^i(?:'m| am) one$|^(?:it|that|this|there|they|he|she)(?:'s|'re| is| are| was)? (?:\w+)$|"
    r"^i (?:\w+ly |just |do |still )?"
    r"(?:get|got|love|like|see|know|hate|want|need|play|believe) (?:it|that|this|them|one|him|her|too)$",
    re.IGNORECASE)
BEFORE: Final = frozenset(['me', 'my', 'the', 'a', 'an', 'us', 'him', 'her', 'it', 'to', 'in', 'on', 'at', 'with',
                           'for', 'yesterday', 'today', 'again', 'away', 'up', 'out', 'this', 'last', 'and', 'when'])
"""What follows a past form, and not an adjective."""
HERE: Final = frozenset(['in', 'at', 'on', 'not', 'a', 'an', 'the', 'ill', 'sick', 'dead', 'gone', 'here', 'there',
                         'been', 'still', 'very', 'so', 'really', 'always', 'never', 'late'])
"""What follows "my mum's" where the 's is the verb."""
PLAIN: Final = re.compile(r"[A-Za-z][A-Za-zÀ-ÿ'-]*|\d+(?:[.,:]\d+)?%?|[$€£]\d+(?:[.,]\d+)?|Dr\.|Mr\.|Mrs\.|Ms\.|St\.")


def clauses(sentence: str, known: Words) -> list[tuple[int, str]]:
    """The clauses of a sentence that can be turned round, with their weight: 3 a reason, 2 of the visitor, 1 other."""
    bare = sentence.rstrip('.!, ')
    if bare.isupper():
        bare = bare.lower()
    bare = re.sub(r'(?<=\w )also ', '', bare)
    bare = ' '.join(TYPED.get(word.lower(), word) for word in bare.split())
    while True:
        shorter = FILLER.sub('', LEAD.sub('', bare))
        if shorter == bare:
            break
        bare = shorter
    if known.stop.search(bare):
        return []
    if bare.lower().startswith('because '):
        # The reason is all there is, or a comma ends it; else where it ends can't be told.
        bare = bare[8:]
        if ',' not in bare and len(re.findall(rf"\b{SUBJECT}(?= )", bare, re.IGNORECASE)) > 1:
            return []
    if DROPPED.match(bare):
        bare = f'I {bare[0].lower()}{bare[1:]}'
    found = []
    for why, part in _parts(bare, known):
        turned = _turned(part, known)
        if turned:
            own = bool(re.search(r"\byou(?:r|rs|'\w+)?\b", turned))
            found.append((3 if why else 2 if own else 1, turned))
    return found


def _parts(bare: str, known: Words) -> list[tuple[bool, str]]:
    """A sentence's statements, each with whether it gives a reason."""
    parts: list[tuple[str, str]] = []
    start, joiner = 0, ''
    for cut in CUT.finditer(bare):
        # "the cat and the dog" is one thing, "my cat died and the house is quiet" are two.
        sides = bare[start:cut.start()], CUT.split(bare[cut.end():])[0]
        if (cut.group(1) or '').lower() == 'and' and not all(_states(side.lower().split(), known) for side in sides):
            continue
        parts.append((joiner, bare[start:cut.start()]))
        start, joiner = cut.end(), (cut.group(1) or '').lower()
    parts.append((joiner, bare[start:]))
    return [(how in ('because', 'cause', 'cuz', 'since'), TAIL.split(part)[0]) for how, part in parts
            if how not in ('although', 'though', 'while')]


def _turned(part: str, known: Words) -> str | None:
    words = part.split()
    if not 3 <= len(words) <= LONGEST or any(not PLAIN.fullmatch(word) for word in words):
        return None
    low = [word.lower() for word in words]
    if any(word[0].isupper() and low[place] in known.starts and low[place][0] != 'i' for place,
           word in enumerate(words) if place):
        return None  # "my gift This is": two sentences without their full stop
    both = BOTH.match(part)
    if both:
        rest = _turned(f'we {part[both.end():]}', known)
        return f'you and your {both[1] or both[2]} {rest[4:]}' if rest else None
    if low[-1] in known.dangling or re.search(r"(?<!n)'\w+$", low[-1]) or NOTHING.match(part) or not _states(low,
           known):
        return None
    swapped = []
    for place, word in enumerate(words):
        swapped.append(_swap(place, word, low, known))
    text = ' '.join(swapped)
    if low[0] in POINTING and (low[1] in known.auxiliaries or "'" in low[0]) and not re.search(r'\byour?\b', text):
        return None
    return None if BROKEN.search(text) or len(text.split()) > LONGEST else text


def _swap(place: int, word: str, low: list[str], known: Words) -> str:
    this = low[place]
    if this in BE and (_follows_i(place, low, known) or (this == 'am' and low[place + 1:place + 2] == ['i'])):
        return BE[this]
    if this in SWAP and word != 'US':
        return SWAP[this]
    if place == 0 or (word.isupper() and len(word) > 4):
        return this
    return word


def _follows_i(place: int, low: list[str], known: Words) -> bool:
    """Whether the subject before this verb is I, perhaps with an adverb between."""
    while place and (low[place - 1] in known.adverbs or low[place - 1].endswith('ly')):
        place -= 1
    return place > 0 and low[place - 1] == 'i'


def _states(low: list[str], known: Words) -> bool:
    """Whether these words begin as a statement does: a subject and a finite verb that goes with it."""
    start = low[0] if len(low) > 1 else ''
    if start not in known.starts:
        return False
    place = 1
    while place < len(low) - 1 and (low[place] in known.adverbs or low[place].endswith('ly')):
        place += 1
    verb = low[place]
    past = verb in known.past or verb in known.auxiliaries or verb.endswith('ed')
    if "'" in start:
        # "it's" and "I'm" bring their verb; what follows "I've" and "I'd" is one.
        return start[-2:] in ("'s", "'m", "re") or past or verb in known.verbs or verb in ('been', 'gone', 'done',
                     'seen')
    if start in ('i', 'we', 'they'):
        return verb in known.verbs or past
    if start in ('my', 'our', 'the', 'these', 'those') or (start in POINTING and not past and verb not in known.thirds):
        return _has_verb(low, known)
    if start == 'there':
        return verb in known.auxiliaries
    return verb in known.thirds or past


def _has_verb(low: list[str], known: Words) -> bool:
    """Whether a noun of one to three words is followed by a finite verb."""
    if len(low) > 2 and low[1].endswith("'s") and (low[2] in HERE or low[2].endswith('ing')):
        return True
    for place in range(2, min(5, len(low))):
        word, after = low[place], low[place + 1] if place + 1 < len(low) else ''
        if word in known.auxiliaries:
            return True
        if word in known.past or word in known.thirds:
            return after not in ('of', 'by', 'with') and after not in known.auxiliaries
        if word.endswith('ed') and (after in BEFORE or not after):
            return True
        if low[place - 1].endswith('s') and word in known.verbs:
            return True
        if word in known.dangling or word in SWAP or word in known.starts:
            return False
    return False
