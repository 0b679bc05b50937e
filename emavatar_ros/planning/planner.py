"""From the visitor's words and emotion to a composite script that grows beat by beat.

Order of things for one turn: signs of danger bring a fixed text; otherwise the language model writes the words and each
part is checked and judged before it may be spoken. A reply that fails before its first word is written again, with
what to change, while there is time for it, else replaced by the template's, as is one that is late; one that fails
later ends with a template's question. Every wait is bounded.

The planner is used by one thread at a time. It reads a clock only to bound its waits; tests hand it their own.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import UNSURE
from emavatar_ros.errors import EmavatarError
from emavatar_ros.history import Line
from emavatar_ros.models.llm import Limits, Llm
from emavatar_ros.planning import chain, composer, consistency, guard, refiner, template, texts
from emavatar_ros.planning import visit as visits
from emavatar_ros.planning.acknowledging import unsaid
from emavatar_ros.planning.care import Concern
from emavatar_ros.planning.manner import MANNERS, manner
from emavatar_ros.planning.refiner import Refiner, Review
from emavatar_ros.planning.rules import Draft
from emavatar_ros.planning.script import Beat, Script
from emavatar_ros.planning.steering import steers
from emavatar_ros.planning.tone import Realise
from emavatar_ros.planning.visit import Visit
from emavatar_ros.settings import setting

log = logging.getLogger(__name__)
NOBODY: Final = Estimate(UNSURE, 0.0, Distribution.uniform(), 0.0, 0.0)
"""Somebody's feeling to warm up with."""
FREER: Final = 0.6
"""Temperature of a rewrite at least: the same words again would fail again."""


@dataclass(frozen=True)
class Config(visits.Config):
    """Settings of the planner."""

    composer: str = setting('llm', 'who writes the words', choices=('llm', 'template'))
    first_token: float = setting(4.0, 'longest wait for the first piece of text', unit='s', low=0.05, high=120)
    first_beat: float = setting(5.5, 'longest wait for the first beat', unit='s', low=0.05, high=300)
    silence: float = setting(2.0, 'longest wait between two pieces of text', unit='s', low=0.05, high=120)
    whole: float = setting(12.0, 'longest time for the whole reply', unit='s', low=0.1, high=600)
    max_tokens: int = setting(56, 'longest reply of the language model', unit='tokens', low=8, high=1024)
    temperature: float = setting(0.3, 'how freely the language model chooses, 0: the most likely', low=0, high=2)
    refiner: refiner.Config = field(default_factory=refiner.Config)
    chain: float = setting(0.0, 'longest time for the language model of a server to tell the chain of empathy after '
                           'the reply; 0: rules find it', unit='s', low=0.0, high=30.0)
    silent_on: str = setting('', 'topics that are not spoken about, comma-separated; "politic*" covers what begins so')


