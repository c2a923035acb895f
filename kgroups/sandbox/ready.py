"""Wait until a sandbox's brokers serve groups, or one of them ends."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path
from typing import Final

from kgroups.errors import SandboxError

from .java import busy
from .probe import why_not_ready
from .process import state_of
from .programs import mark_of
from .state import State

START_SECONDS: Final = 300.0
"""On a busy machine; it takes 5 to 10 otherwise. Nobody waits so long for a server that has ended."""
TAIL_LINES: Final = 25
"""Lines of a log that an error shows."""


class ServerDied(SandboxError):
    """A server ended while starting; ``log`` is its log."""

    def __init__(self, text: str, log: str) -> None:
        super().__init__(text)
        self.log = log

    @property
    def port_was_taken(self) -> bool:
        return "Address already in use" in self.log

    @property
    def still_registered(self) -> bool:
        """Whether ZooKeeper still has the broker's previous session."""
        return "NodeExists" in self.log or "already registered" in self.log


def wait_ready(folder: Path, state: State, wanted: Collection[int] | None, *, timeout: float) -> None:
    """Return when these brokers (all, if ``None``) serve groups.

    :raises ServerDied: at once when one of their processes has ended.
    :raises SandboxError: after ``timeout`` seconds; the message contains what was still missing.
    """
    brokers = [broker for broker in state.brokers if wanted is None or broker.id in wanted]
    addresses = {broker.id: (broker.host, broker.port) for broker in brokers}
    servers = {f"broker-{broker.id}": broker.pid for broker in brokers}
    if state.zookeeper:
        servers["zookeeper"] = state.zookeeper_pid
    until = time.monotonic() + timeout
    while True:
        for server, pid in servers.items():
            _check_alive(folder, state, server, pid)
        missing = why_not_ready(addresses)
        if missing is None:
            return
        if time.monotonic() > until:
            late = f"Kafka {state.version} is not ready in {timeout:.0f} s{busy()}: {missing}"
            raise SandboxError(f"{late}; see {folder}/logs")
        time.sleep(0.05)


def log_tail(log: Path, lines: int = TAIL_LINES) -> str:
    """Return the end of a log, or an empty string if there is none."""
    try:
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""


def _check_alive(folder: Path, state: State, server: str, pid: int) -> None:
    if state_of(pid, mark_of(folder)) != "gone":
        return
    log = folder / "logs" / f"{server}.log"
    tail = log_tail(log) or "(nothing: these jars may lack a logging backend for slf4j)"
    raise ServerDied(
        f"{server} of Kafka {state.version} ended while starting; the end of {log}:\n{tail}", log_tail(log, 1000)
    )
