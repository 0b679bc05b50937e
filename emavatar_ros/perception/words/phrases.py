"""Lists of phrases as one pattern, and text as the patterns expect it."""

from __future__ import annotations

import re

_QUOTES = str.maketrans({'’': "'", '‘': "'", '“': '"', '”': '"', '`': "'"})


def one_of(lines: str) -> str:
    """Regular expressions, one a line, as one group that matches any of them."""
    return '(?:' + '|'.join(line.strip() for line in lines.splitlines() if line.strip()) + ')'


def phrases(lines: str) -> re.Pattern[str]:
    """The same, compiled: whole words in any case."""
    return re.compile(rf'(?<!\w){one_of(lines)}(?!\w)', re.IGNORECASE)


def plain(text: str) -> str:
    """The text with straight quotes, without control characters, tags and doubled spaces."""
    text = re.sub(r'</?[a-zA-Z][^<>]{0,200}>', ' ', text.translate(_QUOTES))
    return ' '.join(''.join(sign if sign.isprintable() else ' ' for sign in text).split())
