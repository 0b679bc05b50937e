"""From the visitor's words and emotion to a composite script that grows beat by beat.

Order of things for one turn: signs of danger bring a fixed text; otherwise the language model writes the words and each
part is checked before it may be spoken; a reply that fails before its first word, or is late, is replaced by the
template's, one that fails later ends with a template's question. Every wait is bounded.

The planner is used by one thread at a time. It reads a clock only to bound its waits; tests hand it their own.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.errors import EmavatarError
from emavatar_ros.history import Line
from emavatar_ros.models.llm import Limits, Llm
from emavatar_ros.planning import composer, guard, template, texts
from emavatar_ros.planning.acknowledging import unsaid
from emavatar_ros.planning.care import Care, Lines
from emavatar_ros.planning.manner import MANNERS, manner
from emavatar_ros.planning.script import Beat, ChainOfEmpathy, Script
from emavatar_ros.planning.steering import steers
from emavatar_ros.settings import setting

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Config:
    """Settings of the planner."""

    composer: str = setting('llm', 'who writes the words', choices=('llm', 'template'))
    first_token: float = setting(4.0, 'longest wait for the first piece of text', unit='s', low=0.05, high=120)
    first_beat: float = setting(5.5, 'longest wait for the first beat', unit='s', low=0.05, high=300)
    silence: float = setting(2.0, 'longest wait between two pieces of text', unit='s', low=0.05, high=120)
    whole: float = setting(12.0, 'longest time for the whole reply', unit='s', low=0.1, high=600)
    max_tokens: int = setting(56, 'longest reply of the language model', unit='tokens', low=8, high=1024)
    temperature: float = setting(0.3, 'how freely the language model chooses, 0: the most likely', low=0, high=2)
    help_line: str = setting('', 'sentence with the local help line, spoken when a visitor seems to be in danger; per '
                             'language: "Call 988. | es: Llama al 024."')
    emergency_line: str = setting('', 'sentence with the emergency number, spoken when a life may be in danger')
    silent_on: str = setting('', 'topics that are not spoken about, comma-separated; "politic*" covers what begins so')


class Planner:
    """Plans replies. persona: the avatar's text; llm: None plans with the template alone."""

    def __init__(self, config: Config, persona: str, llm: Llm | None = None,
                 clock: Callable[[], float] = time.monotonic, care: Care | None = None) -> None:
        self._config = config
        self.care = care or Care(Lines(config.help_line, config.emergency_line))
        self._topics = guard.topics(config.silent_on)
        self._persona = persona
        self._llm = llm if config.composer == 'llm' else None
        self._clock = clock
        self.counts: Counter[str] = Counter()
        """How often each composer wrote, and how often each kind of failure brought the template in."""

    def warm_up(self, languages: Sequence[str] = ('en',)) -> None:
        """Prepare the model for these languages (BCP 47); the first reply is then as fast as any."""
        if self._llm is not None:
            known = dict.fromkeys(texts.base(language) for language in languages)
            self._llm.warm_up([composer.prefix(self._persona, language) for language in known])

    def plan(self, text: str, language: str, estimate: Estimate,
             history: Sequence[Line] = (), said: str = '') -> Generator[Script, None, None]:
        """The reply's script, one beat longer each time; the last is complete. Closing the iterator stops the model,
        and one in this process rests after the first beat until more is asked for.

        text: what the visitor said, '' for nothing; language: BCP 47; history: oldest first, without this turn;
        said: the acknowledgement that was given, whose word the reply does not say again.
        """
        danger = self.care.answer(text, language)
        if danger is not None:
            self.counts[f'care {danger.kind}'] += 1
            yield self._fixed(text, estimate, danger.text, danger.kind, danger.language)
            return
        if guard.touches(text, self._topics):
            self.counts['topic not spoken about'] += 1
            yield self._fixed(text, estimate, guard.declines(language), '', texts.base(language))
            return
        why = ''
        if self._llm is None:
            why = 'the template composer is chosen' if self._config.composer == 'template' else 'no language model'
        elif not text.strip():
            why = 'nothing was said'
        elif not composer.speaks(language):
            why = f'the model is not asked for {language}'
        elif steers(text, _before(history)):
            why = 'the words give orders'
        else:
            try:
                yield from self._composed(self._llm, text, language, estimate, history, said)
                return
            except _Unfit as unfit:
                why = str(unfit)
                if unfit.begun is not None:
                    yield self._rounded_off(unfit.begun, text, estimate, history, why)
                    return
        yield from self._template(text, language, estimate, history, why)

    def read(self, language: str, history: Sequence[Line], stopped: Callable[[], bool]) -> None:
        """Let the model read what was said so far, so that only the next line is left; until `stopped`."""
        if self._llm is not None and composer.speaks(language):
            self._llm.read(composer.beginning(self._persona, language, history), stopped)

    def _composed(self, llm: Llm, text: str, language: str, estimate: Estimate,
                  history: Sequence[Line], said: str) -> Iterator[Script]:
        """The model's reply; raises _Unfit, with what was already handed out, when it may not go on."""
        started = self._clock()
        config = self._config
        messages = composer.conversation(self._persona, text, language, estimate, history)
        limits = Limits(config.first_token, config.silence, config.whole)
        parts = composer.parts(llm, messages, limits, max_tokens=config.max_tokens, temperature=config.temperature,
                               seed=len(history))
        last = _last(history)
        script: Script | None = None
        try:
            for part in parts:
                part = part if script else unsaid(part, said)
                late = script is None and self._clock() - started > config.first_beat
                fault = 'late' if late else guard.fault(
                    part, language=language, emotion=estimate.label, visitor=text, said=script.text if script else last,
                    topics=self._topics)
                if fault:
                    raise _Unfit(fault, script)
                script = self._grown(script, part, text, language, estimate, 'llm')
                yield script
        except EmavatarError as error:
            log.info('the language model did not finish: %s', error)
            raise _Unfit('unavailable', script) from error
        finally:
            parts.close()
        if script is None:
            raise _Unfit('empty', None)
        self.counts['llm'] += 1
        yield replace(script, complete=True)

    def _template(self, text: str, language: str, estimate: Estimate, history: Sequence[Line],
                  why: str) -> Iterator[Script]:
        self.counts['template'] += 1
        self.counts[f'template: {why}'] += 1
        spoken = texts.base(language)
        sentences = template.compose('' if why == 'the words give orders' else text, spoken, estimate.label,
                                     len(history), _last(history))
        script = None
        for sentence in sentences:
            script = self._grown(script, sentence, text, spoken, estimate, 'template')
            script = replace(script, fallback=why, complete=sentence is sentences[-1])
            yield script

    def _rounded_off(self, begun: Script, text: str, estimate: Estimate, history: Sequence[Line], why: str) -> Script:
        """A reply whose rest may not be spoken, ended in good form."""
        self.counts['llm'] += 1
        self.counts[f'cut: {why}'] += 1
        if begun.text.endswith('?'):
            return replace(begun, complete=True, fallback=why)
        spoken = texts.base(begun.language)
        if spoken != begun.language.split('-')[0].lower():
            return replace(begun, complete=True, fallback=why)
        ending = template.next_step(text, spoken, estimate.label, len(history), _last(history))
        grown = self._grown(begun, ending, text, begun.language, estimate, 'llm')
        return replace(grown, complete=True, fallback=why)

    def _fixed(self, text: str, estimate: Estimate, answer: str, kind: str, language: str) -> Script:
        careful = MANNERS['fear' if kind else 'neutral']
        sentences = re.split(r'(?<=[.!?])\s+', answer)
        beats = tuple(Beat(sentence, careful.following, 'neutral') for sentence in sentences)
        goal = 'bring a person to help at once' if kind else 'say that this is not spoken about here'
        chain = replace(_chain(text, estimate), goal_to_response=goal)
        return Script(beats, estimate.label, language, 'template', chain, complete=True, care=kind)

    @staticmethod
    def _grown(script: Script | None, part: str, text: str, language: str, estimate: Estimate, by: str) -> Script:
        how = manner(estimate)
        if script is None:
            beat = Beat(part, how.opening, how.faces[0])
            return Script((beat,), estimate.label, language, by, _chain(text, estimate))
        # A sentence's second half is said as its first.
        same = script.beats[-1].text[-1] in ',;:–—-'
        beat = Beat(part, how.opening, how.faces[0]) if same else Beat(part, how.following, how.faces[1])
        return replace(script, beats=(*script.beats, beat))


