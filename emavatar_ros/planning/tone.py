"""Whether what is felt, how it is said and what is shown belong together.

A table of what a listener's face may show to each feeling, and what an instruction does to a voice: bright, grave or
neither. planning knows no voice, so what an instruction does is asked of the one that is given (`Realise`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.planning.script import Beat

Realise = Callable[[str, str], Delivery]
"""What a voice makes of an instruction and an expression; an expression of '' has no manner of its own."""
BRIGHT: Final = 'bright'
GRAVE: Final = 'grave'
EVEN: Final = 'even'
SHOWN: Final[Mapping[str, frozenset[str]]] = {
    emotion: frozenset(faces.split()) for emotion, faces in {
        'angry': 'neutral sad fear surprised', 'contempt': 'neutral sad', 'disgusted': 'disgusted neutral sad',
        'fear': 'neutral sad fear', 'happy': 'happy neutral surprised', 'neutral': 'neutral happy',
        'sad': 'neutral sad', 'surprised': 'happy neutral surprised', 'unsure': 'neutral happy'}.items()}
"""What a listener's face may show, by what the visitor feels: anger and scorn are never shown, a smile only to joy,
surprise and calm."""


def tone(instruction: str, realise: Realise) -> str:
    """BRIGHT when the voice goes up and faster, GRAVE when it goes down and clearly slower, else EVEN."""
    how = realise(instruction, '')
    if how.pitch > 1.04 and how.rate > 1.01:
        return BRIGHT
    return GRAVE if how.pitch < 0.93 and how.rate < 0.9 else EVEN


def fits(emotion: str, beat: Beat, realise: Realise | None = None) -> bool:
    """Whether a beat's face, and the way it is said, suit what the visitor feels (a label or unsure) and each other."""
    if beat.expression not in SHOWN[emotion]:
        return False
    how = EVEN if realise is None else tone(beat.instruction, realise)
    return not ((how == BRIGHT and (beat.expression in ('sad', 'fear') or emotion in ('sad', 'fear', 'angry')))
                or (how == GRAVE and beat.expression == 'happy'))
