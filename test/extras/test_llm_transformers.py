"""The transformers language model on a tiny Qwen2 with random weights, saved and loaded as the published ones are."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llm_contract import ASK, LONG, Contract

from emavatar_ros.errors import BadInput, Missing, Unavailable
from emavatar_ros.models.llm import Limits, Message, Request

torch = pytest.importorskip('torch')
library = pytest.importorskip('transformers')
pytest.importorskip('llguidance')

from emavatar_ros.models.llm import transformers as backend  # noqa: E402

TEMPLATE = """{%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' }}
{{- message.content + '<|im_end|>\\n' }}
{%- endfor %}{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{- '<think>\\n\\n</think>\\n\\n' }}{% endif %}{% endif %}"""
"""As Qwen3's."""
SAID = ['Once upon a time there was a fox, and the fox said: "Good morning!"', 'Ein Fuchs – schön, grün und müde.',
        'You answer shortly. Tell me a long story about a fox.', 'assistant user system think']


def save(folder: Path, template: str | None = TEMPLATE, config: Any = None) -> Path:
    """A two-layer Qwen2 (or what `config` says) and a byte-level tokenizer with a chat template."""
    from tokenizers import ByteLevelBPETokenizer

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(SAID * 3, vocab_size=400,
                                special_tokens=['<|endoftext|>', '<|im_start|>', '<|im_end|>'])
    folder.mkdir()
    trained.save(str(folder / 'tokenizer.json'))
    tokenizer = library.PreTrainedTokenizerFast(tokenizer_file=str(folder / 'tokenizer.json'), eos_token='<|im_end|>',
                                                pad_token='<|endoftext|>', additional_special_tokens=['<|im_start|>'])
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    torch.manual_seed(3)
    # The vocabulary is larger than the tokenizer's, as Qwen's is.
    config = config or library.Qwen2Config(
        vocab_size=416, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=64, max_position_embeddings=2048, eos_token_id=2, initializer_range=0.6)
    made = library.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for token in range(config.vocab_size):  # it says words, not odd bytes, and never its end
            if not re.fullmatch('[ a-zA-Z,.!]+', tokenizer.decode([token], skip_special_tokens=True)):
                made.lm_head.weight[token] = 0.0
    made.save_pretrained(folder)
    return folder


def create(folder: Path, **settings: Any) -> backend.Transformers:
    return backend.create(backend.Config(model=str(folder), device='cpu', **settings))


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp('llm') / 'tiny-qwen2')


@pytest.fixture
def model(folder: Path) -> Iterator[backend.Transformers]:
    made = create(folder)
    yield made
    made.close()


