"""A visitor's words as data: cut to one plain line before a language model sees them, and freed of what is personal
before they outlast the visit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

LONGEST: Final = 200  # characters
_TOKEN: Final = re.compile(r'<\|[^|]*\|?>?')
_MARKUP: Final = re.compile(r'[\[\]{}<>|`"“”«»\x00-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]')
_ROLE: Final = re.compile(r'(?:^|(?<=\s))#*\s*(?:system|assistant|user|developer|visitor|avatar|sistema|usuario|'
                          r'asistente)\s*:', re.IGNORECASE)
_PLAIN: Final = """a an the i my our your his her its their this that these those it he she we they you there here when
    while because since after before no not nobody somebody someone everyone everybody everything nothing something one
    two three and but so then if as at in on for from with without about all both each every some any many most more
    only just still again today tomorrow yesterday now lost losing waiting waited missed missing failed has had have is
    are was were got getting being afraid alone"""
_OPENERS: Final = frozenset(_PLAIN.split())
"""Words that may begin a sentence without being a name."""
_SIGNS: Final = '.,;:!?…¡¿()\'’-–—'


def quoted(text: str, longest: int = LONGEST) -> str:
    """The text as one line without quotation marks, brackets, control characters or role names: put between quotation
    marks it can't end them. Cut at a word to `longest` characters."""
    plain = ' '.join(_ROLE.sub(' ', _MARKUP.sub(' ', _TOKEN.sub(' ', text))).split())
    if len(plain) <= longest:
        return plain
    return plain[:longest - 1].rsplit(' ', 1)[0] + '…'


def impersonal(text: str, names: Sequence[str] = ()) -> str:
    """The text with "…" for names, numbers and addresses: words with digits or signs, words with a capital letter
    except I and common ones that begin a sentence, and the words of `names`.

    A name in small letters that nobody introduced is not recognised.
    """
    kept: list[str] = []
    for word, hidden in _marked(text, names):
        if not hidden:
            kept.append(word)
        elif not kept or kept[-1] != '…':
            kept.append('…')
    return ' '.join(kept)


def personal(reply: str, told: str, names: Sequence[str] = ()) -> bool:
    """Whether a reply holds a name or a number. Its sentences may begin with any word, but not with one that the
    visitor's own words, `told`, or `names` have as a name."""
    mentioned = [word for word, hidden in _marked(told, names) if hidden]
    return any(hidden for _, hidden in _marked(reply, (*names, *mentioned), begins_with_any=True))


def _marked(text: str, names: Sequence[str], begins_with_any: bool = False) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it may be personal."""
    known = {word.lower() for name in names for word in re.findall(r'\w+', name)}
    begins = True
    for word in text.split():
        bare = word.strip(_SIGNS)
        stem = re.split(r"['’-]", bare)[0].lower()
        capital = any(c.isupper() for c in bare) and stem != 'i'
        usual = begins and (bare[1:].islower() or len(bare) < 2 if begins_with_any else stem in _OPENERS)
        hidden = stem in known or bare.lower() in known or re.search(r'[\d@/\\_#]', word) is not None
        yield word, hidden or (capital and not usual)
        begins = word[-1] in '.!?…'
