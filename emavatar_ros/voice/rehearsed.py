"""A voice that has some phrases ready: they sound at once, as often as they are wanted.

Made while nothing else is to be said, one by one. Kept in memory only, some 40 kB a phrase.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.voice.speech import Speech, Voice

Phrase = tuple[str, Delivery, str]
"""Text, how it is said, and its language (BCP 47)."""


class Rehearsed:
    """A Voice (speech.py) over another. phrases: what to have ready."""

    def __init__(self, voice: Voice, phrases: Iterable[Phrase]) -> None:
        self._voice = voice
        self._open = deque(dict.fromkeys(phrases))
        self._ready: dict[Phrase, tuple[Speech, ...]] = {}
        self._stopped = False
        self.name, self.rate = voice.name, voice.rate

    @property
    def ready(self) -> int:
        """Phrases that sound at once."""
        return len(self._ready)

    def rehearse(self) -> bool:
        """Make one more phrase ready, in the time it takes to speak it; False when all are. One that `stop` cut off
        comes again later."""
        if not self._open:
            return False
        phrase = self._open.popleft()
        self._stopped = False
        made = tuple(self._voice.speak(*phrase))
        if self._stopped:
            self._open.append(phrase)
        else:
            self._ready[phrase] = made
        return True

    def speak(self, text: str, delivery: Delivery, language: str) -> Iterator[Speech]:
        """As Voice.speak."""
        ready = self._ready.get((text, delivery, language))
        yield from self._voice.speak(text, delivery, language) if ready is None else ready

    def stop(self) -> None:
        """As Voice.stop."""
        self._stopped = True
        self._voice.stop()

    def warm_up(self) -> None:
        """As Voice.warm_up."""
        self._voice.warm_up()
