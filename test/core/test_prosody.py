"""Prosody measures what was put into a sound; the voice view judges it against the person's own baseline."""

from __future__ import annotations

import numpy as np
import pytest

from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.media.audio import Audio
from emavatar_ros.perception.voice.baseline import Baseline
from emavatar_ros.perception.voice.encoder import CLASSES, Config, EncoderVoice, create, distribution, sentence
from emavatar_ros.perception.voice.prosody import NAMES, clipped_share, measure, speech_seconds

RATE = 16000


def voice(seconds: float = 2.0, hz: float = 120.0, level: float = 0.2, swing: float = 0.0, syllables: float = 4.0
          ) -> np.ndarray:
    """A buzz with a voice's harmonics; swing: semitones the pitch moves up and down; syllables: per second."""
    t = np.arange(round(seconds * RATE)) / RATE
    pitch = hz * 2 ** (swing * np.sin(2 * np.pi * 0.8 * t) / 12)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    buzz = sum(np.sin(k * phase) / k for k in range(1, 12))
    shape = 0.15 + 0.85 * np.clip(np.sin(np.pi * syllables * t), 0, None) ** 2 if syllables else 1.0
    return (level * buzz * shape).astype(np.float32)


def of(samples: np.ndarray) -> dict[str, float]:
    return dict(zip(NAMES, measure(samples).tolist(), strict=True))


@pytest.mark.parametrize('hz', [85, 120, 220, 400])
def test_pitch_is_the_one_put_in(hz: float) -> None:
    assert of(voice(hz=hz))['pitch'] == pytest.approx(12 * np.log2(hz / 100), abs=0.3)


def test_louder_higher_livelier_faster_are_each_heard_in_their_own_measure() -> None:
    plain = of(voice())
    assert of(voice(level=0.4))['level'] - plain['level'] == pytest.approx(6, abs=0.5)
    assert of(voice(level=0.4))['pitch'] == pytest.approx(plain['pitch'], abs=0.1)
    assert of(voice(swing=4))['pitch_spread'] > plain['pitch_spread'] + 2
    assert of(voice(syllables=7))['rate'] > of(voice(syllables=3))['rate'] * 1.4
    assert of(voice())['voiced_share'] > 0.9
    noise = np.random.default_rng(0).normal(0, 0.1, RATE).astype(np.float32)
    assert of(noise)['voiced_share'] < 0.1 and of(noise)['brightness'] > plain['brightness'] * 2


def test_pauses_lower_the_speech_share() -> None:
    gap = np.concatenate([voice(1.0, syllables=0), np.zeros(RATE, np.float32), voice(1.0, syllables=0)])
    assert of(gap)['speech_share'] == pytest.approx(2 / 3, abs=0.03)
    assert speech_seconds(gap) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize('samples', [np.zeros(0), np.zeros(5), np.zeros(RATE), np.ones(RATE), np.eye(1, RATE)[0],
                                     np.full(400, 1e-9)])
def test_odd_sounds_give_finite_measures(samples: np.ndarray) -> None:
    assert np.isfinite(measure(samples.astype(np.float32))).all()


def test_no_measure_but_the_level_knows_how_loud_a_recording_is_and_none_what_silence_is_around_it() -> None:
    plain, at = voice(swing=3), NAMES.index('level')
    quiet = measure(plain / 8)
    assert quiet[at] == pytest.approx(measure(plain)[at] - 18.06, abs=0.1)
    assert np.delete(quiet, at) == pytest.approx(np.delete(measure(plain), at), rel=1e-3, abs=1e-3)
    around = np.concatenate([np.zeros(4800, np.float32), plain, np.zeros(8000, np.float32)])
    assert measure(around) == pytest.approx(measure(plain), rel=0.1, abs=0.1)


