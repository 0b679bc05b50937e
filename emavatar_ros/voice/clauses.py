"""Where to cut a reply so that its first words are heard early and no cut falls inside `Dr. Smith` or `3.5`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

FIRST: Final = 3
"""Words that are enough for the first piece, where punctuation cuts it there: about a second of sound."""
SHORTEST: Final = 5
"""Words before a cut inside a phrase: a shorter piece would sound like a sentence's end."""
MOST: Final = 22

ABBREVIATIONS: Final = frozenset(re.findall(r'\S+', '''
    mr mrs ms dr prof sr sra st jr vs etc e.g i.e approx dept est fig inc ltd co mt ave blvd rd gen sen rep rev
    hon sgt capt col lt cf al a.m p.m u.s u.k ph.d b.a m.a d.c dña ud uds av núm pág srta sres dra avda p.ej ee a.k.a
    mme mlle hr fr bzw z.b d.h ca
    nr str sig dott'''))
"""Words after which a full stop ends no sentence, lower case, without the last stop."""
_CLOSING: Final = frozenset({'etc', 'a.m', 'p.m', 'inc', 'ltd', 'co', 'jr', 'u.s', 'u.k'})

_END: Final = re.compile(r'[.!?…]+["\'”’»)\]]*(?=\s|$)|[。！？]+[」』]?|\n+')
_JOINTS: Final = frozenset(re.findall(r'\S+', '''
    and but or because so that which who when where while if although though since until unless as than before
    after to with for about from into without y pero porque que cuando donde si aunque para con sin sobre desde
    et mais parce car quand où pour avec sans und aber weil dass wenn für mit ohne e ma perché quando per con
    senza'''))


_BEFORE_NUMBERS: Final = frozenset(['no', 'nos', 'tel', 'jan', 'feb', 'mar', 'apr', 'jun', 'jul', 'aug', 'sep',
                                    'sept', 'oct', 'nov', 'dec', 'vol', 'ch'])
STARTERS: Final = r'(?:The|A|An|He|She|It|I|We|They|This|That|There|But|And|So|In|What|You|My|Our)\b'
"""Words by which a new sentence is known behind "U.S.": other capitals go on with it ("U.S. Army")."""
DAYS: Final = r'(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b'
"""Capitals that go on behind "10 a.m."."""


def _begins(abbreviation: str, after: str) -> bool:
    """Whether a new sentence follows: "etc. Then", but not "U.S. Army" nor "10 a.m. Monday"."""
    if abbreviation in ('u.s', 'u.k'):
        return bool(re.match(STARTERS, after))
    return after[0].isupper() and not re.match(DAYS, after)


def _ends(text: str) -> Iterator[int]:
    """Places just behind each sentence."""
    for match in _END.finditer(text):
        mark = match.group()
        after = text[match.end():].lstrip()
        if mark[0] in '.…' and after[:1].islower():
            continue
        if mark.startswith('.') and not mark.startswith('..'):
            before = re.search(r'[^\s("“‘«\[]*$', text[:match.start()])
            word = (before.group() if before else '').lower()
            # An abbreviation ends a sentence only where a new one plainly begins: etc., a.m. before a capital.
            if word in ABBREVIATIONS and after and not (word in _CLOSING and _begins(word, after)):
                continue
            if word in _BEFORE_NUMBERS and after[:1].isdigit():
                continue
            if len(word) == 1 and word.isalpha() and word != 'i' and after[:1].isupper():
                continue  # an initial: J. Smith
            if re.fullmatch(r'\d{1,2}', word) and re.search(r'(?:^|\n|[.!?…]\s)[ \t]*$',
                            text[:match.start() - len(word)]):
                continue  # the number of a list's item
        yield match.end()


def sentences(text: str) -> list[str]:
    """The sentences of a text in any script, none empty, blanks at their ends removed."""
    found: list[str] = []
    start = 0
    for end in [*_ends(text), len(text)]:
        sentence = text[start:end].strip()
        if sentence:
            found.append(sentence)
        start = end
    return found


def ends(text: str, after: str) -> bool | None:
    """Whether a sentence ends with `text`, which ends in a mark,
    when `after` goes on; None: not before its first word is
    whole."""
    def cut(following: str) -> bool:
        return sentences(f'{text.rstrip()} {following}')[-1] == following

    sure = {cut(word) for word in ('Next', 'Monday', 'The', '5')}
    if len(sure) == 1:
        return sure.pop()
    first = re.match(r'\S+(?=\s)', after)
    return cut(first.group()) if first else None


def _words(text: str) -> int:
    wide = sum(1 for letter in text if '\u3040' <= letter <= '\u9fff')  # no blanks between words there
    return len(text.split()) + wide // 2


def _phrases(sentence: str) -> list[str]:
    """A sentence cut behind its commas, semicolons, colons and dashes (not inside numbers)."""
    parts = re.split(r'(?<=[,;:—–])(?=\s)|(?<=[、，；：])', sentence)
    return [part.strip() for part in parts if part.strip()]


def _cut(phrase: str, limit: int) -> tuple[str, str]:
    """A long phrase in two, before a joining word near `limit` words where there is one."""
    words = phrase.split()
    if len(words) < 2:
        half = max(1, min(len(phrase) // 2, limit * 2))
        return phrase[:half], phrase[half:]
    choices = [k for k in range(3, min(limit + 2, len(words) - 2)) if words[k].lower().strip('"“(') in _JOINTS]
    place = min(choices, key=lambda k: abs(k - (limit - 1))) if choices else min(limit, len(words) - 1)
    return ' '.join(words[:place]), ' '.join(words[place:])


def clauses(text: str, first: int = FIRST, most: int = MOST) -> Iterator[str]:
    """The text in pieces to be spoken one after the other; joined with blanks they give it back.

    The first piece has about `first` words, the second about twice that, later ones at most about `most`: each is
    spoken while the next is made. Cuts prefer the end of a sentence, then punctuation, then a joining word.
    """
    limits = iter((first, min(2 * first, most)))
    limit = next(limits, most)
    held = ''
    for sentence in sentences(text):
        for phrase in ([sentence] if _words(sentence) <= limit else _phrases(sentence)):
            if held and _words(held) + _words(phrase) > limit:
                yield held
                held, limit = '', next(limits, most)
            held = f'{held} {phrase}' if held else phrase
            while _words(held) > max(limit + 3, limit * 1.3):
                head, held = _cut(held, max(limit, SHORTEST))
                yield head
                limit = next(limits, most)
        if _words(held) >= min(limit, 4):  # a sentence's end is the best place to cut
            yield held
            held, limit = '', next(limits, most)
    if held:
        yield held
