"""The text emotion node with a backend that itself chooses a backend: settings two levels down reach it."""

from __future__ import annotations

import json

from chat_server import Server, say
from rclpy.parameter import Parameter

from emavatar_ros.msg import EmotionCandidate, Transcript
from emavatar_ros.nodes.base import RELIABLE
from emavatar_ros.nodes.text_emotion_node import TextEmotionNode


def test_a_language_model_behind_a_server_reads_what_is_said(ros):
    server = Server()
    server.script = say(json.dumps({'shares': {'sad': 0.9, 'neutral': 0.1}, 'evidence': 'a loss is told'}))
    try:
        node = ros.start(TextEmotionNode, backend='llm', llm__timeout=10.0, llm__openai__url=server.url,
                         llm__openai__model='fox')
        heard = ros.hear(EmotionCandidate, 'candidates', RELIABLE)
        said = ros.publisher(Transcript, 'transcript', RELIABLE)
        ros.wait(lambda: node.count_subscribers('candidates') > 0)
        for text in ('Hello.', 'My dog died.'):
            count = len(heard)
            said.publish(Transcript(turn_id=count + 1, text=text, language='en', final=True))
            ros.wait(lambda count=count: len(heard) > count)
        assert [(one.view, one.label, one.model) for one in heard] == [('words', 'sad', 'fox')] * 2
        asked = json.loads(server.asked[-1]['messages'][1]['content'])
        assert asked == {'before': [{'visitor': 'Hello.'}], 'visitor_now': 'My dog died.'}
    finally:
        server.close()


def test_a_setting_of_another_backend_is_refused(ros):
    node = ros.add(TextEmotionNode, parameter_overrides=[
        Parameter('backend', value='llm'), Parameter('llm.backend', value='openai'),
        Parameter('llm.llama_cpp.threads', value=2)])
    node.autostart()
    assert not node.active and 'llama_cpp' in node.problem
