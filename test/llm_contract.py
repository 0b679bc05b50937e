"""What every language model must do; a backend's test derives from `Contract` and has a fixture `model`."""

from __future__ import annotations

import threading

import pytest

from emavatar_ros.errors import Unavailable
from emavatar_ros.models.llm import Limits, Llm, Message, Request

ASK = Request((Message('system', 'You answer shortly.'), Message('user', 'Tell me a long story about a fox.')), 24)
LONG = Limits(240, 240, 480)


class Contract:
    def test_text_comes_in_pieces_that_are_never_empty(self, model: Llm) -> None:
        model.warm_up([])
        pieces = list(model.stream(ASK, LONG))
        assert len(pieces) >= 2 and all(pieces) and model.name
        assert '�' not in ''.join(pieces)

    def test_closing_stops_and_another_request_is_served(self, model: Llm) -> None:
        stream = model.stream(ASK, LONG)
        assert next(stream)
        stream.close()
        assert list(stream) == []
        assert list(model.stream(ASK, LONG))

    def test_a_stream_that_was_never_read_costs_nothing(self, model: Llm) -> None:
        before = threading.active_count()
        model.stream(ASK, LONG).close()
        assert threading.active_count() == before

    def test_reading_ahead_changes_no_answer_and_ends_when_it_is_no_longer_wanted(self, model: Llm) -> None:
        answer = list(model.stream(ASK, LONG))
        told = (*ASK.messages, Message('assistant', ''.join(answer)), Message('user', 'a word ' * 60))
        looks = iter([False, False])
        model.read(told, lambda: next(looks, True))
        model.read(ASK.messages, lambda: False)
        assert ''.join(model.stream(ASK, LONG)) == ''.join(answer)

    def test_past_the_limit_it_is_unavailable(self, model: Llm) -> None:
        with pytest.raises(Unavailable):
            list(model.stream(ASK, Limits(1e-6, 1e-6, 1e-6)))
