"""What every node here has: settings as parameters, a lifecycle, one worker, traces and diagnostics.

A node is wiring. Its subscriptions only put work on a bounded queue; one thread takes it off and calls into a room,
so that a slow model never holds up ROS, and a node needs no locks of its own. `configure` loads models (slow, may
fail: the node says why and stays unconfigured), `activate` opens devices. Callbacks that must act at once (stop the
sound) ask for `at_once=True` and then run on the executor's thread.
"""

from __future__ import annotations

import queue
import statistics
import threading
import time
import traceback
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.action import ActionClient, ActionServer
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.lifecycle.node import LifecycleState
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from emavatar_ros.errors import BadInput, EmavatarError
from emavatar_ros.msg import TurnTrace
from emavatar_ros.nodes.convert import stamp
from emavatar_ros.settings import Spec, build, resolve, specs

RELIABLE = QoSProfile(depth=20, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SOUND = QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE)
PICTURE = QoSProfile(depth=2, reliability=ReliabilityPolicy.RELIABLE)
PICTURE_IN = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)

ANYBODY = 'anonymous_speaker'
"""REP-155's person id for a voice or a face that isn't known to be anybody's."""
QUEUE = 200
"""Most pieces of work a node holds; past it the oldest is dropped, counted and reported."""


def descriptor(spec: Spec) -> ParameterDescriptor:
    """A setting as ROS describes parameters: help with unit and choices, and its range."""
    unit = f' [{spec.unit}]' if spec.unit else ''
    described = ParameterDescriptor(description=spec.help + unit, read_only=True,
                                    additional_constraints=', '.join(spec.choices))
    if spec.kind is float and (spec.low is not None or spec.high is not None):
        described.floating_point_range = [FloatingPointRange(
            from_value=float('-inf') if spec.low is None else float(spec.low),
            to_value=float('inf') if spec.high is None else float(spec.high))]
    if spec.kind is int and spec.low is not None and spec.high is not None:
        described.integer_range = [IntegerRange(from_value=int(spec.low), to_value=int(spec.high))]
    return described


