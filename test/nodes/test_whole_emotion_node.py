"""The whole view's node: without a server it abstains at once; with one, words, sound and pictures reach it."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator

import numpy as np
import pytest
from chat_server import Server, say
from sensor_msgs.msg import Image

from emavatar_ros.msg import AudioChunk, EmotionCandidate, Transcript
from emavatar_ros.nodes.base import PICTURE, RELIABLE
from emavatar_ros.nodes.convert import audio_chunk, stamp
from emavatar_ros.nodes.whole_emotion_node import WholeEmotionNode


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that finds everybody afraid."""
    made = Server()
    made.script = say(json.dumps({'shares': {'fear': 0.8, 'sad': 0.2}, 'evidence': 'wide eyes'}))
    yield made
    made.close()


def transcript(text: str, at: float, spoken: bool) -> Transcript:
    return Transcript(turn_id=3, text=text, final=True, language='en', start=stamp(at - 1), end=stamp(at),
                      embedding=np.ones(4, np.float32) if spoken else [])


def test_without_a_server_it_abstains_at_once(ros) -> None:
    node = ros.start(WholeEmotionNode)
    heard = ros.hear(EmotionCandidate, 'candidates', RELIABLE)
    out = ros.publisher(Transcript, 'transcript', RELIABLE)
    out.publish(transcript('Is anybody there?', node.now(), True))
    ros.wait(lambda: heard)
    assert (heard[0].view, heard[0].turn_id, heard[0].label) == ('whole', 3, '') and 'omni' in heard[0].reason


def test_words_sound_and_pictures_reach_the_server(ros, server: Server) -> None:
    node = ros.start(WholeEmotionNode, url=server.url)
    heard = ros.hear(EmotionCandidate, 'candidates', RELIABLE)
    words, sound = ros.publisher(Transcript, 'transcript', RELIABLE), ros.publisher(AudioChunk, 'utterance', RELIABLE)
    pictures = ros.publisher(Image, 'camera/image_raw', PICTURE)
    now = node.now()
    image = Image(height=48, width=64, encoding='rgb8', step=192, data=array('B', bytes(48 * 192)))
    image.header.stamp = stamp(now - 0.5)
    pictures.publish(image)
    ros.wait(lambda: node.witness.pictures(now - 1, now))
    words.publish(transcript('Is anybody there?', now, True))
    sound.publish(audio_chunk(np.zeros(16000, np.float32), 16000, now - 1, 3, ''))
    ros.wait(lambda: heard)
    assert (heard[0].label, heard[0].evidence, heard[0].turn_id) == ('fear', 'wide eyes', 3)
    content = server.asked[0]['messages'][-1]['content']
    kinds = [part['type'] for part in content]
    assert kinds == ['image_url', 'input_audio', 'text'] and 'Is anybody there?' in content[-1]['text']