class Planner:
    """Plans replies. persona: the avatar's text, which may change; llm: None plans with the template alone; visit: what
    is known of the visitor, who hears what was spoken and forgets; realise: what the voice makes of an instruction
    (voice.instruction.delivery), without it feasibility and alignment are not judged; counts: where to count, its own
    unless given."""

    def __init__(self, config: Config, persona: str, llm: Llm | None = None,
                 clock: Callable[[], float] = time.monotonic, visit: Visit | None = None,
                 realise: Realise | None = None, counts: Counter[str] | None = None) -> None:
        self._config = config
        self.visit = visit or visits.plain(config)
        self._topics = guard.topics(config.silent_on)
        self.persona = persona
        self._llm = llm if config.composer == 'llm' else None
        self._clock = clock
        self.counts: Counter[str] = Counter() if counts is None else counts
        """How often each composer wrote, each kind of failure brought the template in, each flaw was seen."""
        self._realise = realise
        self._refiner = Refiner(config.refiner, self._llm, self.counts)
        self._watch = consistency.Watch(self.counts)

    def warm_up(self, languages: Sequence[str] = ('en',)) -> None:
        """Prepare the model for these languages (BCP 47); the first reply is then as fast as any."""
        if self._llm is not None:
            known = dict.fromkeys(texts.base(language) for language in languages)
            self._llm.warm_up([composer.prefix(self.persona, language) for language in known])
        # What reads words is compiled when it is first needed: not while a visitor waits.
        refiner.warm_up()
        chain.chain('I waited.', NOBODY)
        template.warm_up()

    def plan(self, text: str, language: str, estimate: Estimate,
             history: Sequence[Line] = (), said: str = '') -> Generator[Script, None, None]:
        """The reply's script, one beat longer each time; the last is complete. Closing the iterator stops the model,
        and one in this process rests after the first beat until more is asked for.

        text: what the visitor said, '' for nothing; language: BCP 47; history: oldest first, without this turn;
        said: the acknowledgement that was given, whose word the reply does not say again.
        """
        self.visit.felt(estimate)
        danger = self.visit.care.answer(text, language)
        if danger is not None:
            self.counts[f'care {danger.kind}'] += 1
            yield self._fixed(text, estimate, danger.text, danger.language, danger)
            return
        if guard.touches(text, self._topics):
            self.counts['topic not spoken about'] += 1
            yield self._fixed(text, estimate, guard.declines(language), texts.base(language))
            return
        why = ''
        tried: tuple[str, ...] = ()
        if self._llm is None:
            why = 'the template composer is chosen' if self._config.composer == 'template' else 'no language model'
        elif not text.strip():
            why = 'nothing was said'
        elif not composer.speaks(language):
            why = f'the model is not asked for {language}'
        elif steers(text, _before(history)):
            why = 'the words give orders'
        else:
            why, tried = yield from self._written(self._llm, text, language, estimate, history, said)
        if why:
            yield from self._template(text, language, estimate, history, why, tried)

    def read(self, language: str, history: Sequence[Line], stopped: Callable[[], bool]) -> None:
        """Let the model read what was said so far, so that only the next line is left; until `stopped`."""
        if self._llm is not None and composer.speaks(language):
            self._llm.read(composer.beginning(self.persona, language, history, self._known(language, history)), stopped)

    def _known(self, language: str, history: Sequence[Line], text: str = '', emotion: str = UNSURE) -> composer.Known:
        """What the model is told beyond the history; before the visitor has spoken there are no examples."""
        return composer.Known(self.visit.examples(text, emotion, language),
                              self.visit.summary(language, composer.dropped(history)))

    def _written(self, llm: Llm, text: str, language: str, estimate: Estimate, history: Sequence[Line], said: str
                 ) -> Generator[Script, None, tuple[str, tuple[str, ...]]]:
        """The model's reply, begun again with a plan when it fails before its first word and there is time. Gives why
        the template has to answer, '' when it needn't, and the plans that were tried."""
        started = self._clock()
        plans: tuple[str, ...] = ()
        while True:
            began = self._clock()
            try:
                yield from self._composed(llm, text, language, estimate, history, said, started, plans)
                return '', plans
            except _Unfit as unfit:
                if unfit.begun is not None:
                    yield self._rounded_off(unfit.begun, text, estimate, history, str(unfit))
                    return '', plans
                ready = self._clock() + (self._clock() - began)
                if not unfit.plan or len(plans) == self._config.refiner.rewrites:
                    return str(unfit), plans
                if ready - started > self._config.refiner.deadline:
                    self.counts['no time for a rewrite'] += 1
                    return str(unfit), plans
                self.counts[f'rewritten: {unfit}'] += 1
                plans = (*plans, unfit.plan)

    def _composed(self, llm: Llm, text: str, language: str, estimate: Estimate, history: Sequence[Line], said: str,
                  started: float, plans: tuple[str, ...]) -> Iterator[Script]:
        """The model's reply; raises _Unfit, with what was already handed out, when it may not go on."""
        config = self._config
        known = self._known(language, history, text, estimate.label)
        messages = composer.conversation(self.persona, text, language, estimate, history, known)
        if plans:
            messages = composer.revised(messages, plans[-1])
        limits = Limits(config.first_token, config.silence, config.whole)
        script: Script | None = None

        def late() -> bool:
            return script is None and self._clock() - started > config.first_beat

        parts = composer.parts(llm, messages, limits, late, max_tokens=config.max_tokens, temperature=config.temperature
                               if not plans else max(config.temperature, FREER), seed=len(history) + len(plans))
        last = _last(history)
        try:
            for part in parts:
                part = part if script else unsaid(part, said)
                if late():
                    raise _Unfit('late', None)
                fault = guard.fault(part, language=language, emotion=estimate.label, visitor=text,
                                    said=script.text if script else last, topics=self._topics)
                if fault:
                    raise _Unfit(fault, script, '' if fault == 'empty' else refiner.advice(fault, language))
                grown = self._grown(script, part, text, language, estimate, history, 'llm')
                left = started + (config.whole if script else config.refiner.deadline) - self._clock()
                review = self._review(grown, text, history, left)
                if failed := review.failed(config.refiner.threshold):
                    raise _Unfit(failed, script, '; '.join(review.plan))
                script = replace(grown, scores=review.scores, revisions=plans, iterations=len(plans))
                yield script
        except composer.Late:
            raise _Unfit('late', None) from None
        except EmavatarError as error:
            log.info('the language model did not finish: %s', error)
            raise _Unfit('unavailable', script) from error
        finally:
            parts.close()
        if script is None:
            raise _Unfit('empty', None)
        self.counts['llm'] += 1
        if config.chain >= refiner.SHORTEST and not llm.resumes:
            told = chain.ask(llm, script.chain_of_empathy, text, script.text, config.chain, self.counts)
            script = replace(script, chain_of_empathy=told)
        yield self._finished(script, text, history)

    def _template(self, text: str, language: str, estimate: Estimate, history: Sequence[Line], why: str,
                  tried: tuple[str, ...]) -> Iterator[Script]:
        self.counts['template'] += 1
        self.counts[f'template: {why}'] += 1
        spoken = texts.base(language)
        sentences = template.compose('' if why == 'the words give orders' else text, spoken, estimate.label,
                                     len(history), _last(history))
        script = None
        for sentence in sentences:
            script = self._grown(script, sentence, text, spoken, estimate, history, 'template')
            script = replace(script, fallback=why, revisions=tried, iterations=len(tried))
            script = replace(script, scores=self._review(script, text, history).scores)
            yield script if sentence is not sentences[-1] else self._finished(script, text, history)

    def _rounded_off(self, begun: Script, text: str, estimate: Estimate, history: Sequence[Line], why: str) -> Script:
        """A reply whose rest may not be spoken, ended in good form."""
        self.counts['llm'] += 1
        self.counts[f'cut: {why}'] += 1
        begun = replace(begun, fallback=why)
        spoken = texts.base(begun.language)
        if begun.text.endswith('?') or spoken != begun.language.split('-')[0].lower():
            return self._finished(begun, text, history)
        ending = template.next_step(text, spoken, estimate.label, len(history), _last(history))
        return self._finished(self._grown(begun, ending, text, begun.language, estimate, history, 'llm'), text, history)

    def _review(self, script: Script, text: str, history: Sequence[Line], seconds: float = 0.0) -> Review:
        """What the refiner thinks of a script, with so many seconds for a judge."""
        draft = Draft(script.beats, text, script.emotion, script.language, history, script.complete, self._realise)
        return self._refiner.review(draft, seconds)

    def _finished(self, script: Script, text: str, history: Sequence[Line]) -> Script:
        """The whole script with its scores; what can't be changed any more is counted. A judge's word on its beats
        stays."""
        script = replace(script, complete=True)
        review = self._review(script, text, history).lower(Review(script.scores))
        self.counts.update(f'flaw: {name}' for name in review.flaws)
        self._watch.report(consistency.script(script, self._realise))
        return replace(script, scores=review.scores)

    def _fixed(self, text: str, estimate: Estimate, answer: str, language: str, danger: Concern | None = None
               ) -> Script:
        careful = MANNERS['fear' if danger else 'neutral']
        sentences = re.split(r'(?<=[.!?])\s+', answer)
        beats = tuple(Beat(sentence, careful.following, 'neutral') for sentence in sentences)
        goal = 'bring a person to help at once' if danger else 'say that this is not spoken about here'
        links = replace(chain.chain(text, estimate), goal_to_response=goal)
        return Script(beats, estimate.label, language, 'template', links, complete=True, care=danger)

    @staticmethod
    def _grown(script: Script | None, part: str, text: str, language: str, estimate: Estimate, history: Sequence[Line],
               by: str) -> Script:
        how = manner(estimate)
        if script is None:
            beat = Beat(part, how.opening, how.faces[0])
            return Script((beat,), estimate.label, language, by, chain.chain(text, estimate, history))
        # A sentence's second half is said as its first.
        same = script.beats[-1].text[-1] in ',;:–—-'
        beat = Beat(part, how.opening, how.faces[0]) if same else Beat(part, how.following, how.faces[1])
        return replace(script, beats=(*script.beats, beat))


class _Unfit(Exception):
    """The model's reply may not go on, what of it was handed out already, and what another try should change, '' when
    none would help."""

    def __init__(self, why: str, begun: Script | None, plan: str = '') -> None:
        super().__init__(why)
        self.begun = begun
        self.plan = plan


def create(config: Config, persona: str, llm: Llm | None = None, realise: Realise | None = None,
           counts: Counter[str] | None = None) -> Planner:
    """A planner with what is known of a visitor; llm: a backend of models/llm, or None; realise, counts: see Planner.

    Raises Missing when the operator asked for a memory that lasts and its model is not there.
    """
    remember = llm is not None and config.composer == 'llm' and config.memory.examples > 0
    return Planner(config, persona, llm, visit=visits.create(config, remember), realise=realise, counts=counts)


def _last(history: Sequence[Line]) -> str:
    """What the avatar said last, '' when it has not spoken."""
    return next((entry.text for entry in reversed(history) if entry.role == 'avatar'), '')


def _before(history: Sequence[Line]) -> str:
    """What the visitor said last before this turn, '' for nothing."""
    return next((entry.text for entry in reversed(history) if entry.role == 'visitor'), '')
