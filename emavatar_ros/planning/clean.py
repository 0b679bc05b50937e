"""Takes from a language model's stream what can be spoken, sentence by sentence.

A small guard at the model's mouth: thinking blocks, tags, stage directions, markup, emoji and role names go, also when
a tag is split between pieces or never closed. (The voice has a cleaner of its own for every text.)
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

SHORT: Final = frozenset(('dr', 'mr', 'mrs', 'ms', 'prof', 'st', 'jr', 'sr', 'vs', 'etc', 'sra', 'sres', 'dra',
                          'srta', 'avda', 'ud', 'uds', 'pág'))
"""Words that a full stop follows without ending the sentence."""
OPEN_TAG: Final = re.compile(r'<\s*(/?)\s*([A-Za-z|][\w|:-]*)[^<>]*>')
HIDING: Final = frozenset({'think', 'thinking', 'reasoning', 'thought', 'analysis', 'scratchpad', 'pensar',
                           'pensamiento', 'razonamiento'})
"""Tags whose content isn't for the visitor."""
CLAUSE: Final = re.compile(r'(?<!&\w{3})(?<!&\w{4})[,;:](?=\s)|\s[–—-](?=\s)')
END: Final = re.compile(r'[.!?…]+["”’»)]*(?=\s|$)')
ROLE: Final = re.compile(r'^\s*(?:assistant|avatar|mira|tomas|host|guide|bot|ai|system|answer|reply|response|text|'
                         r'asistente|texto|respuesta)\s*:\s*', re.IGNORECASE)
PREAMBLE: Final = re.compile(
    r"^(?:(?:sure|certainly|of course|okay)\W+)?here(?:'s| is) (?:a|an|my|the) [^:.!?]{0,40}:\s*", re.IGNORECASE)
JSON: Final = re.compile(r'^[\s{\[]*"(?:text|reply|response|answer|say)"\s*:\s*"|^\s*\[\s*"')
FIELD: Final = re.compile(r'(?:^|"|(?<=\s))[\s,\]}]*"\w+"\s*:\s*(?:["[{\d].*)?$|"\s*[\]}]+\s*$', re.DOTALL)
"""What of JSON stands before the reply, and what behind it."""
MOST: Final = 3
"""Spoken parts of a reply."""
DIRECTION: Final = re.compile(r'[a-záéíóú]+(?:s|ing|ndo|ríe|spira)(?: [a-záéíóú]+){0,4}')


def untag(pieces: Iterable[str]) -> Iterator[str]:
    """Drops tags and what thinking tags enclose; holds back what may become a tag (at most 64 characters)."""
    held = ''
    hiding: str | None = None
    for piece in pieces:
        held += piece
        while held:
            if hiding is not None:
                end = re.search(rf'<\s*/\s*{re.escape(hiding)}\s*>', held, re.IGNORECASE)
                if not end:
                    held = held[-64:]
                    break
                held, hiding = held[end.end():], None
                continue
            start = held.find('<')
            if start < 0:
                yield held
                held = ''
                break
            if start:
                yield held[:start]
                held = held[start:]
            tag = OPEN_TAG.match(held)
            if tag:
                held = held[tag.end():]
                if not tag.group(1) and tag.group(2).lower() in HIDING:
                    hiding = tag.group(2)
            elif len(held) > 64 or re.match(r'<\s*[^\s/A-Za-z|]', held):
                held = held[2 if held.startswith('<3') else 1:]  # only a stray sign, which nobody can speak
            else:
                break


