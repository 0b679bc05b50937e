"""The camera's and the microphone's node: what they read arrives, what they can't read is told, and both begin anew."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from sensor_msgs.msg import Image

from emavatar_ros.media.audio import Audio
from emavatar_ros.msg import AudioChunk
from emavatar_ros.nodes.base import PICTURE, SOUND
from emavatar_ros.nodes.camera_node import CameraNode
from emavatar_ros.nodes.convert import seconds
from emavatar_ros.nodes.microphone_node import MicrophoneNode
from emavatar_ros.reply import write_wav


def test_a_sound_file_is_heard_again_after_each_activation(ros, tmp_path: Path) -> None:
    sound = np.linspace(-0.5, 0.5, 8000, dtype=np.float32)
    write_wav(tmp_path / 'a.wav', Audio(sound, 16_000))
    heard = ros.hear(AudioChunk, 'microphone/audio', SOUND)
    node = ros.start(MicrophoneNode, source=str(tmp_path / 'a.wav'), frame_id='desk')
    ros.wait(lambda: len(heard) > 10)
    # The first chunks may be gone before the two have found each other.
    assert [chunk.sequence for chunk in heard] == list(range(heard[0].sequence, heard[-1].sequence + 1))
    assert (heard[0].header.frame_id, heard[0].sample_rate) == ('desk', 16_000)
    node.trigger_deactivate()
    assert not node._thread.is_alive()
    count = len(heard)
    node.trigger_activate()
    ros.wait(lambda: len(heard) > count)
    assert heard[count].sequence <= 2
    ros.wait(lambda: node.facts.get('device') == 'a.wav' and node.counts['lost'] == 0)


def test_a_picture_is_seen_at_the_rate_asked_for(ros, tmp_path: Path) -> None:
    assert cv2.imwrite(str(tmp_path / 'a.png'), np.full((48, 64, 3), (0, 0, 255), np.uint8))
    seen = ros.hear(Image, 'camera/image_raw', PICTURE)
    ros.start(CameraNode, source=str(tmp_path / 'a.png'), loop=True, images_per_s=20.0)
    ros.wait(lambda: len(seen) >= 13)
    # Single pictures may be late on a busy machine.
    assert seconds(seen[12].header.stamp) - seconds(seen[0].header.stamp) > 0.3
    assert (seen[0].width, seen[0].height, seen[0].encoding) == (64, 48, 'rgb8')
    assert bytes(seen[0].data[:3]) == b'\xff\x00\x00'


@pytest.mark.parametrize('kind', [CameraNode, MicrophoneNode])
def test_a_file_that_is_neither_is_told(ros, kind: type, tmp_path: Path) -> None:
    (tmp_path / 'a.wav').write_text('no sound and no picture')
    node = ros.start(kind, source=str(tmp_path / 'a.wav'))
    ros.wait(lambda: 'a.wav' in node.problem)
    assert node.active
