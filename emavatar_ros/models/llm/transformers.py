"""A Hugging Face model in this process, by the transformers library: for a GPU where no server shall run beside.

Model: by default Qwen/Qwen3-1.7B (Apache-2.0, 1.7 billion parameters, some 4 GB of weights and of memory); any causal
model whose tokenizer has a chat template will do, from a hub or a folder (Qwen2.5 and Qwen3 Instruct of other sizes,
Llama, Mistral ...), unless it keeps something else than keys and values (Qwen3.5 does). Qwen3 is asked not to think.
Hardware: a GPU or a Jetson; a CPU computes the same, slower than llama_cpp does. Every node that chooses it loads the
model for itself: for several a server is better. Extra: transformers.

* Threads: none. What the next piece needs is computed in the caller's thread when it asks for that piece, so that
  closing stops at once and a stream that nobody reads costs nothing. Streams may be open beside each other.
* Time: a token or a chunk of CHUNK tokens, once begun, runs to its end; limits and stops are looked at in between.
* Prefix: what the model computed of a conversation (keys and values of each layer) is kept, never changed. A request
  takes over as much as it has in common, token by token, with any kept one, and pays for the rest only. The beginnings
  given to `warm_up` stay; of the others the RECENT newest do.
* Schema: llguidance says after each token which ones may follow.

Tested on tiny models with random weights; the published weights were not run by us, nor was a GPU used.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, Final

from emavatar_ros.errors import BadInput, EmavatarError, Unavailable
from emavatar_ros.models import hub
from emavatar_ros.models.llm import Limits, Message, Request
from emavatar_ros.settings import setting

log = logging.getLogger(__name__)
NEEDED: Final = ('config.json', '*.safetensors', 'tokenizer*')
WANTED: Final = ('*.json', '*.safetensors', '*.txt', '*.model', '*.jinja')
CHUNK: Final = {'cpu': 16, 'gpu': 256}
"""Tokens of a prompt read at once: half a second of two cores, a fraction of that on a GPU."""
RECENT: Final = 4
"""Conversations kept beside the warmed-up beginnings: the visitor's, and those of a judge or another view."""
TOP_K: Final = 40
TOP_P: Final = 0.95
"""What is drawn from when temperature isn't 0: the most likely tokens, TOP_K at most, that together are as likely as
this. The tail of a vocabulary is mostly nonsense; llama.cpp's defaults."""
CONTEXT: Final = 8
"""Tokens of the prompt that the first ones of an answer are decoded with: some tokenizers drop a text's first space."""
BROKEN: Final = '\ufffd'


@dataclass(frozen=True)
class Config:
    """Settings of the model."""

    model: str = setting('Qwen/Qwen3-1.7B', "a hub's name or a folder, with .safetensors weights and a chat template")
    device: str = setting('', 'where it computes, as torch names it: cpu, cuda, cuda:1; empty: a GPU if there is one')
    dtype: str = setting('', "its arithmetic; empty: that of the weights on a GPU, float32 on a CPU",
                         choices=('', 'float32', 'bfloat16', 'float16'))
    context: int = setting(4096, 'longest conversation with its answer', unit='tokens', low=256, high=131072)
    slots: int = setting(2, 'conversation beginnings kept ready, one a language', low=1, high=8)
    fetch: bool = setting(False, 'download the model from its hub when it is not on this machine')
    patience: float = setting(1800.0, 'longest download', unit='s', low=1.0, high=86400.0)


