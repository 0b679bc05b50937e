"""`emavatar bench render`: how many images of the face this machine draws in a second, off-screen, with nothing else
running.

The face lives meanwhile (it speaks, blinks, sways): every image poses, uploads and draws anew, and is waited for.
Without a GPU edges are drawn plainly, as the stage does there.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, Final

from emavatar_ros import avatars
from emavatar_ros.face.animator import Animator
from emavatar_ros.media.audio import Audio
from emavatar_ros.stage.clock import silence
from emavatar_ros.stage.quality import Level, QualityConfig, is_software
from emavatar_ros.stage.screen import Screen
from emavatar_ros.stage.settings import StageConfig
from emavatar_ros.voice.speech import Phoneme, Speech

SIZES: Final = {'720p': (1280, 720), '1080p': (1920, 1080)}
IMAGES: Final = 60
SECONDS: Final = 8.0
"""Longest time for one size."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of contracts' `render`; raises Missing without OpenGL."""
    figures: dict[str, Any] = {}
    for name, (width, height) in SIZES.items():
        screen = Screen(StageConfig(screen='none', width=width, height=height, quality=QualityConfig(samples=0)),
                        avatars.load('mira'))
        try:
            samples = 0 if is_software(screen.renderer) else QualityConfig().samples
            screen.choose(Level(height, samples))
            figures[f'images_per_s_{name}'] = 1 / statistics.median(_draw(screen))
            figures['renderer'] = screen.renderer
            figures['samples'] = samples
        finally:
            screen.close()
    return figures


def _draw(screen: Screen) -> list[float]:
    """Seconds each image took."""
    animator = Animator(1)
    sounds = tuple(Phoneme(symbol, 0.1 * k, 0.1) for k, symbol in enumerate('mɑfiʃubɔtɛ' * 20))
    animator.speak(0.0, Speech(Audio(silence(20.0, 8000), 8000), sounds, ''), 'happy')
    for k in range(3):
        screen.show(animator.at(k / 30))
    took: list[float] = []
    while len(took) < IMAGES and sum(took) < SECONDS:
        begin = time.perf_counter()
        screen.show(animator.at(len(took) / 30))
        took.append(time.perf_counter() - begin)
    return took
