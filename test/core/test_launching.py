"""What is started: wrong choices are refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from emavatar_ros.errors import BadInput
from emavatar_ros.launching import Choices


@pytest.mark.parametrize('node', ['planner', 'speech', 'stage'])
def test_an_unknown_avatar_is_refused(node: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match='mira'):
        Choices(avatar='nobody').settings()
    file = tmp_path / 'mine.yaml'
    file.write_text(f'{node}: {{ros__parameters: {{avatar: nobody}}}}')
    with pytest.raises(BadInput, match='mira'):
        Choices(str(file)).settings()


def test_the_avatar_chosen_wins_over_the_profile(tmp_path: Path) -> None:
    file = tmp_path / 'mine.yaml'
    file.write_text('planner: {ros__parameters: {avatar: tomas}}')
    assert Choices(str(file)).settings()['planner']['avatar'] == 'tomas'
    assert Choices(str(file), 'mira').settings()['planner']['avatar'] == 'mira'
