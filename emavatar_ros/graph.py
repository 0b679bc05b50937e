"""The graph: which nodes there are, what they are made of, and which share a process.

This list is the only one: `emavatar up`, the launch files, the profiles and the tests all read it. It needs no ROS.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass


@dataclass(frozen=True)
class NodeSpec:
    """One node. `settings` names its settings class, `node` its node class (module:class); `part` its launch file;
    `nice`: how far its process steps back when the processor is short (0 not at all, 19 most)."""

    name: str
    part: str
    settings: str
    node: str
    help: str
    nice: int = 0

    @property
    def config(self) -> type:
        """The settings class, imported now."""
        return _load(self.settings)

    @property
    def node_class(self) -> type:
        """The node class, imported now (needs ROS)."""
        return _load(self.node)


def _load(path: str) -> type:
    module, name = path.split(':')
    found: type = getattr(importlib.import_module(module), name)
    return found


def _spec(name: str, part: str, settings: str, help: str, nice: int = 0) -> NodeSpec:
    camel = ''.join(word.capitalize() for word in name.split('_'))
    return NodeSpec(name, part, f'emavatar_ros.{settings}', f'emavatar_ros.nodes.{name}_node:{camel}Node', help,
                    nice)


NODES = {spec.name: spec for spec in (
    _spec('camera', 'perceive', 'media.camera:CameraConfig', 'pictures from a device, a file or a URL'),
    _spec('microphone', 'perceive', 'media.microphone:MicrophoneConfig', 'sound from a device, or a file in real time'),
    _spec('listening', 'perceive', 'listening.listener:ListeningConfig', 'who speaks, and what they say'),
    _spec('face_emotion', 'perceive', 'nodes.settings:FaceEmotionSettings', 'what the face shows', 6),
    _spec('voice_emotion', 'perceive', 'nodes.settings:VoiceEmotionSettings', 'what the voice shows'),
    _spec('text_emotion', 'perceive', 'nodes.settings:TextEmotionSettings', 'what the words say'),
    _spec('whole_emotion', 'perceive', 'perception.whole:Config', 'what all three show together, by a server\'s model'),
    _spec('arbiter', 'converse', 'nodes.settings:ArbiterSettings', 'what the visitor feels'),
    _spec('planner', 'converse', 'nodes.settings:PlannerSettings', 'what to answer, and how', 3),
    _spec('speech', 'perform', 'nodes.settings:SpeechSettings', 'the answer as speech'),
    _spec('actions', 'perform', 'goal:Config', 'the actions say and respond'),
    _spec('face', 'perform', 'nodes.settings:FaceSettings', 'the answer as a moving face', 2),
    _spec('stage', 'perform', 'stage.settings:StageConfig', 'the screen and the speaker'),
)}

PARTS = ('perceive', 'converse', 'perform')

PROCESSES = (
    ('camera', 'face_emotion'),
    ('microphone', 'listening', 'voice_emotion'),
    ('text_emotion', 'whole_emotion', 'arbiter'),
    ('planner',),
    ('speech', 'actions'),
    ('face',),
    ('stage',),
)
"""Nodes that share a process: a crash stays local, and no model's Python holds up the sound."""
