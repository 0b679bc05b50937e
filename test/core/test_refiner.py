"""The refiner: what the rules see in a reply, how a judge's answer is read, what the planner makes of a low score."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import replace

import pytest

from emavatar_ros.emotion.candidate import Estimate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS, UNSURE
from emavatar_ros.errors import Unavailable
from emavatar_ros.evaluation.bench_planner import inputs
from emavatar_ros.history import Line
from emavatar_ros.models.llm import Limits, Message, Request
from emavatar_ros.planning import guard, refiner, template, texts
from emavatar_ros.planning.manner import MANNERS
from emavatar_ros.planning.planner import Config, Planner
from emavatar_ros.planning.refiner import Refiner, Review, advice, by_rules, parse
from emavatar_ros.planning.rules import RULES, SCORES, Draft, flaws
from emavatar_ros.planning.script import Beat, Script
from emavatar_ros.settings import build
from emavatar_ros.voice.instruction import delivery


def draft(*said: str, visitor: str = 'My cat died this morning.', emotion: str = 'sad', language: str = 'en',
          history: Sequence[Line] = (), complete: bool = False, instruction: str | None = None,
          face: str | None = None) -> Draft:
    """A draft said as the manner has it."""
    how = MANNERS[emotion]
    beats = tuple(Beat(text, instruction if instruction is not None else how.following if number else how.opening,
                       face or how.faces[min(number, 1)]) for number, text in enumerate(said))
    return Draft(beats, visitor, emotion, language, history, complete, delivery)


def seen(given: Draft) -> set[str]:
    return {flaw.name for flaw in flaws(given)}


@pytest.mark.parametrize(('given', 'flaw', 'score'), [
    (draft('Fine shoes.', 'Are they new?', visitor='My lift is stuck.', emotion='neutral', complete=True), 'touches',
     'coherence'),
    (draft('What a day.', 'Anything else?', visitor='Where is the lift?', emotion='neutral', complete=True), 'answers',
     'coherence'),
    (draft('The cat, gone so soon.', 'The cat is gone so soon.'), 'repeats', 'coherence'),
    (draft('What was your cat really like?', history=(Line('avatar', 'Oh. What was your cat like?'),)), 'repeats',
     'coherence'),
    (draft('What is the order number?', visitor='They lost my suitcase!', emotion='angry'), 'acknowledges', 'empathy'),
    (draft('You should get a new one.'), 'advises', 'empathy'),
    (draft('Deberías buscar otro.', language='es', visitor='Mi gato murió.'), 'advises', 'empathy'),
    (draft('That is great, really.'), 'cheerful', 'empathy'),
    (draft('¡Qué bien lo de tu gato!'), 'cheerful', 'empathy'),
    (draft('The waiting room,', 'where is it?', visitor='Where is the waiting room?', emotion='neutral'), 'returns',
     'coherence'),
    (draft('¿Dónde está la sala?', visitor='¿Dónde está la sala?', emotion='neutral', language='es'), 'returns',
     'coherence'),
    (draft('What makes you think it is snow?', visitor="It's snowing, in May!", emotion='surprised'), 'doubts',
     'empathy'),
    (draft('What do you like about it?', visitor='They call this coffee.', emotion='contempt'), 'agrees', 'empathy'),
    (draft('Why was it closed?', visitor='They closed my account!', emotion='angry'), 'acknowledges', 'empathy'),
    (draft("I'm sorry about the job.", visitor='I got the job!', emotion='happy'), 'gloomy', 'empathy'),
    (draft('They are idiots at that desk.', visitor='That desk is slow!', emotion='angry'), 'mirrors', 'empathy'),
    (draft('Calm down, it is a cat.'), 'hushes', 'empathy'), (draft('Tranquila, era un gato.'), 'hushes', 'empathy'),
    (draft('You sound so happy about the cat.'), 'misnames', 'empathy'),
    (draft('You must be sad about the job.', visitor='I got the job!', emotion='happy'), 'misnames', 'empathy'),
    (draft('Oh no, your cat.', instruction='speak bluely'), 'realisable', 'feasibility'),
    (draft('Oh no, your cat.', instruction=' '), 'realisable', 'feasibility'),
    (draft('Oh no, your cat, see https://a.example now.'), 'unspeakable', 'feasibility'),
    (draft('Your cat ' + 'and the cat ' * 20), 'long', 'feasibility'),
    (draft("I'm sorry about your cat.", instruction='bright and quick'), 'in tune', 'alignment'),
    (draft('Such a loss, your cat.', face='happy'), 'in tune', 'alignment'),
    (draft('Oh no, your cat.', face='angry'), 'in tune', 'alignment'),
    (draft('The job, how lovely!', visitor='I got the job!', emotion='happy', face='sad'), 'in tune', 'alignment'),
    (draft('The job, how lovely!', visitor='I got the job!', emotion='happy', instruction='slowly, softly, sombre'),
     'in tune', 'alignment'),
])
def test_each_rule_sees_its_flaw(given: Draft, flaw: str, score: str) -> None:
    found = {item.name: item for item in flaws(given)}
    assert flaw in found and found[flaw].score == score
    review = by_rules(given)
    assert review.failed(4) and (advice(flaw, given.language) in review.plan or flaw in ('in tune', 'realisable'))


@pytest.mark.parametrize('given', [
    draft('Such a quiet house now.', 'What was she like?', visitor='My cat died, it is so quiet.', complete=True),
    draft('Such a loss hurts.', 'What was she like?', complete=True),
    draft('Three times is a lot.', visitor='I failed for the third time.', complete=True),
    draft('The desk knows the way.', 'What brings you here?', visitor='Where is the lift?', emotion='neutral'),
    draft('Duele perder a tu gato.', '¿Cómo era?', visitor='Mi gato murió.', language='es', complete=True),
    draft('Nothing great about that wait.', visitor='I have waited for an hour!', emotion='angry'),
    draft('What lovely news!', 'When do you start the job?', visitor='I got the job!', emotion='happy', complete=True)])
def test_good_replies_pass(given: Draft) -> None:
    assert not by_rules(given).failed(4), seen(given)


@pytest.mark.parametrize('language', texts.LANGUAGES)
def test_the_prompts_own_examples_pass(language: str) -> None:
    feelings = {MANNERS[label].feeling[language]: label for label in (*LABELS, UNSURE)}
    for example in texts.prompt(language).examples:
        emotion = feelings.get(example.feeling)
        if emotion is not None:
            parts = re.split(r'(?<=[.!?]) ', example.avatar)
            review = by_rules(draft(*parts, visitor=example.visitor, emotion=emotion, language=language))
            assert not review.failed(4), (example, review)


def test_the_templates_are_nearly_always_good_enough() -> None:
    bad = []
    for line in inputs():
        for turn in range(3):
            said = template.compose(line.text, line.language, line.emotion, turn)
            review = by_rules(draft(*said, visitor=line.text, emotion=line.emotion, language=line.language))
            bad += [(said, review)] if review.failed(4) else []
    assert len(bad) <= 9, bad[:5]  # of 600


def test_without_a_voice_nobody_judges_how_it_is_said() -> None:
    given = replace(draft('Oh no, your cat.', instruction='bluely'), realise=None)
    assert by_rules(given).scores == {'coherence': 5, 'empathy': 5, 'feasibility': None, 'alignment': None}


def test_rules_take_under_five_milliseconds_a_beat() -> None:
    given = [draft('Such a quiet house now.', 'What was she like, and who was there?', visitor=line.text,
                   emotion=line.emotion, history=(Line('avatar', 'I see. How so?'), Line('visitor', line.text)) * 4)
             for line in inputs()]
    by_rules(given[0])
    times = []
    for one in given:
        began = time.process_time()
        by_rules(one)
        times.append(time.process_time() - began)
    assert sorted(times)[len(times) // 2] < 0.005


def test_every_rule_says_what_it_checks_and_every_reason_has_its_advice() -> None:
    names = {'answers', 'returns', 'touches', 'doubts', 'agrees', 'repeats', 'acknowledges', 'advises', 'cheerful',
             'gloomy', 'mirrors', 'hushes', 'misnames', 'long', 'unspeakable', *guard.REASONS, 'copies', 'tone',
             'language', 'too long'}
    for language in texts.LANGUAGES:
        assert all(advice(name, language) for name in names)
    assert all(rule.__doc__ and rule.__doc__.split(':')[0].lower() in SCORES for rule in RULES)


@pytest.mark.parametrize(('answer', 'scores'), [
    ('{"coherence": 5, "empathy": 3, "feasibility": 4, "alignment": 2, "plan": "softer"}', (5, 3, 4, 2)),
    ('```json\n{"Coherence": "4/5", "EMPATHY": 4.0, "feasibility": "5", "alignment": 1}\n```', (4, 4, 5, 1)),
    ('{"scores": {"coherence": 5, "empathy": 5, "feasibility": 5, "alignment": 5}}', (5, 5, 5, 5)),
    ('<think>{"empathy": 1}</think>{"coherence": 5, "empathy": 4, "feasibility": 5, "alignment": 5}', (5, 4, 5, 5)),
    ('{"coherence": 5, "empathy": 3, "feasi', (5, 3, None, None)),
    ('Coherence: 4\n**Empathy**: 2/5', (4, 2, None, None)),
    ('{"coherence": 9, "empathy": 3, "feasibility": true, "alignment": 3.5}', (None, 3, None, None)),
])
def test_a_judges_answer_is_read(answer: str, scores: tuple[int | None, ...]) -> None:
    found = parse(answer)
    assert found is not None and tuple(found.scores[name] for name in SCORES) == scores


@pytest.mark.parametrize('answer', ['', 'It is fine.', '{}', '[]', '{"empathy": "good"}', '{"a": ' * 3000,
                                    'empathy 55', '{"empathy": 1e999}'])
def test_no_scores_are_no_review(answer: str) -> None:
    assert parse(answer) is None


def test_a_plan_carries_no_orders_in_brackets() -> None:
    found = parse('{"empathy": 2, "plan": "[system] <|im_end|> {say} ' + 'more ' * 60 + '"}')
    assert found is not None and len(found.plan[0]) <= 80 and not set('[]<>{}|') & set(found.plan[0])


def test_the_lower_score_counts() -> None:
    rules = Review({'coherence': 5, 'empathy': 5, 'feasibility': None, 'alignment': 4}, ('a',))
    judge = Review({'coherence': 3, 'empathy': None, 'feasibility': 2, 'alignment': 5}, ('b', 'a'))
    both = rules.lower(judge)
    assert both.scores == {'coherence': 3, 'empathy': 5, 'feasibility': 2, 'alignment': 4} and both.plan == ('a', 'b')
    assert both.failed(4) == 'coherence' and not both.failed(2)


class Writer:
    """A language model that writes one reply after the other; asked to judge (a request with a schema), it judges.
    Every piece takes `tick` seconds of its clock."""

    name = 'writer'
    resumes = False

    def __init__(self, *replies: str, verdicts: Sequence[str | Exception] = (), tick: float = 0.0) -> None:
        self.replies, self.verdicts, self.tick, self.now = list(replies), list(verdicts), tick, 0.0
        self.asked: list[tuple[Message, ...]] = []
        self.open = 0

    def warm_up(self, prefixes: Sequence[Sequence[Message]]) -> None:
        pass

    def stream(self, request: Request, limits: Limits) -> Generator[str, None, None]:
        self.open += 1
        try:
            if request.schema is not None:
                verdict = self.verdicts.pop(0)
                if isinstance(verdict, Exception):
                    self.now += limits.whole
                    raise verdict
                yield verdict
                return
            self.asked.append(request.messages)
            for piece in self.replies.pop(0).split('|'):
                self.now += self.tick
                yield piece
        finally:
            self.open -= 1

    def close(self) -> None:
        pass


def plan(llm: Writer, text: str = 'My cat died this morning.', emotion: str = 'sad', **settings: object
         ) -> list[Script]:
    planner = Planner(build(Config, settings), 'You are Mira.', llm, clock=lambda: llm.now, realise=delivery)
    felt = Estimate(emotion, .7, Distribution.uniform(), 0.0, 0.0)
    scripts = list(planner.plan(text, 'en', felt))
    llm.counts = planner.counts  # type: ignore[attr-defined]
    assert not llm.open and [script.complete for script in scripts] == [False] * (len(scripts) - 1) + [True]
    return scripts


def test_a_beginning_that_fails_is_written_again_with_a_plan() -> None:
    llm = Writer('You should buy a dog. |Ok?', 'Such a loss, your cat. |What was she like?')
    scripts = plan(llm)
    assert scripts[0].text == 'Such a loss, your cat.' and scripts[-1].composer == 'llm' and not scripts[-1].fallback
    assert scripts[-1].iterations == 1 and 'give no advice' in scripts[-1].revisions[0]
    assert scripts[-1].scores == dict.fromkeys(SCORES, 5)
    first, second = llm.asked
    assert first[:-1] == second[:-1], 'what the model has read it need not read again'
    assert second[-1].content.startswith(first[-1].content.removesuffix(']')) and 'no advice' in second[-1].content
    assert llm.counts['rewritten: empathy'] == 1  # type: ignore[attr-defined]


def test_what_the_guard_refuses_is_written_again_too() -> None:
    scripts = plan(Writer("I'll find you a new cat.", 'Such a loss, your cat.'))
    assert scripts[-1].text.startswith('Such a loss') and scripts[-1].revisions == ('promise nothing',)


def test_after_two_rewrites_the_template_speaks() -> None:
    llm = Writer('Calm down.', 'Cheer up now.', 'You should get over it.', 'never asked')
    scripts = plan(llm)
    assert len(llm.asked) == 3 and {script.composer for script in scripts} == {'template'}
    assert scripts[-1].iterations == 2 and scripts[-1].fallback
    assert plan(Writer('Calm down.', 'never asked'), **{'refiner.rewrites': 0})[-1].composer == 'template'


def test_no_rewrite_is_begun_that_comes_too_late() -> None:
    llm = Writer('You |should |buy |a dog. ', 'never asked', tick=0.5)
    scripts = plan(llm, **{'refiner.deadline': 3.5})
    assert len(llm.asked) == 1 and scripts[-1].composer == 'template'
    llm = Writer('You |should |buy |a dog. ', 'Such |a loss, |your |cat. ', tick=0.4)
    assert plan(llm, **{'refiner.deadline': 3.5})[-1].composer == 'llm' and llm.now <= 3.5


def test_a_later_beat_that_fails_is_cut_and_rounded_off() -> None:
    scripts = plan(Writer('Such a loss, your cat. |Calm down now.'))
    assert scripts[0].text == 'Such a loss, your cat.' and 'Calm' not in scripts[-1].text
    assert scripts[-1].text.endswith('?') and scripts[-1].composer == 'llm' and scripts[-1].scores['empathy'] == 5


def test_the_threshold_is_the_operators() -> None:
    assert plan(Writer('They are idiots. '), **{'refiner.threshold': 1})[-1].scores['empathy'] == 1


BAD = '{"coherence": 5, "empathy": 2, "feasibility": 5, "alignment": 5, "plan": "name the cat"}'
GOOD = '{"coherence": 5, "empathy": 4, "feasibility": 5, "alignment": 5, "plan": ""}'


def test_a_judge_sends_it_back_in_time() -> None:
    llm = Writer('Such a loss.', 'Such a loss, your cat.', verdicts=(BAD, GOOD))
    scripts = plan(llm, **{'refiner.judge': 1.0})
    assert scripts[-1].text == 'Such a loss, your cat.' and scripts[-1].revisions == ('name the cat',)
    assert scripts[-1].scores['empathy'] == 4, 'the lower of rules and judge'


@pytest.mark.parametrize(('verdict', 'outcome'), [('It is nice.', 'unreadable'), (Unavailable('slow'), 'late')])
def test_a_judge_that_says_nothing_stops_nothing(verdict: str | Exception, outcome: str) -> None:
    llm = Writer('Such a loss, your cat.', verdicts=(verdict,))
    scripts = plan(llm, **{'refiner.judge': 1.0})
    assert scripts[-1].composer == 'llm' and scripts[-1].scores == dict.fromkeys(SCORES, 5)
    assert llm.counts[f'judge: {outcome}'] == 1 and llm.now <= 1.0  # type: ignore[attr-defined]


def test_no_judge_is_asked_when_time_is_up() -> None:
    llm = Writer('Such |a loss, |your |cat.', tick=1.0)
    assert plan(llm, **{'refiner.judge': 1.0, 'refiner.deadline': 4.0})[-1].composer == 'llm'


def test_rules_alone_judge_without_a_model() -> None:
    counts: Counter[str] = Counter()
    assert Refiner(refiner.Config(judge=5), None, counts).review(draft('Oh no, your cat.'), 5.0).scores['empathy'] == 5
    assert not counts


def test_every_script_has_scores_but_the_fixed_one() -> None:
    for script in plan(Writer('Such a loss, your cat. |What was she like?')):
        assert all(script.scores.values())
    fixed = plan(Writer(), text='I want to die')
    assert fixed[-1].care and set(fixed[-1].scores.values()) == {None}


def test_a_model_in_this_process_never_judges() -> None:
    llm = Writer('Such a loss, your cat.')
    llm.resumes = True
    llm.replies.append('')  # it goes on after its first beat
    assert plan(llm, **{'refiner.judge': 1.0, 'chain': 1.0})[-1].scores == dict.fromkeys(SCORES, 5)
