"""The saved state of a sandbox, with which later commands find its processes: ``state.json`` in its folder."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from kgroups.errors import SandboxError

from .ports import HOST

_FILE = "state.json"


@dataclass(frozen=True, slots=True)
class Broker:
    id: int
    listeners: dict[str, int]
    """Port of each client listener, always including ``PLAINTEXT``."""
    controller: int | None = None
    """Port of its controller, if it is one."""
    pid: int = 0

    @property
    def host(self) -> str:
        return HOST

    @property
    def port(self) -> int:
        return self.listeners["PLAINTEXT"]


@dataclass(frozen=True, slots=True)
class Helper:
    """Another process of the sandbox, which is stopped with it."""

    role: str
    pid: int


@dataclass(frozen=True, slots=True)
class State:
    name: str
    version: str
    java: str
    jars: str
    cluster_id: str | None
    bootstrap: str
    brokers: tuple[Broker, ...]
    zookeeper: int | None = None
    """The port of ZooKeeper."""
    zookeeper_pid: int = 0
    helpers: tuple[Helper, ...] = field(default=())
    options: tuple[str, ...] = ()
    """Options of the JVMs of brokers and tools."""
    tools: str = ""
    """The folder with the jars of tools and clients, if it is not ``jars``."""

    @property
    def pids(self) -> list[int]:
        """The PIDs of all processes that have been started, servers first."""
        servers = [*(broker.pid for broker in self.brokers), self.zookeeper_pid]
        return [pid for pid in (*servers, *(helper.pid for helper in self.helpers)) if pid]

    def with_pid(self, broker: int, pid: int) -> State:
        return replace(self, brokers=tuple(replace(b, pid=pid) if b.id == broker else b for b in self.brokers))


def write_state(folder: Path, state: State) -> None:
    """Write the state atomically: a reader never sees a partial file."""
    fresh = folder / f"{_FILE}.{os.getpid()}.new"
    fresh.write_text(json.dumps(asdict(state), indent=2) + "\n")
    fresh.replace(folder / _FILE)


def read_state(folder: Path) -> State | None:
    """Return the state, or ``None`` if there is no such sandbox.

    :raises SandboxError: when the file is invalid.
    """
    try:
        return _parse(json.loads((folder / _FILE).read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise SandboxError(f"{folder / _FILE} is invalid ({error}); end its processes and delete the folder") from None


def _parse(data: dict[str, Any]) -> State:
    brokers = tuple(Broker(**broker) for broker in data.pop("brokers"))
    helpers = tuple(Helper(**helper) for helper in data.pop("helpers"))
    options = tuple(data.pop("options", ()))
    return State(**data, brokers=brokers, helpers=helpers, options=options)