def plain(text: str) -> str:
    """One sentence without markup, stage directions, emoji, links and role names; '' when nothing is left."""
    text = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', text)
    text = re.sub(r'(?:https?://|www\.)\S*[^\s.,!?;:]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+', '', text)
    if JSON.match(text):
        text = re.sub(r'"\s*,\s*"(?!\w+"\s*:)', ' ', JSON.sub('', text))
    text = FIELD.sub('', text)
    text = re.sub(r'&(?:amp|nbsp|lt|gt|quot|apos|#\d{2,5});', lambda m: html.unescape(m[0]), text)
    text = re.sub(r'(?<!\w)(?:[:;=]-?[)(DPp]|<3|[xX]D)(?!\w)|(?<![\w&])#[^\W\d]\w*', ' ', text)
    text = re.sub(r'\*+([^*\n]{1,60})\*+', _direction, text)
    text = re.sub(r'\[[^\]]*\]?|\([^)]*\)?|\{[^}]*\}?', ' ', text)
    text = re.sub(r'[*_`#~|<>=\\^]+|^\s*(?:[-•]|\d+[.)])\s+', '', text)
    text = ROLE.sub('', PREAMBLE.sub('', text))
    text = ''.join(c for c in text if unicodedata.category(c) not in ('So', 'Sk', 'Cs', 'Co', 'Cn', 'Cc', 'Cf')
                   or c in ' \n')
    text = re.sub(r'\s+', ' ', text).strip()
    text = re.sub(r'^(?:"?\s*[,;:.…!?\]}]+\s*)+', '', text)
    # Quotation marks round the whole; one mark alone.
    if text[:1] in '"“«' and (text[-1:] in '"”»' or not re.search(r'["”»]', text[1:])):
        text = text.strip('"“”«»').strip()
    elif text.count('"') == 1:
        text = text.replace('"', '')
    text = re.sub(r'\.{2,}', '…', re.sub(r'([¡¿])[¡¿]+', r'\1', re.sub(r'([!?])[!?]+', r'\1', text)))
    text = re.sub(r'^[–—-]\s+|\s+(?=[,.!?;…])|(?<=[.!?…]),+', '', text)
    return text if re.search(r'\w', text) else ''


def _direction(found: re.Match[str]) -> str:
    """*smiles* goes, *really* stays without its stars."""
    inner = found.group(1).strip()
    return '' if DIRECTION.fullmatch(inner) and not found.group(0).startswith('**') else inner


def beats(pieces: Iterable[str], most: int = MOST, clause_words: int = 4) -> Iterator[str]:
    """Speakable parts of the stream as soon as each is whole, at most `most`: sentences; the first may be a clause of
    at least `clause_words` words (0: never). A part cut off at the stream's end comes too if it can be spoken as it
    is."""
    text = ''
    count = 0
    whole = False  # the last part ended a sentence
    for piece in untag(pieces):
        text += piece
        while (cut := _cut(text, clause_words if count == 0 else 0)) is not None:
            part, text = plain(text[:cut]), text[cut:]
            if part:
                count += 1
                whole = part[-1] in '.!?…'
                yield part
                if count == most:
                    return
    part = plain(text)
    ended = part.rstrip('"”’»)')[-1:] in set('.!?…')
    if part and (ended or (not whole and len(part.split()) >= 3)):
        yield part if ended else part.rstrip(',;:-–— ') + '.'


def _cut(text: str, clause_words: int) -> int | None:
    """Where the first part of `text` ends, or None when that can't be told yet."""
    for end in END.finditer(text):
        before = re.search(r'([^\s.]+)\.$', text[:end.end()])
        word = before.group(1).lower() if before else ''
        rest = text[end.end():].lstrip()
        # "10 a.m. Then": the day's half ends a sentence before a capital, and may before what is still to come.
        half = re.search(r'\b[ap]\.m\.$', text[:end.end()], re.IGNORECASE) and rest[:1].isupper()
        if before and (word in SHORT or len(word) == 1) and not half:
            continue
        if word == 'no' and (not rest or rest[0].isdigit()) and len(text[:end.end()].split()) > 1:
            if rest:
                continue  # "room no. 5"
            return None
        # "3." may go on as "3.5" and "x.org" as more of an address; "end." won't. "Oh." alone waits for company.
        tail = text[:end.end()].rsplit(None, 1)[-1]
        if end.end() == len(text) and (word.isdigit() or text[-1:] == '…' or '/' in tail or '.' in tail[:-1]):
            return None
        if len(text[:end.end()].split()) < 2 and len(text) - end.end() < 400:
            continue
        return end.end()
    newline = text.find('\n', len(text) - len(text.lstrip()))
    if newline > 0:
        return newline + 1
    if clause_words:
        for comma in CLAUSE.finditer(text):
            rest = text[comma.end():]
            if len(text[:comma.start()].split()) >= clause_words and rest:
                return comma.end()
    return None
