"""A sound that tells a visitor at once that they were heard, while the reply is still being written.

It fits the feeling, is never the same twice in a row, and is left out when the reply comes soon anyway or little was
said. It is a script of its own, named after the reply with SUFFIX, and never counts as the reply.
"""

from __future__ import annotations

import re
import statistics
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from emavatar_ros.planning import texts
from emavatar_ros.planning.manner import MANNERS
from emavatar_ros.planning.script import Beat

SUFFIX: Final = '-ack'
"""What its script's id ends with."""
FEWEST_WORDS: Final = 3
"""Fewer words from the visitor make a quick exchange: an "Okay." after each "yes" is in the way."""
REMEMBERED: Final = 5
"""Replies whose waits tell how soon the next one comes."""


class Acknowledging:
    """Chooses acknowledgements. soon: a reply expected within so many seconds needs none."""

    def __init__(self, soon: float) -> None:
        self._soon = soon
        self._waits: deque[float] = deque(maxlen=REMEMBERED)
        self._last = ''

    def waited(self, seconds: float) -> None:
        """A reply was heard so long after the feeling was known."""
        self._waits.append(seconds)

    def choose(self, text: str, language: str, emotion: str) -> Beat | None:
        """What to say now to a visitor who said `text`, None for nothing.

        language: BCP 47, one without sounds of its own gets none; emotion: a label, or unsure.
        """
        if language.split('-')[0].lower() not in texts.LANGUAGES or len(text.split()) < FEWEST_WORDS:
            return None
        if self._waits and statistics.median(self._waits) < self._soon:
            return None
        sounds = texts.acknowledgements(texts.base(language))[emotion]
        sound = next(item for item in sounds if item != self._last)
        self._last = sound
        return _beat(sound, emotion)


def phrases(languages: Sequence[str]) -> Iterator[tuple[Beat, str]]:
    """All that may be said in these languages (BCP 47), each with its language: to be synthesised beforehand."""
    for language in dict.fromkeys(texts.base(tag) for tag in languages):
        for emotion, sounds in texts.acknowledgements(language).items():
            for sound in sounds:
                yield _beat(sound, emotion), language


def unsaid(part: str, said: str) -> str:
    """The beginning of a reply without the word that the acknowledgement `said` has just said."""
    word = re.sub(r'\W+$|^\W+', '', said)
    rest = re.sub(rf'^\W*{re.escape(word)}\b[^\w¿¡]*', '', part, flags=re.IGNORECASE) if word else part
    return rest[:1].upper() + rest[1:] if len(rest.split()) > 1 else part


def _beat(sound: str, emotion: str) -> Beat:
    manner = MANNERS[emotion]
    return Beat(sound, manner.opening, manner.faces[0])