class EmavatarNode(LifecycleNode):
    """Base of every node; subclasses give `name`, `Config` and the hooks they need."""

    name: str
    Config: type
    period: float | None = None
    """Seconds between two calls of `step` on the worker's thread; None for none. It costs less than a ROS timer: rclpy
    looks at every entity of every node of the process each time one of them is due (2 ms on a small computer)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(self.name, **options)
        self._specs: list[Spec] = []
        self._refused: list[str] = []
        self._declare(self.Config)
        self.config: Any = None
        self.counts: Counter[str] = Counter()
        self.facts: dict[str, str] = {}
        self.problem = ''
        self.fault: Exception | None = None
        self._seconds: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=50))
        self._work: queue.Queue[tuple[Callable[..., None], tuple[Any, ...]] | None] = queue.Queue(QUEUE)
        self._worker: threading.Thread | None = None
        self._active = False
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', RELIABLE)
        self._traces = self.create_publisher(TurnTrace, 'turn_trace', RELIABLE)
        self._diagnosing = self.create_timer(1.0, self._diagnose)
        self._lasting = {entity for entity, _ in self._entities()}

    def _declare(self, settings: type) -> None:
        known = {spec.name for spec in self._specs}
        for spec in specs(settings):
            if spec.name not in known:
                self._accept(spec)
                self.declare_parameter(spec.name, spec.default, descriptor(spec))
                self._specs.append(spec)

    def _accept(self, spec: Spec) -> None:
        """Check what was given for a setting: rclpy would end the process on a bad value, and refuse 1 for 1.0."""
        if (given := self._parameter_overrides.get(spec.name)) is not None:
            try:
                self._parameter_overrides[spec.name] = Parameter(spec.name, value=spec.check(given.value))
            except BadInput as error:
                self._refused.append(str(error))
                del self._parameter_overrides[spec.name]

    # Hooks: what a node overrides.
    def configure(self) -> None:
        """Load models, create publishers and subscriptions. Raise an EmavatarError to stay unconfigured."""

    def activate(self) -> None:
        """Open devices, start what runs by itself."""

    def deactivate(self) -> None:
        """Stop what `activate` started; must return within two seconds."""

    def cleanup(self) -> None:
        """Let go of what `configure` made."""

    def step(self) -> None:
        """What is done every `period` while active. Called on the worker's thread."""

    def forget(self) -> None:
        """The visitor has left: drop what is known of them. Called on the worker's thread."""

    # What a node uses.
    def now(self) -> float:
        """Seconds on this node's clock (simulated when use_sim_time)."""
        return self.get_clock().now().nanoseconds * 1e-9

    @property
    def active(self) -> bool:
        """True between activate and deactivate."""
        return self._active

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        """Put work on the worker's queue; when it is full the oldest piece is dropped and counted."""
        while True:
            try:
                self._work.put_nowait((work, arguments))
                return
            except queue.Full:
                try:
                    self._work.get_nowait()
                    self.counts['dropped'] += 1
                except queue.Empty:
                    pass

    @property
    def backlog(self) -> int:
        """Pieces of work waiting."""
        return self._work.qsize()

    def subscribe(self, kind: type, topic: str, callback: Callable[[Any], None], qos: QoSProfile,
                  at_once: bool = False) -> None:
        """Hand every message to `callback` on the worker's thread, or at once on the executor's; only while active."""
        def arrive(message: Any) -> None:
            if self._active:
                if at_once:
                    callback(message)
                else:
                    self.do(callback, message)

        def incompatible(event: Any) -> None:
            self.problem = f'a publisher of {topic} offers an incompatible quality of service'
            self.get_logger().warning(self.problem)

        self.create_subscription(kind, topic, arrive, qos,
                                 event_callbacks=SubscriptionEventCallbacks(incompatible_qos=incompatible))

    def publisher(self, kind: type, topic: str, qos: QoSProfile) -> Any:
        """A publisher that is silent while the node is inactive."""
        publisher = self.create_publisher(kind, topic, qos)

        def publish(message: Any) -> None:
            if self._active:
                publisher.publish(message)

        publish.count = publisher.get_subscription_count  # type: ignore[attr-defined]
        return publish

    def trace(self, turn_id: int, stage: str, event: str, start: float, model: str = '') -> None:
        """Tell those who measure that a step of a turn ended now, having begun at `start` (s on this clock)."""
        end = self.now()
        self._seconds[f'{stage}.{event}'].append(end - start)
        message = TurnTrace(turn_id=turn_id, stage=stage, event=event, start=stamp(start), seconds=end - start,
                            model=model)
        message.header.stamp = stamp(end)
        self._traces.publish(message)

    # The lifecycle.
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            # A backend's own settings exist once it is chosen.
            self._declare(resolve(self.Config, self._checked()))
            if self._refused:
                raise BadInput(f'{self.get_name()}: {"; ".join(self._refused)}')
            self.config = build(self.Config, self._checked(), self.get_name())
            self.configure()
            self.subscribe(String, 'visitor_reset', lambda message: self.forget(), RELIABLE)
        except EmavatarError as error:
            self._let_go()
            return self._refuse(error)
        except Exception as error:
            self._let_go()
            return self._break(error)
        self.problem = ''
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._work = queue.Queue(QUEUE)
        self._active = True
        try:
            self.activate()
        except EmavatarError as error:
            self._active = False
            return self._refuse(error)
        except Exception as error:
            self._active = False
            return self._break(error)
        self._worker = threading.Thread(target=self._run, args=(self._work,), name=self.name, daemon=True)
        self._worker.start()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._stop()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.cleanup()
        self._let_go()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._stop()
        return TransitionCallbackReturn.SUCCESS

    def autostart(self) -> None:
        """Configure and activate, as a launch file without a lifecycle manager wants it."""
        if self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    def close(self) -> None:
        """Stop, let go and disappear; safe in any state."""
        self._stop()
        for entity, destroy in self._entities():
            if isinstance(entity, (ActionServer, ActionClient)):  # destroy_node would leave them on the wire
                destroy()
        self.destroy_node()

    def _stop(self) -> None:
        if not self._active:
            return
        self._active = False
        self.deactivate()
        with suppress(queue.Full):
            self._work.put_nowait(None)
        if self._worker is not None and self._worker is not threading.current_thread():
            self._worker.join(2.0)

    def _entities(self) -> list[tuple[Any, Callable[[], object]]]:
        """What this node has on the wire and its timers, each with what destroys it."""
        kinds = ((self.publishers, self.destroy_publisher), (self.subscriptions, self.destroy_subscription),
                 (self.services, self.destroy_service), (self.clients, self.destroy_client),
                 (self.timers, self.destroy_timer), (self.guards, self.destroy_guard_condition))
        made = [(entity, partial(destroy, entity)) for entities, destroy in kinds for entity in entities]
        return made + [(action, action.destroy) for action in self.waitables
                       if isinstance(action, (ActionServer, ActionClient))]

    def _let_go(self) -> None:
        """Destroy what `configure` made; what a node has from its beginning to its end stays. It is the executor's
        thread that does so: any other would take something away that the executor is waiting for."""
        gone = {entity for entity, _ in self._entities()} - self._lasting

        def destroy_them() -> None:
            for entity, destroy in self._entities():
                if entity in gone:
                    destroy()

        if self.executor is None:
            destroy_them()
        else:
            self.executor.create_task(destroy_them)

    def _given(self) -> dict[str, object]:
        """The declared parameters' values by name."""
        return {spec.name: self.get_parameter(spec.name).value for spec in self._specs}

    def _checked(self) -> dict[str, object]:
        """The same, with those that were set but that no setting knows: `build` refuses them, ROS would ignore them."""
        unknown = {name: value.value for name, value in self._parameter_overrides.items()
                   if not self.has_parameter(name) and not name.startswith('qos_overrides.')}
        return {**unknown, **self._given()}

    def _refuse(self, error: EmavatarError) -> TransitionCallbackReturn:
        self.problem = str(error)
        self.get_logger().error(self.problem)
        return TransitionCallbackReturn.FAILURE

    def _break(self, error: Exception) -> TransitionCallbackReturn:
        """A fault that nobody foresaw. rclpy would swallow it: here it is told, and `fault` ends the process."""
        self.fault = error
        self.problem = f'{type(error).__name__}: {error}'
        self.get_logger().fatal(traceback.format_exc())
        return TransitionCallbackReturn.FAILURE

    def _run(self, work: queue.Queue[tuple[Callable[..., None], tuple[Any, ...]] | None]) -> None:
        due = time.monotonic()
        stepped = False
        while self._active:
            now = time.monotonic()
            # A step that takes longer than its period must not keep what waits from its turn.
            if self.period is not None and now >= due and not (stepped and self.backlog):
                # Late steps are left out, not made up for.
                due = max(due + self.period, now)
                task, arguments = self.step, ()
                stepped = True
            else:
                stepped = False
                try:
                    item = work.get(timeout=0.5 if self.period is None else max(0.0, due - now))
                except queue.Empty:
                    continue
                if item is None:
                    return
                task, arguments = item
            try:
                task(*arguments)
            except BadInput as error:
                # What came in can't be used; the next may be fine.
                self.counts['refused'] += 1
                self.problem = str(error)
                self.get_logger().warning(self.problem, throttle_duration_sec=5.0)
            except EmavatarError as error:
                self.counts['failed'] += 1
                self.problem = str(error)
                self.get_logger().error(self.problem, throttle_duration_sec=5.0)

    def _diagnose(self) -> None:
        status = DiagnosticStatus(name=self.get_fully_qualified_name(), hardware_id=self.facts.get('device', ''))
        status.level = DiagnosticStatus.OK
        status.message = 'active' if self._active else 'inactive'
        if self.problem:
            status.level = DiagnosticStatus.WARN if self._active else DiagnosticStatus.ERROR
            status.message = self.problem
        facts = dict(self.facts, lifecycle='active' if self._active else 'inactive', queue=str(self.backlog))
        facts.update({name: str(value) for name, value in dict(self.counts).items()})
        facts.update({f'{name} [s, median]': f'{statistics.median(values):.3f}'
                      for name, values in list(self._seconds.items()) if values})
        status.values = [KeyValue(key=key, value=value) for key, value in sorted(facts.items())]
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)
