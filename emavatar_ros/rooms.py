"""The rooms of one profile and avatar, each made when asked for: what the nodes configure, for use without ROS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from emavatar_ros.avatars import Avatar
from emavatar_ros.graph import NODES
from emavatar_ros.settings import Value, build, chosen

PATIENCE: Final = 15.0
"""Longest wait for the language model, in seconds, where a profile allows less."""


SIDE: Final = 720
"""Width and height of reply.mp4, in px."""


class Rooms:
    """Makes a room's models from the settings of its node. Every call makes new ones; calls may run side by side."""

    def __init__(self, settings: Mapping[str, Mapping[str, Value]], avatar: Avatar) -> None:
        """settings: as profiles.load gives them."""
        self._settings = settings
        self._avatar = avatar

    def config(self, node: str) -> Any:
        """A node's settings object."""
        return build(NODES[node].config, self._settings.get(node, {}), node)

    def activity(self) -> Any:
        """The voice activity detector."""
        return self._backend('listening', 'activity')

    def recogniser(self) -> Any:
        """The speech recogniser, without the listener that a stream needs."""
        return self._backend('listening', 'recogniser')

    def face_view(self) -> Any:
        """What a face shows."""
        from emavatar_ros.perception.face import view

        return view.create(self.config('face_emotion'), self._backend('face_emotion', 'networks'))

    def words(self) -> Any:
        """What words say."""
        return self._backend('text_emotion', 'backend')

    def voice_view(self) -> Any:
        """What a voice shows."""
        return self._backend('voice_emotion', 'backend')

    def whole(self) -> Any:
        """What takes words, voice and face together."""
        from emavatar_ros.perception import whole

        return whole.create(self.config('whole_emotion'))

    def arbiter(self) -> Any:
        """Who decides."""
        from emavatar_ros.deliberation.deliberator import create

        config = self.config('arbiter')
        return create(config.deliberation, config.fusion, self._backend('arbiter', 'backend'))

    def llm(self) -> Any:
        """The language model; None where templates write the reply."""
        return self._backend('planner', 'backend') if self.config('planner').composer == 'llm' else None

    def planner(self, languages: int = 1) -> tuple[Any, str]:
        """Who writes the reply, ready for so many of the avatar's languages, and the name of its language model."""
        from emavatar_ros.planning import planner
        from emavatar_ros.voice.instruction import delivery

        llm = self.llm()
        # Nobody stands waiting: a model that is slow because others are still loading may finish its reply.
        config = self.config('planner')
        config = replace(config, **{name: max(getattr(config, name), PATIENCE)
                                    for name in ('first_token', 'first_beat', 'silence', 'whole')})
        made = planner.create(config, self._avatar.persona, llm, delivery)
        made.warm_up(self._avatar.languages[:languages])
        return made, llm.name if llm is not None else 'template'

    def voice(self) -> Any:
        """The avatar's voice."""
        return self._backend('speech', 'backend', self._avatar)

    def animator(self) -> Any:
        """What moves the face."""
        from emavatar_ros.face.animator import Animator

        return Animator(self.config('face').seed)

    def renderer(self) -> Any:
        """What draws the face; used by the thread that made it. Smooth edges cost a processor four times the time, a
        GPU nothing that shows: only there they are asked for."""
        from emavatar_ros.face import renderer
        from emavatar_ros.stage.quality import SOFTWARE

        made = renderer.create(renderer.Config(SIDE, SIDE, samples=0), self._avatar)
        if any(name in made.info['renderer'].casefold() for name in SOFTWARE):
            return made
        made.close()
        return renderer.create(renderer.Config(SIDE, SIDE), self._avatar)

    def _backend(self, node: str, field: str, *arguments: object) -> Any:
        module, settings = chosen(self.config(node), field)
        return module.create(settings, *arguments)