class Transformers:
    """One loaded model: make one per process. Any thread may call."""

    def __init__(self, config: Config, path: Path) -> None:
        """Load from a folder; raises BadInput when it holds no model that can be used."""
        import torch
        import transformers
        from llguidance.hf import from_tokenizer
        from safetensors import SafetensorError

        self._torch: Any = torch
        self._library: Any = transformers
        self.name = config.model.rstrip('/').rsplit('/', 1)[-1]
        self._lock = threading.Lock()
        self._prefixes: deque[_Conversation] = deque(maxlen=config.slots)
        self._recent: deque[_Conversation] = deque(maxlen=RECENT)
        try:
            self._device = torch.device(config.device or ('cuda' if torch.cuda.is_available() else 'cpu'))
            self.resumes = self._device.type == 'cpu'
            self._chunk = CHUNK['cpu' if self.resumes else 'gpu']
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            if not self._tokenizer.chat_template:
                raise ValueError('its tokenizer has no chat template')
            model, told = transformers.AutoModelForCausalLM.from_pretrained(
                path, local_files_only=True, use_safetensors=True, output_loading_info=True,
                dtype=config.dtype or ('float32' if self.resumes else 'auto'))
            if told['missing_keys']:
                raise ValueError('weights are missing, the library would make some up')
            self._model: Any = model.to(self._device).eval()
            # Renamed within the library's version 5.
            known = signature(model.forward).parameters
            self._cache_argument = 'cache' if 'cache' in known else 'past_key_values'
            ends = model.generation_config.eos_token_id
            self._ends = {self._tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])} - {None}
            longest = getattr(model.config.get_text_config(), 'max_position_embeddings', None) or config.context
            self._longest = min(config.context, longest)
            vocabulary = self._try_out()
            self._guide: Any = from_tokenizer(self._tokenizer, n_vocab=vocabulary, eos_token=min(self._ends))
        except (OSError, ValueError, KeyError, RuntimeError, AssertionError, TypeError, AttributeError, IndexError,
                SafetensorError) as error:
            said = ' '.join(str(error).split())[:200]
            raise BadInput(f'{path} cannot be loaded as a language model: {said}') from None

    def warm_up(self, prefixes: Sequence[Sequence[Message]]) -> None:
        """Read the prefixes and keep them ready; beyond `slots` they are left."""
        for prefix in list(prefixes)[:self._prefixes.maxlen]:
            self._ahead(prefix, self._prefixes, lambda: None)

    def read(self, messages: Sequence[Message], stopped: Callable[[], bool]) -> None:
        """Read a conversation up to its next line; see the Protocol."""
        def wanted() -> None:
            if stopped():
                raise Unavailable('it is no longer wanted')

        try:
            self._ahead(messages, self._recent, wanted)
        except EmavatarError as error:
            log.debug('not read ahead: %s', error)

    def stream(self, request: Request, limits: Limits) -> Generator[str, None, None]:
        """Pieces of the answer; see the Protocol. Each is computed when it is asked for."""
        started = heard = time.monotonic()
        wait = limits.first_token

        def in_time() -> None:
            now = time.monotonic()
            if now - heard > wait or now - started > limits.whole:
                raise Unavailable(f'the language model gave no text for {now - heard:.1f} s')

        prompt = self._prompt(request.messages)
        choose = _Choice(self._torch, request, self._matcher(request))
        text = _Text(self._decode, prompt[-CONTEXT:], request.stop)
        conversation = self._begin(prompt)
        try:
            unread = prompt[len(conversation.tokens):]
            for _ in range(min(request.max_tokens, self._longest - len(prompt))):
                token = choose(self._forward(conversation, unread, in_time))
                in_time()
                if token in self._ends:
                    break
                if piece := text.add(token):
                    yield piece
                    # What the caller did meanwhile is not the model's silence.
                    heard, wait = time.monotonic(), limits.silence
                if text.over or choose.over:
                    break
                unread = [token]
            if text.held:
                yield text.held
        finally:
            self._keep(conversation, self._recent)

    def close(self) -> None:
        """Free the model; streams that are open end with Unavailable when they are next asked."""
        with self._lock:
            self._model = None
            self._prefixes.clear()
            self._recent.clear()

    def _try_out(self) -> int:
        """Compute something, so that the first visitor doesn't wait for it; gives the size of the vocabulary. Raises
        ValueError for a model that keeps something else than keys and values, which could not be cut back."""
        conversation = self._begin([0, 0])
        try:
            logits = self._forward(conversation, [0, 0], lambda: None)
            fits = {layer.keys.shape[-2] for layer in conversation.cache.layers} == {2}
        except (AttributeError, IndexError, TypeError):  # it looks for what such a cache doesn't have
            fits = False
        if not fits:
            raise ValueError('it keeps something else than keys and values; let a server run it (backend openai)')
        return len(logits)

    def _ahead(self, messages: Sequence[Message], kept: deque[_Conversation], go_on: Callable[[], None]) -> None:
        """Read a conversation up to where its next line begins and keep it. go_on: as `_forward`'s."""
        prompt = self._prompt((*messages, Message('user', '')))
        conversation = self._begin(prompt)
        try:
            self._forward(conversation, prompt[len(conversation.tokens):], go_on)
        finally:
            self._keep(conversation, kept)

    def _prompt(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of a conversation up to the answer, or up to where the assistant's last words end: it goes on from
        these. Raises BadInput when they can't be served."""
        from jinja2 import TemplateError

        if any(message.pictures or message.sounds for message in messages):
            raise BadInput(f'{self.name} reads words only: a model that sees and hears needs a server (backend openai)')
        told, begun = list(messages), ''
        if told and told[-1].role == 'assistant':
            begun = told.pop().content
        try:
            # Templates that don't know enable_thinking (Qwen3's) take no notice of it.
            text = self._tokenizer.apply_chat_template([message.as_chat() for message in told], tokenize=False,
                                                       add_generation_prompt=True, enable_thinking=False)
        except TemplateError as error:
            raise BadInput(f"{self.name}'s chat template refuses the conversation: {error}") from None
        with self._lock:  # a tokenizer sets itself up at each call
            prompt: list[int] = self._tokenizer(text + begun, add_special_tokens=False)['input_ids']
        if len(prompt) >= self._longest:
            raise BadInput(f'the conversation is too long for the model: {len(prompt)} of {self._longest} tokens')
        return prompt

    def _decode(self, tokens: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    def _matcher(self, request: Request) -> Any:
        """What follows the request's schema, None when it has none. Raises BadInput for one that can't be followed."""
        if request.grammar is not None:
            raise BadInput('GBNF grammars are understood by llama_cpp only: give a schema')
        if request.schema is None:
            return None
        from llguidance import LLMatcher

        # Without a choice of white space, in which small models get lost.
        grammar = LLMatcher.grammar_from_json_schema(json.dumps(dict(request.schema)),
                                                     overrides={'whitespace_flexible': False})
        matcher = LLMatcher(self._guide, grammar, log_level=0)
        if matcher.is_error():
            raise BadInput(f'the schema cannot be followed: {matcher.get_error()}')
        return matcher

    def _begin(self, prompt: Sequence[int]) -> _Conversation:
        """A conversation that has read as much of the prompt as any kept one has, but not the last token: what comes
        after that one is asked for."""
        with self._lock:
            kept = [*self._prefixes, *self._recent]
        shared, best = 0, None
        for conversation in kept:
            common = min(_common(conversation.tokens, prompt), len(prompt) - 1)
            if common > shared:
                shared, best = common, conversation
        cache = self._library.DynamicCache()
        if best is not None:
            with self._torch.inference_mode():
                for number, layer in enumerate(best.cache.layers):
                    cache.update(layer.keys[..., :shared, :], layer.values[..., :shared, :], number)
        return _Conversation(list(prompt[:shared]), cache)

    def _forward(self, conversation: _Conversation, tokens: Sequence[int], go_on: Callable[[], None]) -> Any:
        """Let the model read more tokens, at least one; gives the logits behind the last one, a float32 tensor
        [vocabulary] on the CPU. go_on: asked before each chunk, ends it by raising."""
        for start in range(0, len(tokens), self._chunk):
            go_on()
            model, chunk = self._model, tokens[start:start + self._chunk]
            if model is None:
                raise Unavailable('the language model was closed')
            try:
                with self._torch.inference_mode():
                    output = model(input_ids=self._torch.tensor([chunk], device=self._device), use_cache=True,
                                   logits_to_keep=1, **{self._cache_argument: conversation.cache})
                    # This waits for the GPU, too: the next look at the clock is honest.
                    logits = output.logits[0, -1].float().cpu()
            except RuntimeError as error:
                with self._lock:  # most likely memory is short
                    self._recent.clear()
                raise Unavailable(f'the language model failed: {" ".join(str(error).split())[:200]}') from None
            conversation.tokens += chunk
        return logits

    def _keep(self, conversation: _Conversation, kept: deque[_Conversation]) -> None:
        """Keep what was computed, in the place of what it goes on from."""
        tokens = conversation.tokens
        with self._lock:
            if self._model is None or any(other.tokens[:len(tokens)] == tokens for other in kept):
                return
            for other in [other for other in kept if other.tokens == tokens[:len(other.tokens)]]:
                kept.remove(other)
            kept.append(conversation)


@dataclass(eq=False)
class _Conversation:
    """What the model has read: the tokens, and the library's cache of their keys and values, for each layer a tensor
    [1, heads, tokens, width]. After a failure the cache may hold more than the tokens."""

    tokens: list[int]
    cache: Any


class _Choice:
    """Takes one token after the other. `over`: the schema is fulfilled."""

    def __init__(self, torch: Any, request: Request, matcher: Any) -> None:
        self._torch = torch
        self._temperature = request.temperature
        self._random = torch.Generator().manual_seed(request.seed)
        self._matcher = matcher
        self.over = False

    def __call__(self, logits: Any) -> int:
        """The next token, given the logits float32 [vocabulary]."""
        if self._matcher is not None:
            allowed = self._torch.frombuffer(bytearray(self._matcher.compute_logit_bias()), dtype=self._torch.uint8)
            logits = logits.masked_fill(allowed == 0, -self._torch.inf)
        token = int(logits.argmax()) if self._temperature == 0 else self._draw(logits)
        if self._matcher is not None:
            self._matcher.consume_token(token)
            self.over = self._matcher.is_stopped()
        return token

    def _draw(self, logits: Any) -> int:
        values, tokens = logits.topk(min(TOP_K, len(logits)))
        shares = (values / self._temperature).softmax(0)
        shares[shares.cumsum(0) - shares >= TOP_P] = 0  # what comes behind the first ones that make up TOP_P
        return int(tokens[self._torch.multinomial(shares, 1, generator=self._random)])


class _Text:
    """Tokens become text as soon as it is certain: characters are whole, and what may become one of the stop texts is
    `held` back. `over`: one of them has come; it and what follows are left out. Bytes that make no character are, too.

    decode: tokens to text; before: tokens in front of the first one.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], before: Sequence[int], stop: Sequence[str]) -> None:
        self._decode = decode
        self._tokens = list(before)
        self._decoded = len(decode(before))
        self._stop = [text for text in stop if text]
        self.held = ''
        self.over = False

    def add(self, token: int) -> str:
        """What is certain with this token, which may be nothing."""
        self._tokens.append(token)
        text = self._decode(self._tokens)
        if text.endswith(BROKEN):
            return ''
        new = self.held + text[self._decoded:].replace(BROKEN, '')
        self._decoded = len(text)
        found = [at for stop in self._stop if (at := new.find(stop)) >= 0]
        if found:
            self.held, self.over = '', True
            return new[:min(found)]
        doubtful = max((size for stop in self._stop for size in range(1, len(stop)) if new.endswith(stop[:size])),
                       default=0)
        certain = len(new) - doubtful
        self.held = new[certain:]
        return new[:certain]


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens two conversations have in common from their beginning."""
    for number, (one, other) in enumerate(zip(first, second)):
        if one != other:
            return number
    return min(len(first), len(second))


def create(config: Config | None = None) -> Transformers:
    """The configured model from its folder or the hub's cache; raises Missing, saying how to get it."""
    config = config or Config()
    hub.require('transformers', 'torch', 'transformers', 'llguidance')
    path = hub.folder(config.model, NEEDED, WANTED, 'transformers', config.fetch, config.patience)
    return Transformers(config, path)
