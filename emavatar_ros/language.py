"""Which language a typed line is in, as far as its letters and small words tell.

A recogniser hears the language; a typed line has none attached. Only the languages a visitor is likely to type are
known; what can't be told apart stays with the one expected.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SMALL: Final = {
    'en': 'the a an and is are am was were i you it my your of to in that this have has not do what with for on at but '
          'can he she we they be just will would about from there im its dont',
    'es': 'el la los las un una y es son estoy está estás soy eres yo tú mi tu su de del que en no por para con qué '
          'cómo me se lo pero muy hay tengo ha he ya más esto este esta hola gracias',
    'fr': 'le la les un une et est sont je tu il elle nous vous mon ma mes de du des que qui pas ne en pour avec dans '
          'ce cette suis ai ça mais très bonjour merci',
    'de': 'der die das ein eine und ist sind ich du er sie es wir mein meine nicht zu mit für auf im den dem von was '
          'wie aber bin habe hat sehr auch guten danke',
    'it': 'il lo la gli le un una e è sono io tu mi mio mia di del che non per con in ma molto ho ha questo questa '
          'come cosa ciao grazie',
    'pt': 'o a os as um uma e é são eu você meu minha de do da que não em para com por mas muito estou está tenho isso '
          'este esta como olá obrigado obrigada',
}
_WORDS: Final = {language: frozenset(words.split()) for language, words in _SMALL.items()}
_ENGLISH_TOO: Final = frozenset((
    'no', 'me', 'die', 'he', 'ha', 'come', 'son', 'war', 'also', 'man', 'hat', 'am', 'bin', 'so', 'sole', 'con', 'par',
    'ton', 'mine'))
"""Small words of other languages that are English words too: "Oh no, no, me?" is not Spanish."""
_SCRIPTS: Final = (('HIRAGANA', 'ja'), ('KATAKANA', 'ja'), ('CJK UNIFIED', 'zh'), ('DEVANAGARI', 'hi'))


def guess(text: str, expected: str) -> str:
    """The language of a text (ISO 639-1): `expected` unless another one is clearly meant.

    Script decides first (Japanese before Chinese, whose signs it shares), then small words: another language needs two
    different ones more than the expected one.
    """
    names = [unicodedata.name(letter, '') for letter in text if letter.isalpha()]
    for script, language in _SCRIPTS:
        if sum(name.startswith(script) for name in names) > 0.2 * max(len(names), 1):
            return language
    words = {word.replace("'", '') for word in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.lower())}
    primary = expected.split('-')[0]
    told = words - _ENGLISH_TOO if primary == 'en' else words
    found = {language: len(known & (words if language == 'en' else told)) for language, known in _WORDS.items()}
    best = max(found, key=lambda language: (found[language], language == primary))
    return best if found[best] >= found.get(primary, 0) + 2 else expected
