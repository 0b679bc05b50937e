"""Settings of the nodes that put several rooms' parts together. Needs no ROS: profiles and help texts read it."""

from __future__ import annotations

from dataclasses import dataclass, field

from emavatar_ros.deliberation import belief, deliberator, fusion
from emavatar_ros.perception.face import view
from emavatar_ros.planning import planner
from emavatar_ros.settings import backend, setting

AVATAR = 'mira'


@dataclass(frozen=True)
class FaceEmotionSettings(view.Config):
    """Settings of the face emotion node."""

    networks: str = backend('small', 'perception.face', 'what tells expressions')
    images_per_s: float = setting(8.0, 'pictures looked at: an expression lasts longer than their distance', unit='1/s',
                                  low=0.5, high=60.0)
    view_angle: float = setting(1.05, "the camera's horizontal field of view", unit='rad', low=0.2, high=3.0)


@dataclass(frozen=True)
class VoiceEmotionSettings:
    """Settings of the voice emotion node."""

    backend: str = backend('encoder', 'perception.voice', 'what judges a voice')


@dataclass(frozen=True)
class TextEmotionSettings:
    """Settings of the text emotion node."""

    backend: str = backend('minilm', 'perception.words', 'what reads the words')


@dataclass(frozen=True)
class ArbiterSettings:
    """Settings of the arbiter node."""

    fusion: fusion.Config = field(default_factory=fusion.Config)
    deliberation: deliberator.Config = field(default_factory=deliberator.Config)
    backend: str = backend('measured', 'deliberation', 'who asks, answers and weighs where views conflict')
    belief: belief.Config = field(default_factory=belief.Config)
    views: str = setting('words, voice, face, whole', 'views that are waited for, comma-separated')
    budget: float = setting(0.5, 'longest wait for a view after the first one has spoken', unit='s', low=0.0, high=10.0)


@dataclass(frozen=True)
class PlannerSettings(planner.Config):
    """Settings of the planner node."""

    avatar: str = setting(AVATAR, 'whose persona speaks: a folder in avatars/')
    backend: str = backend('llama_cpp', 'models.llm', 'the language model')
    acknowledge: bool = setting(True, 'say a short sound at once while the reply is written')
    soon: float = setting(1.5, 'a reply expected within this time needs no such sound', unit='s', low=0.0, high=30.0)


@dataclass(frozen=True)
class SpeechSettings:
    """Settings of the speech node."""

    avatar: str = setting(AVATAR, 'whose voice speaks: a folder in avatars/')
    backend: str = backend('kokoro', 'voice', 'the voice')


@dataclass(frozen=True)
class FaceSettings:
    """Settings of the face node."""

    rate: float = setting(30.0, 'face states a second', unit='1/s', low=10.0, high=120.0)
    ahead: float = setting(0.12, 'how long before it shows a face state is published', unit='s', low=0.0, high=0.5)
    seed: int = setting(1, 'gives this face its own blinks and glances', low=0, high=1_000_000)
