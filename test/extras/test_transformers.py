"""The transformers backend on a tiny RoBERTa with random weights, saved and loaded as the published one is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from honest import honest

from emavatar_ros.emotion.mappings import GO_EMOTIONS
from emavatar_ros.errors import BadInput, Missing

torch = pytest.importorskip('torch')
transformers = pytest.importorskip('transformers')

from emavatar_ros.perception.words import transformers as backend  # noqa: E402

EKMAN = ('anger', 'disgust', 'fear', 'joy', 'neutral', 'sadness', 'surprise')


def save(folder: Path, names: tuple[str, ...], bias: dict[str, float], several: bool = False) -> Path:
    """A two-layer RoBERTa classifier and its byte-level tokenizer; `bias` makes a label likely whatever is said."""
    from tokenizers import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(['I am so glad you are here', 'this is terrible news'], vocab_size=300,
                                  special_tokens=['<s>', '<pad>', '</s>', '<unk>', '<mask>'])
    folder.mkdir()
    tokenizer.save(str(folder / 'tokenizer.json'))
    transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / 'tokenizer.json'), bos_token='<s>', pad_token='<pad>', eos_token='</s>',
        unk_token='<unk>', mask_token='<mask>', cls_token='<s>', sep_token='</s>', model_max_length=62,
    ).save_pretrained(folder)
    torch.manual_seed(1)
    model = transformers.RobertaForSequenceClassification(transformers.RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, type_vocab_size=1, id2label=dict(enumerate(names)),
        label2id={name: index for index, name in enumerate(names)},
        problem_type='multi_label_classification' if several else 'single_label_classification'))
    with torch.no_grad():
        for index, name in enumerate(names):
            model.classifier.out_proj.bias[index] = bias.get(name, -6.0 if several else 0.0)
    model.save_pretrained(folder)
    return folder


def create(folder: Path, **settings: object) -> backend.Classifier:
    return backend.create(backend.Config(model=str(folder), device='cpu', **settings))  # type: ignore[arg-type]


def test_one_label_of_seven(tmp_path: Path) -> None:
    view = create(save(tmp_path / 'ekman', EKMAN, {'sadness': 4.0}), temperature=1.0)
    view.warm_up()
    candidate = view.read('I miss you.')
    honest(candidate)
    assert candidate.label == 'sad' and candidate.model == 'ekman' and candidate.confidence > 0.8
    assert candidate.distribution is not None and candidate.distribution['contempt'] == pytest.approx(0.03)
    softer = create(tmp_path / 'ekman', temperature=3.0).read('I miss you.')
    assert softer.label == 'sad' and softer.confidence < candidate.confidence


def test_several_of_go_emotions_28(tmp_path: Path) -> None:
    view = create(save(tmp_path / 'go', tuple(GO_EMOTIONS), {'joy': 0.5, 'love': 0.0, 'sadness': -1.0}, several=True))
    candidate = view.read('I am so glad you are here!')
    honest(candidate)
    assert candidate.label == 'happy'


def test_labels_that_all_fail_to_hold_are_no_feeling(tmp_path: Path) -> None:
    candidate = create(save(tmp_path / 'none', tuple(GO_EMOTIONS), {}, several=True)).read('Table.')
    honest(candidate)
    assert candidate.abstains and 'none of the eight' in candidate.reason


def test_other_labels_are_doubt_and_never_neutral(tmp_path: Path) -> None:
    names = (*EKMAN, 'bored', 'other')
    candidate = create(save(tmp_path / 'bored', names, {'bored': 6.0})).read('Whatever.')
    honest(candidate)
    assert candidate.abstains
    half = create(save(tmp_path / 'half', names, {'bored': 3.0, 'anger': 3.6}), temperature=1.0).read('Whatever.')
    honest(half)
    assert half.label == 'angry' and half.distribution is not None
    assert half.confidence < half.distribution.confidence * 0.8


@pytest.mark.parametrize(('text', 'language', 'reason'), [
    ('', 'en', 'nothing was said'), (' …?! ', 'en', 'nothing was said'), ('Hallo', 'de', "not 'de'"),
    ('Hello', '', 'not known')])
def test_it_abstains_with_a_reason(tmp_path: Path, text: str, language: str, reason: str) -> None:
    candidate = create(save(tmp_path / 'ekman', EKMAN, {})).read(text, language)
    honest(candidate)
    assert candidate.abstains and reason in candidate.reason


def test_odd_and_endless_words(tmp_path: Path) -> None:
    view = create(save(tmp_path / 'ekman', EKMAN, {'joy': 2.0}), languages='')
    for text in ('word ' * 5000, '💥' * 40, 'a', '\x00<s></s>', 'Ω≈ç'):
        honest(view.read(text, 'xx'))


def test_what_is_no_emotion_classifier_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match='LABEL_0'):
        create(save(tmp_path / 'plain', ('LABEL_0', 'LABEL_1', 'LABEL_2'), {}))
    broken = save(tmp_path / 'broken', EKMAN, {})
    (broken / 'model.safetensors').write_bytes(b'not weights')
    with pytest.raises((BadInput, Missing), match='cannot be loaded'):
        create(broken)
    headless = save(tmp_path / 'headless', EKMAN, {})
    transformers.RobertaModel.from_pretrained(headless).save_pretrained(headless)
    (headless / 'config.json').write_text((tmp_path / 'broken' / 'config.json').read_text())
    with pytest.raises(BadInput, match='make some up'):
        create(headless)
    config = save(tmp_path / 'unknown', EKMAN, {}) / 'config.json'
    config.write_text(json.dumps({'model_type': 'never-heard-of'}))
    with pytest.raises(BadInput, match='cannot be loaded'):
        create(config.parent)


def test_an_incomplete_folder_is_missing(tmp_path: Path) -> None:
    folder = save(tmp_path / 'partial', EKMAN, {})
    (folder / 'model.safetensors').unlink()
    with pytest.raises(Missing, match=r'\*\.safetensors'):
        create(folder)
