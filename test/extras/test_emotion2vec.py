"""emotion2vec on a tiny model of funasr's own class with random weights, saved as the published folders are."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import numpy as np
import pytest
from honest import honest

from emavatar_ros.errors import BadInput, Missing
from emavatar_ros.media.audio import Audio

pytest.importorskip('torch')
pytest.importorskip('funasr')

from emavatar_ros.perception.voice import emotion2vec as backend

# What the library and what it imports are behind with.
pytestmark = [pytest.mark.filterwarnings('ignore')]

TOKENS = ('生气/angry', '厌恶/disgusted', '恐惧/fearful', '开心/happy', '中立/neutral', '其他/other', '难过/sad',
          '吃惊/surprised', '<unk>')
CONFIG = """
model: Emotion2vec
model_conf:
  depth: 1
  start_drop_path_rate: 0.0
  end_drop_path_rate: 0.0
  num_heads: 2
  norm_eps: 1.0e-05
  norm_affine: true
  encoder_dropout: 0.0
  post_mlp_drop: 0.0
  attention_dropout: 0.0
  activation_dropout: 0.0
  dropout_input: 0.0
  layerdrop: 0.0
  embed_dim: 32
  mlp_ratio: 2.0
  layer_norm_first: false
  average_top_k_layers: 1
  end_of_block_targets: false
  clone_batch: 1
  loss_beta: 0.0
  loss_scale: null
  normalize: true
  modalities:
    audio:
      type: AUDIO
      prenet_depth: 1
      prenet_layerdrop: 0.0
      prenet_dropout: 0.0
      start_drop_path_rate: 0.0
      end_drop_path_rate: 0.0
      num_extra_tokens: 2
      init_extra_token_zero: true
      mask_noise_std: 0.01
      mask_prob: 0.5
      mask_prob_min: null
      mask_length: 5
      inverse_mask: false
      mask_prob_adjust: 0.05
      keep_masked_pct: 0.0
      add_masks: false
      remove_masks: false
      mask_dropout: 0.0
      encoder_zero_mask: true
      mask_channel_prob: 0.0
      mask_channel_length: 64
      ema_local_encoder: false
      local_grad_mult: 1.0
      use_alibi_encoder: true
      alibi_scale: 1.0
      learned_alibi: false
      alibi_max_pos: null
      learned_alibi_scale: true
      learned_alibi_scale_per_head: true
      learned_alibi_scale_per_layer: false
      num_alibi_heads: 2
      model_depth: 1
      decoder: null
      extractor_mode: layer_norm
      feature_encoder_spec: '[(16, 10, 5)] + [(16, 3, 2)] * 4 + [(16, 2, 2)] + [(16, 2, 2)]'
      conv_pos_width: 95
      conv_pos_groups: 4
      conv_pos_depth: 2
      conv_pos_pre_ln: false
tokenizer: CharTokenizer
tokenizer_conf:
  unk_symbol: <unk>
  split_with_space: true
"""


def save(folder: Path, likely: int | None = None, certain: float = 8.0) -> Path:
    import torch
    from funasr.models.emotion2vec.model import Emotion2vec
    from omegaconf import OmegaConf

    folder.mkdir()
    (folder / 'config.yaml').write_text(CONFIG)
    (folder / 'tokens.txt').write_text('\n'.join(TOKENS) + '\n', encoding='utf-8')
    (folder / 'configuration.json').write_text(
        '{"file_path_metas": {"init_param": "model.pt", "tokenizer_conf": {"token_list": "tokens.txt"}, '
        '"config": "config.yaml"}}')
    torch.manual_seed(1)
    model = Emotion2vec(vocab_size=len(TOKENS), **OmegaConf.to_container(OmegaConf.create(CONFIG)))
    with torch.no_grad():
        if likely is not None:
            model.proj.bias[likely] += certain
    torch.save({'model': model.state_dict()}, folder / 'model.pt')
    return folder


def create(folder: Path, **settings: object) -> backend.Emotion2vec:
    return backend.create(backend.Config(model=str(folder), device='cpu', **settings))  # type: ignore[arg-type]


def voice(seconds: float, rate: int = 16000, channels: int = 1) -> Audio:
    t = np.arange(round(seconds * rate)) / rate
    tone = (0.2 * np.sin(2 * np.pi * 150 * t) * (1 + np.sin(2 * np.pi * 4 * t))).astype(np.float32)
    return Audio(np.stack([tone] * channels, axis=1) if channels > 1 else tone, rate)


@pytest.mark.parametrize(('output', 'label'), [(0, 'angry'), (2, 'fear'), (6, 'sad'), (7, 'surprised')])
def test_its_outputs_are_read_by_their_names(tmp_path: Path, output: int, label: str,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger().level, list(logging.getLogger().handlers)
    view = create(save(tmp_path / 'tiny', output))
    candidate = view.hear(voice(2.0), None)
    honest(candidate)
    assert candidate.label == label and candidate.model == 'tiny' and 'voice' in candidate.evidence
    assert candidate.confidence < 0.85, 'it is not believed altogether'
    assert capsys.readouterr().out == '', 'standard output carries only what is asked for'
    assert (logging.getLogger().level, list(logging.getLogger().handlers)) == before


@pytest.mark.parametrize('output', [5, 8])
def test_other_and_unknown_are_abstention(tmp_path: Path, output: int) -> None:
    candidate = create(save(tmp_path / 'tiny', output)).hear(voice(1.0), None)
    honest(candidate)
    assert candidate.abstains and 'none of the eight' in candidate.reason


def test_a_model_that_knows_nothing_is_not_neutral(tmp_path: Path) -> None:
    candidate = create(save(tmp_path / 'tiny')).hear(voice(1.0), None)
    honest(candidate)
    assert candidate.abstains and 'no clear emotion' in candidate.reason


@pytest.mark.parametrize(('audio', 'reason'), [
    (Audio(np.zeros(0, np.float32), 16000), 'too little'), (voice(0.2), 'too little'),
    (Audio(np.zeros(16000, np.float32), 16000), 'too quiet'),
    (Audio(np.full(16000, np.nan, np.float32), 16000), 'too quiet')])
def test_it_abstains_with_a_reason(tmp_path: Path, audio: Audio, reason: str) -> None:
    candidate = create(save(tmp_path / 'tiny', 6)).hear(audio, None)
    honest(candidate)
    assert candidate.abstains and reason in candidate.reason


def test_any_rate_and_channels_and_a_long_speech_in_bounded_time(tmp_path: Path) -> None:
    view = create(save(tmp_path / 'tiny', 6), longest=2.0)
    for audio in (voice(1.5, 8000), voice(1.5, 48000, 2), voice(60.0)):
        began = time.process_time()
        candidate = view.hear(audio, np.zeros(1024, np.float32))
        honest(candidate)
        assert candidate.label == 'sad' and time.process_time() - began < 5
    view.forget()


def test_what_is_missing_or_broken(tmp_path: Path) -> None:
    folder = save(tmp_path / 'tiny')
    (folder / 'model.pt').write_bytes(b'not weights')
    with pytest.raises(BadInput, match='cannot be loaded'):
        create(folder)
    (folder / 'model.pt').unlink()
    with pytest.raises(Missing, match=r'model\.pt'):
        create(folder)
