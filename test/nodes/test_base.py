"""What every node inherits: a fault ends loudly, slow steps starve nobody, the visitor is forgotten everywhere."""

from __future__ import annotations

import time
from dataclasses import dataclass

from rclpy.action import ActionServer
from std_msgs.msg import String

from emavatar_ros.action import Say
from emavatar_ros.errors import Missing
from emavatar_ros.nodes.base import RELIABLE, EmavatarNode
from emavatar_ros.settings import setting
from emavatar_ros.srv import ResetVisitor


@dataclass(frozen=True)
class Settings:
    gain: float = setting(1.0, 'gain', low=0.0, high=2.0)


class Plain(EmavatarNode):
    name = 'plain'
    Config = Settings
    forgotten = 0

    def forget(self) -> None:
        self.forgotten += 1


class Complete(Plain):
    """Has one of everything a node can have."""

    fails = False
    ticks = 0

    def configure(self) -> None:
        self.create_service(ResetVisitor, 'reset', self.answer)
        self.create_client(ResetVisitor, 'elsewhere')
        self.create_timer(0.02, self.tick)
        self.publisher(String, 'out', RELIABLE)
        self.subscribe(String, 'in', print, RELIABLE)
        ActionServer(self, Say, 'say', print)
        if self.fails:
            raise Missing('no model')

    def answer(self, request, response):
        response.success = True
        return response

    def tick(self) -> None:
        self.ticks += 1


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


def test_what_configure_made_is_there_once_however_often_it_is_called(ros):
    node = ros.add(Complete)
    lasting = len(node._entities())
    node.autostart()
    assert node.active, node.problem
    complete = len(node._entities())
    assert complete == lasting + 7  # its own six and what every node subscribes to
    node.trigger_deactivate()
    node.trigger_cleanup()
    ros.wait(lambda: len(node._entities()) == lasting)
    ticks = node.ticks
    node.autostart()
    assert node.active and len(node._entities()) == complete
    assert ros.call(ResetVisitor, 'reset', ResetVisitor.Request()).success
    ros.wait(lambda: node.ticks > ticks)


def test_a_configure_that_fails_leaves_nothing_behind(ros):
    node = ros.add(Complete)
    lasting = len(node._entities())
    node.fails = True
    node.autostart()
    assert node.problem == 'no model'
    ros.wait(lambda: len(node._entities()) == lasting)
