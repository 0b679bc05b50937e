"""Do these words sound finished? It decides how long a pause may be before the turn is the avatar's.

A recogniser puts a full stop behind nearly everything, so the last word counts more than the mark: nobody ends with
"because" or "the". Words are listed for the languages the voices speak; for others only the marks count.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final


class Wording(Enum):
    """FINISHED: a whole sentence. UNFINISHED: more must come. OPEN: can't tell."""

    FINISHED = 'finished'
    UNFINISHED = 'unfinished'
    OPEN = 'open'


SURE: Final = 0.6
"""Below this confidence a full stop means nothing."""
MARKS: Final = '.!?。！？।'
GOES_ON: Final = (',', ';', ':', '-', '\u2013', '—', '…', '...', '、', '\uff0c')

# Last words after which more must come, whatever mark the recogniser put.
_NEVER_LAST: Final = {
    'en': """a an the and or but because although if unless whereas my your our their its i'm we're they're i've we've
        um uh er erm hmm like very gonna wanna""",
    'es': 'el la los las un una unos unas y o pero porque aunque si que mi su tu de del al muy eh este',
    'fr': """le la les un une des et ou mais parce que qui si mon ma mes ton ta son sa de du au aux très euh je tu""",
    'it': 'il lo la i gli le un una e o ma perché che se mio mia di del della molto ehm',
    'pt': 'o a os as um uma e ou mas porque que se meu minha de do da muito eh',
    'de': 'der die das den dem ein eine einen und oder aber weil dass wenn mein meine sehr äh ähm ich',
}
# These may end a sentence ("where are you from"), but rarely do.
_SELDOM_LAST: Final = {
    'en': """to of for with at in on from by about into that which who when while so then than is are was were am have
        has had will would can could i we they he she""",
    'es': 'a en con por para sin sobre cuando es son está están yo',
    'fr': 'à en dans avec pour sans sur quand est sont il elle nous vous',
    'it': 'a in con per senza su quando è sono',
    'pt': 'em com para por sem sobre quando é são eu',
    'de': 'zu in mit für ohne auf bei von ist sind war wir er sie',
}
NEVER_LAST: Final = {language: frozenset(words.split()) for language, words in _NEVER_LAST.items()}
SELDOM_LAST: Final = {language: frozenset(words.split()) for language, words in _SELDOM_LAST.items()}


def wording(text: str, language: str = 'en', confidence: float = 1.0) -> Wording:
    """How a transcript so far ends. language: ISO 639-1; confidence of the recogniser in [0, 1]."""
    text = text.strip().rstrip('"\'»”)')
    if not text:
        return Wording.OPEN
    if text.endswith(GOES_ON):
        return Wording.UNFINISHED
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text.lower())
    last = words[-1].replace('’', "'") if words else ''
    asked = text[-1] in '?？'
    marked = text[-1] in MARKS
    if last in NEVER_LAST.get(language, ()) and not asked:
        return Wording.UNFINISHED
    if last in SELDOM_LAST.get(language, ()) and not asked:
        return Wording.OPEN if marked else Wording.UNFINISHED
    return Wording.FINISHED if marked and confidence >= SURE else Wording.OPEN
