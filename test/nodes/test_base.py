"""What every node inherits: a fault ends loudly, slow steps starve nobody, the visitor is forgotten everywhere."""

from __future__ import annotations

import time
from dataclasses import dataclass

from std_msgs.msg import String

from emavatar_ros.nodes.base import RELIABLE, EmavatarNode
from emavatar_ros.settings import setting


@dataclass(frozen=True)
class Settings:
    gain: float = setting(1.0, 'gain', low=0.0, high=2.0)


class Plain(EmavatarNode):
    name = 'plain'
    Config = Settings
    forgotten = 0

    def forget(self) -> None:
        self.forgotten += 1


class Broken(Plain):
    def configure(self) -> None:
        raise ZeroDivisionError('nobody foresaw this')


class Slow(Plain):
    period = 0.005
    steps = 0
    done = 0

    def step(self) -> None:
        time.sleep(0.02)
        self.steps += 1

    def work(self) -> None:
        self.done += 1


def test_a_fault_nobody_foresaw_is_told_and_kept(ros):
    node = ros.add(Broken)
    node.autostart()
    assert not node.active and 'ZeroDivisionError' in node.problem
    assert isinstance(node.fault, ZeroDivisionError)


def test_a_step_slower_than_its_period_starves_nobody(ros):
    node = ros.start(Slow)
    for _ in range(5):
        node.do(node.work)
    ros.wait(lambda: node.done == 5)
    assert node.steps >= 4


def test_every_node_forgets_a_visitor_who_left(ros):
    node = ros.start(Plain)
    out = ros.publisher(String, 'visitor_reset', RELIABLE)
    out.publish(String(data=''))
    ros.wait(lambda: node.forgotten == 1)


def test_a_parameter_cannot_seem_to_be_changed(ros):
    from rclpy.parameter import Parameter

    node = ros.start(Plain)
    (result,) = node.set_parameters([Parameter('gain', value=2.0)])
    assert not result.successful and node.config.gain == 1.0


def test_a_full_queue_drops_the_oldest_and_counts(ros):
    node = ros.add(Plain)
    for _ in range(250):
        node.do(node.forget)
    assert node.counts['dropped'] == 50 and node.backlog == 200
