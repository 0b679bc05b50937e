"""The whole view: one model that hears, sees and reads the utterance at once.

Such models (Qwen3-Omni and its like) need a GPU and run behind an OpenAI-compatible server (vLLM): this is its client,
over plain HTTP with the standard library. Sound goes as a 16 kHz WAV, pictures as a few JPEGs spread over the
utterance, and the answer is a JSON object with a share for each emotion. Without a server configured the view
abstains and says so; a server that is slow, away or talks nonsense makes it abstain too, in time.

It was checked against a local server that speaks the protocol, never against a real omni model.
"""

from __future__ import annotations

import base64
import http.client
import io
import json
import os
import re
import time
import urllib.error
import urllib.request
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

import cv2
import numpy as np

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.emotion.mappings import canonical
from emavatar_ros.errors import BadInput
from emavatar_ros.history import Line
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.images import Pixels, fit
from emavatar_ros.settings import setting

VIEW: Final = 'whole'
NOBODY: Final = 'none'
_RATE = 16000
_LARGEST_ANSWER = 65536
_LINES = 6


@dataclass(frozen=True)
class Config:
    """Settings of the whole view. The key is read from the environment, never from a file that is passed around."""

    url: str = setting('', "an OpenAI-compatible server's address up to /v1; empty: none, and the view abstains")
    model: str = setting('Qwen/Qwen3-Omni-30B-A3B-Instruct', 'the name the server knows the model by')
    key_variable: str = setting('EMAVATAR_OMNI_KEY', 'environment variable that holds the key, where one is needed')
    timeout: float = setting(6.0, 'longest wait for the whole answer', unit='s', low=0.1, high=120.0)
    pictures: int = setting(4, 'pictures of the utterance that are sent', low=0, high=16)
    longest: int = setting(480, 'longer side of a picture that is sent', unit='px', low=64, high=2048)


class Whole:
    """Asks the server about one utterance at a time; keeps nothing."""

    def __init__(self, config: Config) -> None:
        if config.url and not re.match(r'https?://[^/\s]+', config.url):
            raise BadInput(f'whole.url must begin with http:// or https:// and a host, not {config.url!r}')
        self._config = config

    @property
    def wanted(self) -> int:
        """How many pictures of an utterance it looks at; 0 where there is no server."""
        return self._config.pictures if self._config.url else 0

    def judge(self, text: str = '', audio: Audio | None = None, pictures: Sequence[Pixels] = (),
              history: Sequence[Line] = ()) -> Candidate:
        """What words, sound and pictures (uint8 [h, w, 3] RGB) of an utterance together show, or why nothing."""
        if not self._config.url:
            return Candidate.abstain(VIEW, NOBODY, 'no omni model is configured')
        model = self._config.model
        if not text.strip() and audio is None and not pictures:
            return Candidate.abstain(VIEW, model, 'nothing was said, heard or seen')
        try:
            answer = self._ask(self._content(text, audio, pictures, history))
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            return Candidate.abstain(VIEW, model, f'the omni server did not answer ({reason})')
        except (ValueError, KeyError, IndexError, TypeError):
            return Candidate.abstain(VIEW, model, 'the omni server gave no chat completion')
        read = parse(answer)
        if read is None:
            return Candidate.abstain(VIEW, model, 'the omni model named no emotion of the eight')
        return Candidate.of(VIEW, model, *read)

    def _content(self, text: str, audio: Audio | None, pictures: Sequence[Pixels],
                 history: Sequence[Line]) -> list[dict[str, Any]]:
        content: list[dict[str, Any]] = []
        chosen = np.linspace(0, len(pictures) - 1, min(len(pictures), self._config.pictures)).round().astype(int)
        for at in chosen:
            bgr = cv2.cvtColor(fit(pictures[at], self._config.longest), cv2.COLOR_RGB2BGR)
            data = base64.b64encode(cv2.imencode('.jpg', bgr)[1].tobytes()).decode()
            content.append({'type': 'image_url', 'image_url': {'url': f'data:image/jpeg;base64,{data}'}})
        if audio is not None:
            content.append({'type': 'input_audio',
                            'input_audio': {'data': base64.b64encode(_wav(audio)).decode(), 'format': 'wav'}})
        said = [f'{line.role}: {line.text}' for line in history[-_LINES:]]
        # The visitor's words are data: quoted as JSON, they can't pose as instructions of their own.
        content.append({'type': 'text', 'text': json.dumps({'before': said, 'visitor_now': text}, ensure_ascii=False)})
        return content

    def _ask(self, content: list[dict[str, Any]]) -> str:
        system = (files('emavatar_ros.prompts') / 'whole.txt').read_text(encoding='utf-8')
        body = json.dumps({
            'model': self._config.model, 'temperature': 0, 'max_tokens': 200,
            'response_format': {'type': 'json_object'},
            'messages': [{'role': 'system', 'content': system}, {'role': 'user', 'content': content}]}).encode()
        headers = {'Content-Type': 'application/json'}
        key = os.environ.get(self._config.key_variable, '')
        if key:
            headers['Authorization'] = f'Bearer {key}'
        request = urllib.request.Request(self._config.url.rstrip('/') + '/chat/completions', body, headers)
        # The socket's own timeout starts anew with every byte: a server that only trickles must not hold us longer.
        deadline = time.monotonic() + self._config.timeout
        received = b''
        with urllib.request.urlopen(request, timeout=self._config.timeout) as response:
            while len(received) <= _LARGEST_ANSWER and (part := response.read1(4096)):
                received += part
                if time.monotonic() > deadline:
                    raise TimeoutError('timed out')
        answer = json.loads(received)
        return str(answer['choices'][0]['message']['content'])


def parse(answer: str) -> tuple[Distribution, str] | None:
    """Distribution and evidence from a model's answer: the last JSON object in it, with a share for each emotion.

    Shares may be named in other words for the same emotions; None when there is no such object or no share above 0.
    """
    for found in reversed(re.findall(r'\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}', answer)):
        try:
            value = json.loads(found)
        except ValueError:
            continue
        shares = value.get('shares', value)
        if not isinstance(shares, dict):
            continue
        weights = dict.fromkeys(LABELS, 0.0)
        for name, share in shares.items():
            label = canonical(str(name))
            if label and isinstance(share, (int, float)) and not isinstance(share, bool) and 0 <= share < float('inf'):
                weights[label] += float(share)
        if sum(weights.values()) > 0:
            return Distribution.from_mapping(weights), str(value.get('evidence', ''))[:200]
    return None


def create(config: Config | None = None) -> Whole:
    """The whole view; without a server in `config` it abstains."""
    return Whole(config or Config())


def _wav(audio: Audio) -> bytes:
    samples = audio.mono(_RATE).samples
    out = io.BytesIO()
    with wave.open(out, 'wb') as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype('<i2').tobytes())
    return out.getvalue()
