"""Kokoro's real weights: exact times, melody that follows the delivery, words a recogniser understands."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from emavatar_ros import avatars
from emavatar_ros.emotion.delivery import Delivery
from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.models.store import Store
from emavatar_ros.voice import graphemes, kokoro, kokoro_graph
from emavatar_ros.voice.edges import audible

TEXT = 'I am so sorry to hear that, it sounds like today was really hard for you.'


@pytest.fixture(scope='module')
def voice() -> kokoro.Kokoro:
    if not (Store().cached('kokoro') and Store().cached('kokoro-voices')):
        pytest.skip('no Kokoro in the store: emavatar models pull kokoro kokoro-voices')
    return kokoro.create(kokoro.Config(), avatars.load('mira'))


PLAIN = Delivery()


def made(voice: kokoro.Kokoro, delivery: Delivery = PLAIN, text: str = 'It is good to see you.'
         ) -> tuple[str, kokoro.Synthesis]:
    spelling, style = voice.style('en')
    part = kokoro.symbols(graphemes.ipa(text, spelling), spelling)
    return part, voice.synthesise(part, style, delivery)


def voiced(f0: np.ndarray) -> np.ndarray:
    return f0[f0 > 40]


@pytest.mark.parametrize('delivery', [Delivery(), Delivery(0.6, 0.75, 0.4, -9, 2.5), Delivery(1.5, 1.35, 1.8, 6, 0.5)])
def test_token_lengths_add_up_to_the_sound_exactly(voice: kokoro.Kokoro, delivery: Delivery) -> None:
    part, synthesis = made(voice, delivery)
    assert len(synthesis.steps) == len(part) + 2
    assert int(synthesis.steps.sum()) * kokoro_graph.STEP == len(synthesis.samples)


def test_the_graph_follows_pitch_range_rate_and_pause(voice: kokoro.Kokoro) -> None:
    text = 'Well, it is really good to see you.'
    part, plain = made(voice, text=text)
    _, high = made(voice, Delivery(pitch=1.2), text)
    _, wide = made(voice, Delivery(range=1.6), text)
    _, slow = made(voice, Delivery(rate=0.7), text)
    _, wait = made(voice, Delivery(pause=2.5), text)
    middle = np.median(voiced(plain.f0))
    assert np.median(voiced(high.f0)) == pytest.approx(1.2 * middle, rel=0.02)
    assert np.std(voiced(wide.f0)) > 1.3 * np.std(voiced(plain.f0))
    assert slow.steps.sum() > 1.25 * plain.steps.sum()
    comma = part.index(',') + 1
    assert wait.steps[comma] > 2 * plain.steps[comma]
    words = [k + 1 for k, symbol in enumerate(part) if symbol not in ',. ']
    assert (wait.steps[words] == plain.steps[words]).all()  # a pause is longer, not the words


def test_a_neutral_delivery_leaves_the_published_voice_alone(voice: kokoro.Kokoro) -> None:
    import onnxruntime

    part, ours = made(voice)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(Store().path('kokoro') / 'kokoro-v1.0.int8.onnx'), options,
                                           providers=['CPUExecutionProvider'])
    _, style = voice.style('en')
    tokens = [[0, *(voice._vocabulary[symbol] for symbol in part), 0]]
    theirs = session.run(None, {'tokens': np.array(tokens, dtype=np.int64), 'style': style[len(part) - 1],
                                'speed': np.ones(1, np.float32)})[0].ravel()
    # Only the silence of the last mark, which would be cut away again, is not made.
    shorter = len(theirs) - len(ours.samples)
    assert 0 <= shorter <= 6 * kokoro_graph.STEP and shorter % kokoro_graph.STEP == 0


@pytest.mark.parametrize('text', ['That sounds really hard.', 'Another meeting,', 'Glad you are winning', 'I see.'])
def test_silence_is_not_made_and_no_sound_is_lost(voice: kokoro.Kokoro, text: str) -> None:
    _, synthesis = made(voice, text=text)
    sounding = np.flatnonzero(synthesis.samples) / kokoro_graph.STEP
    first, last = (place / kokoro_graph.STEP for place in audible(synthesis.samples, kokoro.RATE))
    assert synthesis.steps.sum() - (sounding[-1] - sounding[0]) >= 12
    assert first - sounding[0] >= 1.0 and sounding[-1] - last >= 0.5, 'what is heard has room on both sides'


def test_hiss_is_heard_where_the_phonemes_say(voice: kokoro.Kokoro) -> None:
    speech = next(voice.speak('She saw such a ship sail past us.', Delivery(), 'en'))
    samples, size = speech.audio.samples, 120
    count = len(samples) // size - 4
    sharp = [np.abs(np.fft.rfft(samples[k * size:k * size + 480] * np.hanning(480)))[90:].sum() for k in range(count)]
    told = np.zeros(count)
    for phoneme in speech.phonemes:
        if phoneme.symbol in ('s', 'ʃ', 'tʃ'):
            told[round(phoneme.start * 200) - 2:round(phoneme.end * 200) - 2] = 1
    fits = {shift * 5: float(np.corrcoef(np.roll(told, shift), sharp)[0, 1]) for shift in range(-30, 31)}
    assert fits[0] > 0.3
    assert abs(max(fits, key=lambda shift: fits[shift])) <= 35  # ms


def test_phonemes_are_ipa_with_stress_and_start_with_the_sound(voice: kokoro.Kokoro) -> None:
    speech = next(voice.speak('Joy came today.', Delivery(), 'en'))
    symbols = [phoneme.symbol for phoneme in speech.phonemes]
    assert symbols[:4] == ['dʒ', 'ˈɔɪ', 'k', 'ˈeɪ']
    assert speech.phonemes[0].start < 0.1
    assert not any(letter.isupper() or letter in 'ʤʧ' for symbol in symbols for letter in symbol)


def test_stop_gives_up_the_piece_being_made_and_the_next_is_untouched(voice: kokoro.Kokoro) -> None:
    import threading
    import time

    made_pieces: list[object] = []
    long = 'We open at nine in the morning and close at five in the afternoon and there is a garden behind the hall. '
    worker = threading.Thread(target=lambda: made_pieces.extend(voice.speak(long * 20, Delivery(), 'en')))
    worker.start()
    deadline = time.monotonic() + 120
    while worker.is_alive() and time.monotonic() < deadline:
        voice.stop()  # it has nothing to stop until a run has begun
    worker.join(1)
    assert not worker.is_alive() and len(made_pieces) < 3
    assert list(voice.speak('Hello again.', Delivery(), 'en'))


def test_a_recogniser_understands_every_manner(voice: kokoro.Kokoro) -> None:
    faster_whisper = pytest.importorskip('faster_whisper')
    import soxr

    if not Store().cached('whisper-base'):
        pytest.skip('no recogniser in the store: emavatar models pull whisper-base')
    model = faster_whisper.WhisperModel(str(Store().path('whisper-base')), device='cpu', compute_type='int8',
                                        cpu_threads=2)
    words = {'sorry', 'hear', 'sounds', 'today', 'was', 'really', 'hard', 'you'}
    for delivery in (Delivery(), Delivery(0.78, 0.94, 0.85, -4, 1.4), Delivery(1.2, 1.12, 1.35, 1, 0.8)):
        sound = np.concatenate([part.audio.samples for part in voice.speak(TEXT, delivery, 'en')])
        segments, _ = model.transcribe(np.asarray(soxr.resample(sound, voice.rate, 16000), np.float32), language='en',
                                       beam_size=1)
        heard = set(re.findall(r"[\w']+", ' '.join(segment.text for segment in segments).lower()))
        assert len(words & heard) >= 7, heard


def test_the_changed_graph_is_kept_and_a_damaged_one_is_made_anew(tmp_path: Path, voice: kokoro.Kokoro) -> None:
    model = tmp_path / 'kokoro.onnx'
    model.symlink_to(Store().path('kokoro') / 'kokoro-v1.0.int8.onnx')
    kokoro_graph.session(model, 1)
    kept = [path for path in tmp_path.iterdir() if path != model]
    assert len(kept) == 1 and 'prosody' in kept[0].name
    kept[0].write_bytes(kept[0].read_bytes()[:1000])
    outputs = {value.name for value in kokoro_graph.session(model, 1).get_outputs()}
    assert outputs == {'audio', 'durations', 'f0', 'kept'}
    assert kept[0].stat().st_size > 10_000_000


def test_bad_voices_and_missing_models_are_named(tmp_path: Path) -> None:
    from dataclasses import replace

    avatar = avatars.load('mira')
    with pytest.raises(Missing, match='models pull kokoro'):
        kokoro.Kokoro(kokoro.Config(), avatar, tmp_path, tmp_path)
    other = replace(avatar, voice=replace(avatar.voice, kokoro={'ja': 'jf_alpha'}))
    with pytest.raises(BadInput, match='jf_alpha'):
        kokoro.Kokoro(kokoro.Config(), other, tmp_path, tmp_path)


def test_another_graph_is_refused() -> None:
    from onnx import helper

    empty = helper.make_model(helper.make_graph([], 'empty', [], []))
    with pytest.raises(BadInput, match='no Kokoro'):
        kokoro_graph.with_prosody(empty)