def test_a_clipped_sound_is_known() -> None:
    assert clipped_share(voice(level=0.2)) == 0 and clipped_share(np.zeros(10, np.float32)) == 0
    assert clipped_share(np.clip(voice(level=5.0), -1, 1)) > 0.9
    burst = np.concatenate([voice(level=0.2), np.clip(voice(level=5.0), -1, 1)])
    assert clipped_share(burst) == pytest.approx(0.5, abs=0.1)


def test_a_baseline_moves_from_the_population_to_the_person() -> None:
    baseline = Baseline(np.zeros(2, np.float32), np.ones(2, np.float32), np.array([5.0, 0.5], np.float32))
    high = np.array([4.0, 4.0], np.float32)
    first = baseline.standardise(high)
    assert first[0] < 1 < 3 < first[1]  # people differ much in the first: nothing special yet
    baseline.add(high)
    once = baseline.standardise(high)
    assert once[0] < 0.2 and once[1] > 2.5  # what differs much is learned at once, what differs little slowly
    for _ in range(20):
        baseline.add(high)
    assert np.abs(baseline.standardise(high)).max() < 1 and baseline.standardise(high + 2)[0] > 1.8
    for _ in range(40):
        baseline.add(-high)  # another microphone: it follows
    assert baseline.standardise(-high)[0] > -1.2


def head(**changes: object) -> dict[str, object]:
    """A head that hears loudness: loud for this person is angry, quiet is sad."""
    count = 4 + len(NAMES)
    weights = np.zeros((len(CLASSES), count), np.float32)
    weights[CLASSES.index('angry'), 4] = 2
    weights[CLASSES.index('sad'), 4] = -2
    mean, within = np.zeros(count, np.float32), np.ones(count, np.float32)
    mean[4:], within[4:] = measure(voice()), 3.0
    between = within.copy()
    between[4] = 20.0
    made = {'mean': mean, 'within': within, 'between': between, 'both_weights': weights,
            'prosody_weights': weights[:, 4:], 'usual': np.zeros(4, np.float32),
            'directions': np.eye(1, 4, dtype=np.float16), 'outside': np.float32(4)}
    for kind in ('both', 'prosody'):
        made |= {f'{kind}_bias': np.zeros(len(CLASSES), np.float32), f'{kind}_temperature': np.float32(1)}
    return made | changes


EMBEDDING = np.zeros(4, np.float32)


def used_to(level: float, times: int = 3) -> EncoderVoice:
    """A view that heard a person speak at this level before."""
    view = EncoderVoice(head())
    for _ in range(times):
        view.hear(Audio(voice(level=level), RATE), EMBEDDING)
    return view


def test_a_voice_is_judged_against_how_it_usually_sounds() -> None:
    view = EncoderVoice(head())
    assert view.hear(Audio(voice(level=0.45), RATE), EMBEDDING).abstains  # loud, or the microphone is: who knows
    view = used_to(0.1)
    loud = view.hear(Audio(voice(level=0.45), RATE), EMBEDDING)
    assert (loud.view, loud.label) == ('voice', 'angry') and 'loud' in loud.evidence
    assert loud.measures['loudness_z'] > 1 and loud.arousal > 0.3
    quiet = used_to(0.3).hear(Audio(voice(level=0.05), RATE), EMBEDDING)
    assert quiet.label == 'sad' and 'quiet' in quiet.evidence and quiet.arousal < -0.3
    view.forget()
    again = EncoderVoice(head()).hear(Audio(voice(level=0.45), RATE), EMBEDDING)
    assert view.hear(Audio(voice(level=0.45), RATE), EMBEDDING) == again  # the next visitor inherits nothing


def test_an_utterance_that_still_goes_on_teaches_nothing_about_the_person() -> None:
    view = used_to(0.1)
    running = [view.hear(Audio(voice(1.0, level=0.45), RATE), EMBEDDING, final=False) for _ in range(9)]
    assert {candidate.label for candidate in running} == {'angry'}
    assert view.hear(Audio(voice(level=0.45), RATE), EMBEDDING) == used_to(0.1).hear(Audio(voice(level=0.45), RATE),
                                                                                     EMBEDDING)


