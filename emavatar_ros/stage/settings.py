"""The stage's settings."""

from __future__ import annotations

from dataclasses import dataclass, field

from emavatar_ros.settings import setting
from emavatar_ros.stage.quality import QualityConfig
from emavatar_ros.stage.speaker import Config as SpeakerConfig


@dataclass(frozen=True)
class StageConfig:
    """The screen and the speaker."""

    avatar: str = setting('mira', 'who is on the screen: a folder\'s name under avatars/, or a path to such a folder')
    speaker: str = setting('', 'sound device by name, number or part of its name; empty is the system\'s; none: no '
                           'sound, in real time all the same')
    screen: str = setting('', 'screen by name, number or part of its name; empty is the primary one, or off-screen '
                          'where there is no display; none: off-screen')
    window: str = setting('full', 'full covers the screen, sized is a window', choices=('full', 'sized'))
    width: int = setting(1280, 'width of a sized window and of pictures drawn off-screen', unit='px', low=64, high=7680)
    height: int = setting(720, 'height of those', unit='px', low=64, high=4320)
    delay: float = setting(0.0, 'time a picture takes from the graphics card to the eye', unit='s', low=0.0, high=0.5)
    lead: float = setting(0.08, 'silence before a reply, in which the face gets ready to speak', unit='s', low=0.0,
                          high=1.0)
    patience: float = setting(15.0, 'longest wait for the next stretch of a reply', unit='s', low=1.0, high=120.0)
    record: str = setting('', 'write what is shown and heard to this .mp4, complete when the stage ends; empty: no')
    record_what: str = setting('replies', 'replies: only while the avatar speaks, one after the other; session: all',
                               choices=('replies', 'session'))
    sound: SpeakerConfig = field(default_factory=SpeakerConfig)
    quality: QualityConfig = field(default_factory=QualityConfig)