class _Unfit(Exception):
    """The model's reply may not go on, and what of it was handed out already."""

    def __init__(self, why: str, begun: Script | None) -> None:
        super().__init__(why)
        self.begun = begun


def create(config: Config, persona: str, llm: Llm | None = None) -> Planner:
    """A planner for one avatar; llm: a backend of models/llm, or None."""
    return Planner(config, persona, llm)


def _last(history: Sequence[Line]) -> str:
    """What the avatar said last, '' when it has not spoken."""
    return next((entry.text for entry in reversed(history) if entry.role == 'avatar'), '')


def _before(history: Sequence[Line]) -> str:
    """What the visitor said last before this turn, '' for nothing."""
    return next((entry.text for entry in reversed(history) if entry.role == 'visitor'), '')


def _chain(text: str, estimate: Estimate) -> ChainOfEmpathy:
    """The chain of empathy by rules: the visitor's own words for the event, what follows "because" for the cause."""
    told = ' '.join(text.split())
    first = re.split(r'(?<=[.!?…])\s', told)[0][:160] if told else 'nothing was said'
    because = re.search(r'\b(?:because|since|porque|ya que)\b\s+([^.!?]{3,120})', told, re.IGNORECASE)
    cause = because.group(1).strip() if because else first if told else (estimate.reasons or ('not known',))[0]
    return ChainOfEmpathy(first, estimate.label, cause, manner(estimate).goal)

