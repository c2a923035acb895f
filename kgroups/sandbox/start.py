"""Start a sandbox: from an empty folder to brokers that serve groups."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from .ports import HOST, ReservedPorts
from .prerequisites import Extras, Prepare, Site, nothing
from .process import spawn, stop_all
from .programs import Programs, mark_of, new_id
from .ready import START_SECONDS, ServerDied, wait_ready
from .settings import controllers, server_properties, write_properties, zookeeper_properties
from .state import Broker, Helper, State, read_state, write_state
from .versions import KafkaVersion

_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """The requested cluster."""

    name: str
    version: KafkaVersion
    brokers: int
    properties: Mapping[str, str] = field(default_factory=dict)
    listeners: Mapping[str, str] = field(default_factory=dict)
    """Client listeners in addition to PLAINTEXT, as name -> security protocol."""
    advertised: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """Listener -> broker -> the port that it advertises, if it is not the port that it listens on."""
    prepare: Prepare = nothing

    @property
    def protocols(self) -> Mapping[str, str]:
        return {"PLAINTEXT": "PLAINTEXT", **self.listeners}


def start(plan: Plan, programs: Programs) -> State:
    """Start a cluster in ``programs.folder``, whose content is deleted.

    :raises SandboxError: when it does not start. No process is left then, but the logs are kept.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return _start_once(plan, programs)
        except ServerDied as died:
            # Another process may have taken a port between its release and the start of its server.
            if not died.port_was_taken:
                raise
    return _start_once(plan, programs)


def _start_once(plan: Plan, programs: Programs) -> State:
    folder = programs.folder
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "logs").mkdir(parents=True)
    folder.chmod(0o700)  # settings can contain passwords
    ports = ReservedPorts(plan.brokers * (len(plan.protocols) + 1) + 1)
    try:
        try:
            state = _lay_out(plan, programs, ports.numbers)
            state, extras = _prepare(plan, programs, state)
            _write_settings(plan, programs, state, extras)
            if state.cluster_id:
                programs.format(state.brokers, state.cluster_id)
        finally:
            ports.release()
        state = _spawn(Programs.of(folder, state), state)
        wait_ready(folder, state, None, timeout=START_SECONDS)
        programs.archive_classes()
    except BaseException:  # after Ctrl-C too, no broker must be left
        left = read_state(folder)
        stop_all(left.pids if left else (), mark_of(folder), grace=0)
        raise
    return state


def _prepare(plan: Plan, programs: Programs, state: State) -> tuple[State, Extras]:
    """Create what the brokers need; save each process as it starts."""
    folder = programs.folder

    def spawn_helper(role: str, command: Sequence[str]) -> int:
        nonlocal state
        pid = spawn(command, programs.log(role))
        state = replace(state, helpers=(*state.helpers, Helper(role, pid)))
        write_state(folder, state)
        return pid

    extras = plan.prepare(Site(folder, programs.java, spawn_helper))
    return replace(state, options=extras.options), extras


def _lay_out(plan: Plan, programs: Programs, ports: Sequence[int]) -> State:
    free = iter(ports)
    zookeeper = next(free) if plan.version.zookeeper else None
    voters = () if zookeeper else controllers(plan.brokers)
    brokers = tuple(
        Broker(
            number,
            {listener: next(free) for listener in plan.protocols},
            controller=next(free) if number in voters else None,
        )
        for number in range(1, plan.brokers + 1)
    )
    return State(
        name=plan.name,
        version=plan.version.name,
        java=programs.java,
        jars=str(programs.jars),
        tools=str(programs.tools) if programs.tools != programs.jars else "",
        cluster_id=None if zookeeper else new_id(),
        bootstrap=bootstrap_address(brokers, "PLAINTEXT"),
        brokers=brokers,
        zookeeper=zookeeper,
    )


def _write_settings(plan: Plan, programs: Programs, state: State, extras: Extras) -> None:
    if state.zookeeper:
        properties = zookeeper_properties(state.zookeeper, programs.data("zookeeper"))
        write_properties(programs.settings("zookeeper"), properties)
    for broker in state.brokers:
        server = f"broker-{broker.id}"
        properties = server_properties(
            plan.version,
            broker,
            state.brokers,
            protocols=plan.protocols,
            zookeeper=state.zookeeper,
            data=programs.data(server),
            advertised={name: ports[broker.id] for name, ports in plan.advertised.items()},
            extra={**extras.properties, **plan.properties},
        )
        write_properties(programs.settings(server), properties)


def _spawn(programs: Programs, state: State) -> State:
    """Start all servers at once: brokers retry until ZooKeeper, or the controllers, respond.

    Save the state after each, so that the brokers can be stopped even if this command is killed.
    """
    if state.zookeeper:
        state = replace(state, zookeeper_pid=programs.spawn_zookeeper())
        write_state(programs.folder, state)
    for broker in state.brokers:
        state = state.with_pid(broker.id, programs.spawn_broker(broker.id))
        write_state(programs.folder, state)
    return state


def bootstrap_address(brokers: Sequence[Broker], listener: str) -> str:
    return ",".join(f"{HOST}:{broker.listeners[listener]}" for broker in brokers)
