"""Text to phonemes by the espeak-ng program, which runs as its own process (it is GPL; the project is not).

A call takes about 15 ms of processor time, starting the program included; the text goes in by its standard input.
espeak-ng drops punctuation, which a neural voice needs for its melody, so the text is cut at it, the parts go in as
paragraphs of one call, and the marks are put back between the lines that come out.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from typing import Final

from emavatar_ros.errors import BadInput, Missing, Unavailable

PROGRAM: Final = 'espeak-ng'
_TIMEOUT: Final = 10.0
_MARKS: Final = re.compile(r'(?:(?<!\d)[,:]|[,:](?!\d)|[.](?=\W|$)|[;!?…—–¡¿"“”«»()。，、！？；：]|\s-\s)+')
_FLAG: Final = re.compile(r'\([a-z]{2,3}(?:-[a-z0-9-]+)?\)')
_KEEP: Final = {'。': '.', '，': ',', '、': ',', '！': '!', '？': '?', '；': ';', '：': ':', '–': '—', '-': '—',
                '«': '', '»': '', '¡': '', '¿': '', '"': '', '“': '', '”': '', '(': ',', ')': ','}


def program() -> str:
    """Path of the espeak-ng program. Raises Missing when it is not installed."""
    path = shutil.which(PROGRAM)
    if path is None:
        raise Missing('the program espeak-ng is needed to speak; install it with: apt install espeak-ng')
    return path


def run(arguments: list[str], text: str) -> bytes:
    """Standard output of espeak-ng for a text. Raises Missing, or Unavailable when it fails or takes over 10 s."""
    try:
        done = subprocess.run([program(), *arguments, '--stdin'], input=text.encode('utf-8', 'ignore'),
                              capture_output=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f'espeak-ng did not answer within {_TIMEOUT:.0f} s') from None
    if done.returncode != 0:
        lines = done.stderr.decode('utf-8', 'replace').strip().splitlines()
        raise Unavailable(f'espeak-ng ended with code {done.returncode}: {lines[-1] if lines else "no message"}')
    return done.stdout


@functools.lru_cache(maxsize=1)
def languages() -> frozenset[str]:
    """Language tags that espeak-ng speaks, lower case (`en-us`, `de`, ...)."""
    lines = subprocess.run([program(), '--voices'], capture_output=True, timeout=_TIMEOUT, check=False).stdout
    rows = [line.split() for line in lines.decode('utf-8', 'replace').splitlines()[1:]]
    return frozenset(row[1].lower() for row in rows if len(row) > 1)


def known(language: str) -> str:
    """The espeak-ng language for a BCP 47 tag: itself, or its primary language. Raises BadInput for one it lacks."""
    tag = language.strip().lower().replace('_', '-')
    for choice in (tag, {'en': 'en-us', 'fr': 'fr-fr', 'zh': 'cmn', 'nb': 'nb', 'no': 'nb'}.get(tag.split('-')[0]),
                   tag.split('-')[0]):
        if choice and choice in languages():
            return choice
    raise BadInput(f'no voice speaks the language {language!r}; espeak-ng knows: {", ".join(sorted(languages()))}')


def _lines(text: str, language: str) -> list[str]:
    out = run(['-q', '--ipa', '--tie=^', '-v', language], text).decode('utf-8', 'replace')
    return [line.strip() for line in _FLAG.sub('', out).splitlines() if line.strip()]


@functools.lru_cache(maxsize=256)
def ipa(text: str, language: str) -> str:
    """Phonemes of a text with its punctuation: IPA, words apart by blanks, letters of one sound tied by `^`.

    language: one of `languages()`. A text without letters or digits gives only its marks. One call as a rule; one
    for each stretch between marks when espeak-ng cut the text at other places than the marks.
    """
    parts: list[tuple[str, str]] = []  # words, marks behind them
    start = 0
    for match in _MARKS.finditer(text):
        parts.append((text[start:match.start()].strip(), match.group()))
        start = match.end()
    parts.append((text[start:].strip(), ''))
    spoken = [words for words, _ in parts if any(letter.isalnum() for letter in words)]
    lines = _lines('\n\n'.join(spoken), language) if spoken else []
    if len(lines) != len(spoken):
        lines = [' '.join(_lines(words, language)) for words in spoken]
    found = iter(lines)
    result = ''
    for words, marks in parts:
        said = next(found) if any(letter.isalnum() for letter in words) else ''
        if said and result:
            result += ' '
        result += said + ''.join(_KEEP.get(mark, mark) for mark in marks if not mark.isspace())
    return result.strip()
