"""A Kafka cluster of real brokers on loopback ports: start, load, disturb, and stop it."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import Final

from kgroups.errors import SandboxError, UsageError

from .folders import locked, state_root
from .jars import ensure_jars, ensure_tools_jars
from .java import find_java, run
from .prerequisites import Prepare, nothing
from .process import ProcessState, kill_now, send_signal, spawn, state_of, stop_all
from .programs import Programs, mark_of
from .ready import START_SECONDS, TAIL_LINES, ServerDied, log_tail, wait_ready
from .start import Plan, bootstrap_address, start
from .state import Broker, Helper, State, read_state, write_state
from .versions import DEFAULT_VERSION, KafkaVersion, kafka_version

MAX_BROKERS: Final = 3
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Status:
    """The saved state of a sandbox, and the current states of its processes."""

    state: State
    brokers: dict[int, ProcessState]
    """By broker ID."""
    zookeeper: ProcessState | None
    helpers: dict[int, ProcessState]
    """By PID; :attr:`State.helpers` has their roles."""

    @property
    def running(self) -> bool:
        """Whether any process is left to stop."""
        everything = [*self.brokers.values(), *self.helpers.values(), self.zookeeper or "gone"]
        return any(state != "gone" for state in everything)


class Sandbox:
    """A cluster, by its name. The object holds no resources, the folder does; leaving the context stops it."""

    def __init__(self, folder: Path, state: State) -> None:
        self._folder = folder
        self._state = state

    # Start, load, and stop.

    @classmethod
    def up(
        cls,
        version: str = DEFAULT_VERSION,
        brokers: int = 1,
        *,
        name: str = "default",
        properties: Mapping[str, str] | None = None,
        listeners: Mapping[str, str] | None = None,
        advertised: Mapping[str, Mapping[int, int]] | None = None,
        prepare: Prepare = nothing,
        progress: Callable[[str], None] = lambda line: None,
    ) -> Sandbox:
        """Start a cluster and return when it serves groups.

        :param properties: server settings that override the sandbox's own, for every broker.
        :param listeners: more listeners for clients, as name -> security protocol; each broker gets a port for each.
        :param advertised: listener -> broker -> the port to advertise instead of its own, such as a proxy's.
        :param prepare: creates what the brokers need, before they start.
        :raises UsageError: when the name, the version, or the number of brokers is not allowed.
        :raises SandboxError: when one of that name is running, the jars or Java are not available, or a server does not
            start (the message contains the end of its log, and the folder is kept).
        """
        kafka = kafka_version(version)
        if not 1 <= brokers <= MAX_BROKERS:
            raise UsageError(f"a sandbox has 1 to {MAX_BROKERS} brokers, not {brokers}")
        folder = _folder(name)
        java = find_java()
        with _locked(name):
            _refuse_running(folder)
            jars, tools = ensure_jars(kafka, progress), ensure_tools_jars(kafka, progress)
            programs = Programs(folder, java, jars, tools=tools)
            progress(f"starting Kafka {version} with {brokers} broker{'s'[: brokers - 1]}")
            plan = Plan(name, kafka, brokers, properties or {}, listeners or {}, advertised or {}, prepare)
            return cls(folder, start(plan, programs))

    @classmethod
    def load(cls, name: str = "default") -> Sandbox:
        """Load the sandbox of that name, which was started earlier, possibly by another process.

        :raises UsageError: when there is none.
        """
        state = read_state(_folder(name))
        if state is None:
            others = f"running: {', '.join(cls.names())}" if cls.names() else "none is running"
            start = "kgroups sandbox up" if name == "default" else f"kgroups sandbox up --name {name}"
            raise UsageError(f"there is no sandbox named {name}; {others}", hint=f"start it with: {start}")
        return cls(_folder(name), state)

    @staticmethod
    def names() -> list[str]:
        """Return the sorted names of all sandboxes that were not stopped with :meth:`down`."""
        return sorted(found.parent.name for found in state_root().glob("*/state.json"))

    def down(self, *, grace: float = 2.0) -> None:
        """Stop its processes and delete its data; do nothing if there is no such sandbox.

        :raises SandboxError: when a process cannot be stopped, or another command is changing the sandbox.
        """
        with _locked(self.name):
            state = read_state(self._folder)
            if state is None:
                _lock_file(self.name).unlink()
                return
            brokers_and_helpers = [pid for pid in state.pids if pid != state.zookeeper_pid]
            stop_all(brokers_and_helpers, self._mark, grace=grace)
            # Last: a broker without its ZooKeeper waits for it before it ends.
            stop_all([state.zookeeper_pid], self._mark, grace=grace)
            shutil.rmtree(self._folder)
            _lock_file(self.name).unlink()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    # Inspect.

    @property
    def name(self) -> str:
        return self._state.name

    @property
    def version(self) -> KafkaVersion:
        return kafka_version(self._state.version)

    @property
    def folder(self) -> Path:
        """Logs are in ``logs/``, settings and data in ``broker-<id>/``."""
        return self._folder

    @property
    def bootstrap(self) -> str:
        return self._state.bootstrap

    def bootstrap_of(self, listener: str) -> str:
        """Return the bootstrap servers of one of the ``listeners`` that were passed to :meth:`up`."""
        return bootstrap_address(self._state.brokers, listener)

    @property
    def brokers(self) -> tuple[Broker, ...]:
        return self._state.brokers

    @property
    def jvm_options(self) -> tuple[str, ...]:
        """The JVM options that clients of every listener need."""
        return self._state.options

    def status(self) -> Status:
        state = self._reload()
        return Status(
            state,
            {broker.id: state_of(broker.pid, self._mark) for broker in state.brokers},
            state_of(state.zookeeper_pid, self._mark) if state.zookeeper else None,
            {helper.pid: state_of(helper.pid, self._mark) for helper in state.helpers},
        )

    def check_helpers(self) -> None:
        """Check that all helpers are running.

        :raises SandboxError: when one has ended.
        """
        status = self.status()
        for helper in status.state.helpers:
            if status.helpers[helper.pid] == "gone":
                raise SandboxError(f"helper {helper.role} ended; the end of its log:\n{self.log_tail(helper.role)}")

    def log_tail(self, program: str, lines: int = TAIL_LINES) -> str:
        """Return the end of the log of ``broker-1``, ``zookeeper``, or a helper's role."""
        return log_tail(self._programs.log(program), lines)

    # Disturb.

    def kill(self, broker: int) -> None:
        """Send SIGKILL, and return when the process has ended and freed its port; clients are not notified."""
        kill_now(self._pid_of(broker), self._mark)

    def terminate(self, broker: int, *, grace: float = 30.0) -> None:
        """Send SIGTERM, and return when the process has ended.

        With ``controlled.shutdown.enable``, the broker first transfers its partition leadership.

        :param grace: seconds after which it is killed.
        """
        stop_all([self._pid_of(broker)], self._mark, grace=grace)

    def pause(self, broker: int) -> None:
        """Send SIGSTOP, and return when it is stopped: its port accepts connections, on which nothing responds."""
        pid = self._pid_of(broker)
        send_signal(pid, self._mark, SIGSTOP)
        while state_of(pid, self._mark) == "running":  # it stops thread by thread
            time.sleep(0.01)

    def resume(self, broker: int) -> None:
        send_signal(self._pid_of(broker), self._mark, SIGCONT)

    def restart(self, broker: int, *, timeout: float = START_SECONDS) -> None:
        """Start a broker again with its port and data; kill it first if it is running.

        Return when it serves groups again, together with the other running brokers.

        :raises SandboxError: when it does not in ``timeout`` seconds.
        """
        self.kill(broker)
        until = time.monotonic() + timeout
        while True:
            with self._changing() as state:
                self._save(state.with_pid(broker, self._programs.spawn_broker(broker)))
            try:
                return self.wait_ready(self._running_brokers(broker), timeout=until - time.monotonic())
            except ServerDied as died:
                if not (died.port_was_taken or died.still_registered) or time.monotonic() > until:
                    raise
            time.sleep(0.5)

    def wait_ready(self, brokers: Collection[int] | None = None, *, timeout: float = START_SECONDS) -> None:
        """Return when these brokers (default: all) serve groups.

        :raises SandboxError: at once when one of their processes ends, else when ``timeout`` seconds are over.
        """
        wait_ready(self._folder, self._reload(), brokers, timeout=timeout)

    # Run Java programs.

    def java_tool(self, *args: str, timeout: float = 120.0) -> subprocess.CompletedProcess[str]:
        """Run this version's ``kafka-consumer-groups.sh`` against this cluster, unless ``args`` name another.

        Its request timeout is the given one: the default of 5 s starts before the tool has loaded its classes, which
        takes longer on a busy machine.

        :raises SandboxError: when it takes longer than ``timeout`` seconds.
        """
        patience = () if "--timeout" in args else ("--timeout", str(int(timeout * 1000)))
        return run(self.java_tool_command(*args, *patience), timeout=timeout)

    def java_tool_command(self, *args: str, as_shipped: bool = False) -> list[str]:
        """Return the command of :meth:`java_tool`.

        :param as_shipped: use the JVM options of Kafka's shell scripts, for measurements; otherwise options for short
            runs.
        """
        where = () if "--bootstrap-server" in args else ("--bootstrap-server", self.bootstrap)
        return self._programs.tool(self.version.group_command, [*where, *args], as_shipped=as_shipped)

    def java(
        self, class_name: str, *args: str, stdin: str = "", timeout: float = 120.0
    ) -> subprocess.CompletedProcess[str]:
        """Run a class of this version's jars, and return when it has ended.

        :raises SandboxError: when it takes longer than ``timeout`` seconds.
        """
        return run(self._programs.tool(class_name, args), stdin=stdin, timeout=timeout)

    def java_command(self, class_name: str, *args: str, heap: str = "256m", as_shipped: bool = False) -> list[str]:
        """Return the command of :meth:`java`; ``as_shipped`` is as for :meth:`java_tool_command`."""
        return self._programs.tool(class_name, args, heap=heap, as_shipped=as_shipped)

    def start_java(
        self, role: str, program: str | Path, *args: str, more_jars: Sequence[Path] = (), tools: Path | None = None
    ) -> int:
        """Start a class of this version's jars, or a source file, with :meth:`start_helper`.

        :param more_jars: folders with further jars.
        :param tools: the jars of another version, instead of this one's.
        """
        return self.start_helper(role, self._programs.tool(program, args, more_jars=more_jars, tools=tools))

    def start_helper(self, role: str, command: Sequence[str]) -> int:
        """Start a process that is stopped with the sandbox; its output is in ``logs/<role>.log``.

        Its command line must contain ``<folder>/``, which identifies it later.

        :returns: its PID.
        :raises SandboxError: when the command line does not, or cannot be executed.
        """
        if not any(self._mark in word for word in command):
            raise SandboxError(f"the command of helper {role} does not contain {self._mark}")
        with self._changing() as state:
            pid = spawn(command, self._programs.log(role))
            self._save(replace(state, helpers=(*state.helpers, Helper(role, pid))))
        return pid

    def stop_helper(self, pid: int, *, grace: float = 5.0) -> None:
        """Stop a process of :meth:`start_helper` with SIGTERM, then SIGKILL."""
        stop_all([pid], self._mark, grace=grace)
        with self._changing() as state:
            self._save(replace(state, helpers=tuple(helper for helper in state.helpers if helper.pid != pid)))

    # Internal.

    @property
    def _mark(self) -> str:
        return mark_of(self._folder)

    @property
    def _programs(self) -> Programs:
        return Programs.of(self._folder, self._state)

    def _reload(self) -> State:
        state = read_state(self._folder)
        if state is None:
            raise SandboxError(f"the sandbox named {self.name} was stopped")
        self._state = state
        return state

    @contextmanager
    def _changing(self) -> Iterator[State]:
        """Lock the saved state, and yield it."""
        with _locked(self.name, wait=True):
            yield self._reload()

    def _save(self, state: State) -> None:
        write_state(self._folder, state)
        self._state = state

    def _pid_of(self, number: int) -> int:
        for broker in self._reload().brokers:
            if broker.id == number:
                return broker.pid
        raise SandboxError(f"the sandbox named {self.name} has no broker {number}")

    def _running_brokers(self, also: int) -> list[int]:
        running = {broker.id for broker in self._state.brokers if state_of(broker.pid, self._mark) == "running"}
        return sorted(running | {also})


def _folder(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid sandbox name: use letters, digits, dots, dashes, and underscores")
    return state_root() / name


def _locked(name: str, *, wait: bool = False) -> AbstractContextManager[None]:
    busy = f"another command is starting or stopping the sandbox named {name}; retry when it is done"
    return locked(_lock_file(name), busy=None if wait else busy)


def _lock_file(name: str) -> Path:
    # Not in the folder, which is deleted and created again while the lock is held.
    return state_root() / f".{name}.lock"


def _refuse_running(folder: Path) -> None:
    state = read_state(folder)
    if state and any(state_of(pid, mark_of(folder)) != "gone" for pid in state.pids):
        raise SandboxError(
            f"a sandbox named {state.name} is already running, Kafka {state.version} at {state.bootstrap}; "
            f"stop it (kgroups sandbox down --name {state.name}) or choose another name",
            hint=f'to use it: eval "$(kgroups sandbox env --name {state.name})"',
        )