def test_what_it_cannot_hear_is_never_named_and_no_likelier_than_what_it_did_not_name() -> None:
    for scores in np.random.default_rng(0).normal(0, 2, (50, len(CLASSES))):
        found = distribution(scores, 1.0)
        assert found.label in CLASSES and sum(found.p) == pytest.approx(1)
        rest = [found[label] for label in CLASSES if label != found.label]
        assert found['surprised'] == found['contempt'] == pytest.approx(np.mean(rest))


def test_it_is_less_sure_of_a_voice_unlike_those_it_learned_from() -> None:
    usual = used_to(0.1).hear(Audio(voice(level=0.2), RATE), EMBEDDING)
    along = used_to(0.1).hear(Audio(voice(level=0.2), RATE), np.array([4, 0, 0, 0], np.float32))
    strange = used_to(0.1).hear(Audio(voice(level=0.2), RATE), np.array([0, 2.5, 2.5, 0], np.float32))
    assert usual.label == strange.label == 'angry'
    assert usual.confidence == pytest.approx(along.confidence, abs=0.01)
    assert strange.confidence < usual.confidence - 0.1
    view = used_to(0.1)
    music = view.hear(Audio(voice(level=0.2), RATE), np.array([0, 9, 9, 9], np.float32))
    assert music.abstains and 'music' in music.reason
    assert view.hear(Audio(voice(level=0.2), RATE), EMBEDDING) == usual  # and it is nobody's usual voice


NOISE = np.random.default_rng(1).normal(0, 0.1, 2 * RATE).astype(np.float32)


@pytest.mark.parametrize(('samples', 'reason'), [
    (np.zeros(0), 'too little'), (voice(0.2), 'too little'), (voice(level=0.0002), 'quiet'),
    (NOISE, 'hardly any voice'), (np.clip(voice(level=50.0), -1, 1), 'cut off'), (voice(), 'no clear emotion')])
def test_it_abstains_rather_than_guess(samples: np.ndarray, reason: str) -> None:
    candidate = EncoderVoice(head()).hear(Audio(samples.astype(np.float32), RATE), EMBEDDING)
    assert candidate.abstains and candidate.confidence == 0 and reason in candidate.reason


@pytest.mark.parametrize('embedding', [None, np.zeros(7, np.float32), np.full(4, np.nan, np.float32)])
def test_without_an_embedding_prosody_alone_decides_and_says_so(embedding: np.ndarray | None) -> None:
    candidate = used_to(0.1).hear(Audio(voice(level=0.45), RATE), embedding)
    assert (candidate.label, candidate.model) == ('angry', 'prosody')


def test_any_rate_and_channels_will_do() -> None:
    stereo = np.stack([np.repeat(voice(level=0.45), 3)] * 2, axis=1)
    assert used_to(0.1).hear(Audio(stereo, 48000), EMBEDDING).label == 'angry'


def test_the_head_that_ships_fits_the_view() -> None:
    view = create(Config(least=0.0))
    for level in (0.05, 0.3):
        candidate = view.hear(Audio(voice(level=level, swing=3), RATE), view._head['mean'][:1024])
        assert candidate.label in LABELS and candidate.distribution is not None
        assert -1 <= candidate.valence <= 1 and -1 <= candidate.arousal <= 1


def test_the_sentence_names_what_stands_out() -> None:
    plain = dict.fromkeys(('pitch_z', 'loudness_z', 'pitch_range_z', 'rate_z', 'tremor_z'), 0.0)
    assert sentence(plain, 'neutral') == 'nothing stands out in the voice'
    assert 'sounds afraid' in sentence(plain, 'fear')
    assert sentence(plain | {'pitch_z': -2.0, 'pitch_range_z': -1.5}, 'sad') == 'the voice is low and flat'
    excited = plain | {'loudness_z': 3.0, 'rate_z': 1.0, 'pitch_z': 2.0}
    assert sentence(excited, 'angry') == 'the voice is loud, high and fast'
