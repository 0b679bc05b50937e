"""How to answer each feeling: tone of voice, face and goal, as a table.

The face of a listener is not a mirror: anger meets calm attention, grief a soft sad face, and only joy and surprise are
shared. Instructions are plain English, whatever the reply's language; the voice reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.labels import UNSURE


@dataclass(frozen=True)
class Manner:
    """opening, following: instructions for the first beat and the rest; faces: their expressions; goal: what the reply
    is to do; feeling: the visitor's feeling in a word that reads well in "sounds ...", per language."""

    opening: str
    following: str
    faces: tuple[str, str]
    goal: str
    feeling: dict[str, str]


MANNERS: Final[dict[str, Manner]] = {
    'angry': Manner('speak calmly and firmly, a little lower and slower, taking it seriously',
                    'speak calmly and evenly, with a warm, steady voice', ('sad', 'neutral'),
                    'take the complaint seriously and find the next useful step',
                    {'en': 'angry', 'es': 'enfado'}),
    'contempt': Manner('speak evenly and plainly, relaxed, with no edge', 'speak in a friendly, matter-of-fact voice',
                       ('neutral', 'neutral'), 'stay respectful, accept the doubt and be of use',
                       {'en': 'scornful', 'es': 'desprecio'}),
    'disgusted': Manner('speak with quiet understanding, a little lower', 'speak calmly and helpfully, at an even pace',
                        ('disgusted', 'neutral'), 'agree that it is unpleasant and help to get away from it',
                        {'en': 'disgusted', 'es': 'asco'}),
    'fear': Manner('speak softly and slowly, with a low, steady, reassuring voice',
                   'speak gently and slowly, with a calm voice', ('sad', 'neutral'),
                   'steady the visitor and name one small next step', {'en': 'afraid', 'es': 'miedo'}),
    'happy': Manner('speak brightly and a little faster, with a smiling voice',
                    'speak warmly and lively, with a smiling voice', ('happy', 'happy'),
                    'share the joy and let the visitor tell more', {'en': 'happy', 'es': 'alegría'}),
    'neutral': Manner('speak in a friendly, relaxed voice at an even pace', 'speak in a friendly, clear voice',
                      ('neutral', 'happy'), 'answer plainly and keep the conversation open',
                      {'en': 'calm', 'es': 'calma'}),
    'sad': Manner('speak slowly and softly, with a low, gentle voice', 'speak softly and warmly, unhurried',
                  ('sad', 'neutral'), 'show that the sadness was heard and leave room for it',
                  {'en': 'sad', 'es': 'tristeza'}),
    'surprised': Manner('speak in a lively, curious voice, a little higher', 'speak with interest, at an easy pace',
                        ('surprised', 'happy'), 'share the surprise and help to make sense of it',
                        {'en': 'surprised', 'es': 'sorpresa'}),
    UNSURE: Manner('speak in a soft, friendly voice at an even pace', 'speak warmly and clearly, at an easy pace',
                   ('neutral', 'neutral'), 'find out how the visitor feels without presuming',
                   {'en': 'unclear', 'es': 'no está claro'}),
}
BENEATH: Final = {
    'angry': {'en': 'fed up with it', 'es': 'está harto de eso'},
    'contempt': {'en': 'thinks little of it', 'es': 'le parece poca cosa'},
    'disgusted': {'en': 'disgusted by it', 'es': 'le da asco'},
    'fear': {'en': 'worried about it', 'es': 'le preocupa'},
    'sad': {'en': 'sad about it', 'es': 'le entristece'},
}
"""What is felt beneath words that say something else."""


def manner(estimate: Estimate) -> Manner:
    """The manner that fits the estimate's label."""
    return MANNERS[estimate.label]


def hint(estimate: Estimate, language: str) -> str:
    """What the model is told of the feeling in a few words, such as "sad"; where the views contradict each other, what
    it is towards what was said: "fed up with it" under ironic praise, "sad about it" under brave words."""
    base = 'es' if language.split('-')[0].lower() == 'es' else 'en'
    if estimate.conflict and estimate.label in BENEATH:
        return BENEATH[estimate.label][base]
    return MANNERS[estimate.label].feeling[base]