@pytest.fixture
def sizes(model: backend.Transformers, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tokens the model is given, by run."""
    given: list[int] = []
    run = model._model.forward

    def forward(*args: Any, input_ids: Any, **options: Any) -> Any:
        given.append(input_ids.shape[1])
        return run(*args, input_ids=input_ids, **options)

    monkeypatch.setattr(model._model, 'forward', forward)
    return given


def text(model: backend.Transformers, request: Request = ASK) -> str:
    return ''.join(model.stream(request, LONG))


def say(model: backend.Transformers, monkeypatch: pytest.MonkeyPatch, tokens: list[int], pause: float = 0.0) -> None:
    """Have the model say these tokens and its end, whatever it is asked; each takes `pause` seconds."""
    left = iter([*tokens, 2])

    def choose(self: object, logits: object) -> int:
        time.sleep(pause)
        return next(left)

    monkeypatch.setattr(backend._Choice, '__call__', choose)


class TestContract(Contract):
    """As every backend."""


class TestText:
    def test_it_is_what_the_library_itself_generates(self, model: backend.Transformers) -> None:
        prompt = torch.tensor([model._prompt(ASK.messages)])
        with torch.inference_mode():
            expected = model._model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=24,
                                             do_sample=False)[0, prompt.shape[1]:]
        decoded = model._decode(expected.tolist()).replace('�', '')
        assert decoded and text(model) == decoded

    def test_characters_are_whole_and_come_at_once(self, model: backend.Transformers,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
        told = ' The fox 🦊 said: „Grüß Gott“ 你好.'
        tokens = model._tokenizer(told)['input_ids']
        say(model, monkeypatch, tokens)
        pieces = list(model.stream(replace(ASK, max_tokens=100), LONG))
        assert ''.join(pieces) == told and all(pieces)
        whole = [model._decode(tokens[:size]) for size in range(1, len(tokens) + 1)]
        assert len(pieces) == sum(not said.endswith('�') for said in whole), 'nothing waits for longer than it must'

    def test_bytes_that_make_no_character_are_left_out(self, model: backend.Transformers,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
        half = model._tokenizer('🦊')['input_ids'][:2]
        a, b = model._tokenizer('a')['input_ids'], model._tokenizer('b')['input_ids']
        say(model, monkeypatch, [*a, *half, *b, *half])
        assert text(model) == 'ab'

    @pytest.mark.parametrize(('stop', 'left'), [
        (('\n\n', '['), 'A fox'), (('fox [',), 'A'), (('x [sad]!',), 'A fox [sad]\n\nok'), (('', 'A'), ''),
        (('ok!', 'k'), 'A fox [sad]\n\no')])
    def test_stop_texts_work_across_tokens(self, model: backend.Transformers, monkeypatch: pytest.MonkeyPatch,
                                           stop: tuple[str, ...], left: str) -> None:
        tokens = [token for letter in 'A fox [sad]\n\nok' for token in model._tokenizer(letter)['input_ids']]
        say(model, monkeypatch, tokens)
        pieces = list(model.stream(replace(ASK, max_tokens=100, stop=stop), LONG))
        assert ''.join(pieces).rstrip(' ') == left and all(pieces)

    def test_greedy_and_seeded(self, model: backend.Transformers) -> None:
        warm = replace(ASK, temperature=1.5)
        assert text(model) == text(model)
        assert text(model, warm) == text(model, warm)
        assert len({text(model, replace(warm, seed=seed)) for seed in range(5)}) > 1

    def test_it_ends_with_the_tokens_that_were_asked_for(self, model: backend.Transformers, sizes: list[int]) -> None:
        list(model.stream(replace(ASK, max_tokens=5), LONG))
        assert len([size for size in sizes if size == 1]) <= 5

    def test_thinking_is_switched_off_where_the_template_can(self, model: backend.Transformers, tmp_path: Path) -> None:
        assert model._decode(model._prompt(ASK.messages)).endswith('assistant\n<think>\n\n</think>\n\n')
        plain = create(save(tmp_path / 'plain', TEMPLATE[:TEMPLATE.index('\n{%- if enable')] + '{%- endif %}'))
        assert plain._decode(plain._prompt(ASK.messages)).endswith('a fox.\nassistant\n')

    def test_the_assistants_last_words_are_gone_on_from(self, model: backend.Transformers) -> None:
        begun = (*ASK.messages, Message('assistant', 'Once upon a'))
        prompt = model._decode(model._prompt(begun))
        assert prompt.endswith('</think>\n\nOnce upon a') and model.resumes, 'on a CPU it rests for the voice'


class TestPrefix:
    def test_only_what_is_new_is_computed(self, model: backend.Transformers, sizes: list[int]) -> None:
        first = text(model)
        read = sum(sizes)
        sizes.clear()
        again = (*ASK.messages, Message('assistant', 'So it was.'), Message('user', 'And then?'))
        fresh = len(model._prompt(again)) - len(model._prompt(ASK.messages))
        answer = text(model, replace(ASK, messages=again, max_tokens=1))
        # What is not in common with the first request: its empty thinking block and its answer.
        assert fresh <= sum(sizes) <= fresh + 20 < read
        sizes.clear()
        assert text(model) == first and sizes[0] == 1, 'the last token alone'
        model._recent.clear()
        assert text(model, replace(ASK, messages=again, max_tokens=1)) == answer

    @pytest.mark.parametrize('temperature', [0.0, 1.2])
    def test_it_changes_no_answer(self, model: backend.Transformers, folder: Path, temperature: float) -> None:
        request = Request((*ASK.messages, Message('assistant', 'Once.'), Message('user', 'More!')), 24, temperature, 5)
        fresh = text(create(folder), request)
        model.warm_up([ASK.messages[:1]])
        list(model.stream(ASK, LONG))
        model.read(request.messages[:-1], lambda: False)
        assert text(model, request) == fresh

    def test_a_warmed_up_beginning_stays_and_shares_nothing_with_another(self, model: backend.Transformers,
                                                                          sizes: list[int]) -> None:
        beginnings = [(Message('system', f'{name} ' * 60),) for name in ('fox', 'Fuchs')]
        model.warm_up(beginnings)
        model.warm_up(beginnings)
        assert len(model._prefixes) == 2
        for number in range(12):
            list(model.stream(Request((Message('user', f'{number} is a number.'),), 4), LONG))
        assert len(model._recent) <= backend.RECENT
        for beginning in beginnings:
            sizes.clear()
            text(model, Request((*beginning, Message('user', 'Hi')), 1))
            assert sum(sizes) < 30

    def test_a_conversation_that_grows_takes_one_place(self, model: backend.Transformers) -> None:
        model.read(ASK.messages[:1], lambda: False)
        for _ in range(3):
            text(model)
        assert len(model._recent) <= 2

    def test_reading_ahead_stops_between_two_chunks(self, model: backend.Transformers, sizes: list[int]) -> None:
        looks = iter([False, False, False])
        model.read((Message('user', 'word ' * 200),), lambda: next(looks, True))
        assert sizes == [backend.CHUNK['cpu']] * 3
        model.read((Message('user', 'word ' * 9000),), lambda: False)  # too long, which is no matter


class TestEnds:
    def test_closing_computes_no_more(self, model: backend.Transformers, sizes: list[int]) -> None:
        stream = model.stream(ASK, LONG)
        next(stream)
        known = len(sizes)
        stream.close()
        assert len(sizes) == known

    def test_streams_open_beside_each_other(self, model: backend.Transformers) -> None:
        other = replace(ASK, messages=(Message('user', 'Who are you?'),))
        alone = text(model), text(model, other)
        one, two = model.stream(ASK, LONG), model.stream(other, LONG)
        begun = next(one), next(two)
        assert (begun[0] + ''.join(one), begun[1] + ''.join(two)) == alone

    def test_several_threads(self, model: backend.Transformers) -> None:
        alone, got = text(model), []
        threads = [threading.Thread(target=lambda: got.append(text(model))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert got == [alone] * 4

    @pytest.mark.parametrize(('limits', 'pieces'), [
        (Limits(0.0, 9, 9), 0), (Limits(9, 0.1, 9), 1), (Limits(9, 9, 0.3), 1)])
    def test_each_limit(self, model: backend.Transformers, monkeypatch: pytest.MonkeyPatch, limits: Limits,
                        pieces: int) -> None:
        say(model, monkeypatch, model._tokenizer('a b c d e f')['input_ids'], pause=0.2)
        got = []
        with pytest.raises(Unavailable, match='gave no text'):
            for piece in model.stream(ASK, limits):
                got.append(piece)
        assert len(got) >= pieces and len(got) <= 2

    def test_a_prompt_is_given_up_between_two_chunks(self, model: backend.Transformers, sizes: list[int]) -> None:
        long = Request((Message('user', 'word ' * 200),))
        with pytest.raises(Unavailable):
            list(model.stream(long, Limits(1e-3, 1, 1)))
        assert len(sizes) < 10

    def test_a_slow_caller_is_not_silence(self, model: backend.Transformers) -> None:
        stream = model.stream(ASK, Limits(30, 1.0, 60))
        next(stream)
        time.sleep(1.2)
        assert list(stream)

    def test_a_failure_is_unavailable_and_the_next_request_is_served(self, model: backend.Transformers,
                                                                      monkeypatch: pytest.MonkeyPatch) -> None:
        alone = text(model)
        with monkeypatch.context() as broken:
            broken.setattr(model._model.model.layers[1], 'forward', _out_of_memory)
            with pytest.raises(Unavailable, match='out of memory'):
                text(model, replace(ASK, messages=(*ASK.messages, Message('user', 'And then?'))))
        assert text(model) == alone

    def test_after_close(self, model: backend.Transformers) -> None:
        stream = model.stream(ASK, LONG)
        next(stream)
        model.close()
        with pytest.raises(Unavailable, match='closed'):
            list(stream)
        assert not model._recent
        model.close()


class TestRefusals:
    def test_a_schema_is_followed(self, model: backend.Transformers) -> None:
        schema = {'type': 'object', 'properties': {'mood': {'type': 'string', 'enum': ['sad', 'happy']},
                                                   'sure': {'type': 'integer', 'minimum': 1, 'maximum': 5}},
                  'required': ['mood', 'sure'], 'additionalProperties': False}
        for temperature in (0.0, 1.5):
            got = json.loads(text(model, Request((Message('user', 'My cat died.'),), 60, temperature, schema=schema)))
            assert got['mood'] in ('sad', 'happy') and 1 <= got['sure'] <= 5
        with pytest.raises(BadInput, match='schema'):
            text(model, replace(ASK, schema={'type': 'nonsense'}))
        with pytest.raises(BadInput, match='llama_cpp only'):
            text(model, replace(ASK, grammar='root ::= "a"'))

    def test_pictures_and_sounds(self, model: backend.Transformers) -> None:
        with pytest.raises(BadInput, match='words only'):
            text(model, Request((Message('user', 'Who is it?', pictures=(b'jpeg',)),)))

    def test_too_long_a_conversation(self, folder: Path) -> None:
        small = create(folder, context=256)
        with pytest.raises(BadInput, match='too long'):
            text(small, Request((Message('user', 'word ' * 300),)))
        room = 256 - len(small._prompt(ASK.messages))
        assert len(small._tokenizer(text(small, replace(ASK, max_tokens=1000)))['input_ids']) <= room

    def test_what_a_template_refuses(self, tmp_path: Path) -> None:
        strict = create(save(tmp_path / 'strict', "{{ raise_exception('no system message') if messages[0].role == "
                                                  "'system' else messages[0].content }}"))
        with pytest.raises(BadInput, match='no system message'):
            text(strict)

    def test_folders_that_hold_no_such_model(self, folder: Path, tmp_path: Path) -> None:
        with pytest.raises(Missing, match='lacks'):
            create(tmp_path)
        with pytest.raises(Missing, match='hf download some/model'):
            create(Path('some/model'))
        with pytest.raises(BadInput, match='no chat template'):
            create(save(tmp_path / 'base', None))
        broken = save(tmp_path / 'broken')
        (broken / 'model.safetensors').write_bytes(b'not weights')
        with pytest.raises(BadInput, match='cannot be loaded'):
            create(broken)
        with pytest.raises(BadInput, match='cannot be loaded'):
            backend.create(backend.Config(model=str(folder), device='abacus'))

    def test_a_model_with_a_running_state(self, tmp_path: Path) -> None:
        mamba = library.MambaConfig(vocab_size=416, hidden_size=16, state_size=4, num_hidden_layers=2)
        hybrid = library.Qwen3NextConfig(
            vocab_size=416, hidden_size=32, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
            head_dim=8, num_experts=2, num_experts_per_tok=1, moe_intermediate_size=16,
            shared_expert_intermediate_size=16, eos_token_id=2)
        for name, config in {'mamba': mamba, 'hybrid': hybrid}.items():
            with pytest.raises(BadInput, match='keeps something else'):
                create(save(tmp_path / name, config=config))

    def test_a_sliding_window_is_no_matter(self, tmp_path: Path) -> None:
        config = library.MistralConfig(
            vocab_size=416, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            intermediate_size=64, eos_token_id=2, initializer_range=0.6, sliding_window=16)
        sliding = create(save(tmp_path / 'sliding', config=config))
        fresh = text(sliding)
        sliding.read((*ASK.messages[:1], Message('user', 'Something else.')), lambda: False)
        assert text(sliding) == fresh == text(create(tmp_path / 'sliding'))

    def test_its_arithmetic_is_chosen(self, folder: Path) -> None:
        assert create(folder, dtype='bfloat16')._model.dtype == torch.bfloat16
        assert create(folder)._model.dtype == torch.float32


def _out_of_memory(*args: object, **options: object) -> None:
    raise RuntimeError('CUDA out of memory')
