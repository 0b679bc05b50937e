"""Language models, as streams of text: one Protocol, one file per backend.

Backends: `llama_cpp` (in this process, on a CPU), `transformers` (in this process, on a GPU), `openai` (any
OpenAI-compatible server). Streaming is iterating over the pieces, stopping is closing the iterator: generation then
ends at once. Every wait is bounded by `Limits`; past one of them the stream raises Unavailable and generation is
stopped.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Message:
    """One message of a conversation. role: system, user or assistant. pictures: JPEG files, sounds: WAV files, that
    come before the text; only a model behind a server that sees and hears understands them."""

    role: str
    content: str
    pictures: tuple[bytes, ...] = ()
    sounds: tuple[bytes, ...] = ()

    def as_chat(self) -> dict[str, Any]:
        """The message as OpenAI's chat completions have it: a text, or a list of parts (vLLM's, for Qwen3-Omni)."""
        if not self.pictures and not self.sounds:
            return {'role': self.role, 'content': self.content}
        pictures = [{'type': 'image_url', 'image_url': {'url': f'data:image/jpeg;base64,{_base64(picture)}'}}
                    for picture in self.pictures]
        sounds = [{'type': 'input_audio', 'input_audio': {'data': _base64(sound), 'format': 'wav'}}
                  for sound in self.sounds]
        return {'role': self.role, 'content': [*pictures, *sounds, {'type': 'text', 'text': self.content}]}


@dataclass(frozen=True)
class Limits:
    """Longest waits in seconds, all counted by the caller's clock: until the first piece of text, between two pieces,
    and until the end."""

    first_token: float = 3.0
    silence: float = 2.0
    whole: float = 12.0


@dataclass(frozen=True)
class Request:
    """What to generate. temperature 0 is the most likely text; the same seed gives the same text on one machine.

    stop: texts that end the answer and aren't part of it. schema: a JSON schema the answer must follow; grammar: GBNF,
    understood by llama.cpp only.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 48
    temperature: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    grammar: str | None = None


class Llm(Protocol):
    """A language model that streams.

    `stream` yields pieces of text, never empty; Unavailable when a limit passed or the model can't be reached,
    BadInput when the request can't be served (too long). `warm_up` prepares the given beginnings of conversations, so
    that a request starting with one of them only pays for what follows. `read` does the same for a conversation that is
    under way, ahead of its next line; it gives up soon after `stopped` says so, never raises, and may do nothing where
    a server sees to that itself. Several threads may call; requests may queue.
    """

    name: str
    resumes: bool
    """It computes beside the other models of this machine, so that it pays to let it rest while they are needed more:
    a request that ends with the assistant's words goes on from them at once."""

    def warm_up(self, prefixes: Sequence[Sequence[Message]]) -> None: ...

    def read(self, messages: Sequence[Message], stopped: Callable[[], bool]) -> None: ...

    def stream(self, request: Request, limits: Limits) -> Generator[str, None, None]: ...

    def close(self) -> None: ...


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
