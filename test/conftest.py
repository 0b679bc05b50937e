"""For every test: threads kept to one (libraries that each take all cores slow each other down), nothing on the network
but this host, and a ROS domain of its own for each test process."""

from __future__ import annotations

import os

for _variable in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ.setdefault(_variable, '1')
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'

import pytest  # noqa: E402


@pytest.fixture(scope='session')
def ros_domain():
    """A ROS_DOMAIN_ID that no other test process on this host holds."""
    import domain_coordinator

    with domain_coordinator.domain_id() as domain:
        os.environ['ROS_DOMAIN_ID'] = str(domain)
        yield domain


@pytest.fixture
def ros(ros_domain):
    """A ROS context of its own with a spinning executor; see `Ros`."""
    import threading

    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    context = rclpy.Context()
    rclpy.init(context=context, domain_id=ros_domain)
    executor = SingleThreadedExecutor(context=context)
    made: list = []
    changed = threading.Condition()

    class Ros:
        """add(node class, **options) starts a node; hear(type, topic, qos) gives the growing list of what arrives;
        wait(condition) until it holds."""

        def __init__(self) -> None:
            self.context = context
            self.probe = self.add(rclpy.node.Node, 'probe')

        def add(self, kind, *args, **options):
            node = kind(*args, context=context, **options)
            made.append(node)
            executor.add_node(node)
            return node

        def start(self, kind, **settings):
            """A node of ours with these settings, configured and active."""
            from rclpy.parameter import Parameter

            node = self.add(kind, parameter_overrides=[Parameter(key.replace('__', '.'), value=value)
                                                       for key, value in settings.items()])
            node.autostart()
            assert node.active, node.problem
            return node

        def hear(self, kind, topic, qos):
            got: list = []

            def arrive(message):
                with changed:
                    got.append(message)
                    changed.notify_all()

            self.probe.create_subscription(kind, topic, arrive, qos)
            return got

        def publisher(self, kind, topic, qos):
            """Waits until somebody listens: what is said before that is lost."""
            publisher = self.probe.create_publisher(kind, topic, qos)
            self.wait(lambda: publisher.get_subscription_count() > 0)
            return publisher

        def call(self, kind, name, request, times=4):
            """A service's answer. Asked again where none comes: a server that has not met the client's reader yet
            answers nobody, and no client can see that."""
            client = self.probe.create_client(kind, name)
            assert client.wait_for_service(30)
            for left in reversed(range(times)):
                asked = client.call_async(request)
                try:
                    self.wait(asked.done, 5.0)
                    return asked.result()
                except AssertionError:
                    if not left:
                        raise
            return None

        def wait(self, condition, timeout=20.0):
            with changed:
                end = threading.TIMEOUT_MAX if timeout is None else timeout
                waited = 0.0
                while not condition():
                    assert waited < end, f'not so after {end} s'
                    changed.wait(0.05)
                    waited += 0.05

    spinner = threading.Thread(target=executor.spin, daemon=True)
    ros = Ros()
    spinner.start()
    yield ros
    # The executor first: it would fail on a node that is taken away while it waits for it.
    executor.shutdown(timeout_sec=2.0)
    spinner.join(5.0)
    for node in made:
        getattr(node, 'close', node.destroy_node)()
    rclpy.shutdown(context=context)
    assert not spinner.is_alive()
