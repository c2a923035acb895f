"""What the workers of a Kafka Connect cluster tell each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kgroups.model.listed import ValueList


class ConnectorWork(NamedTuple):
    """What a worker runs of one connector: the connector itself, some of its tasks, or both."""

    connector: str
    itself: bool
    tasks: tuple[int, ...]


class WorkerAssignment(NamedTuple):
    """What the leader gave to a worker: v0 eager, v1 incremental (KIP-415, Kafka 2.3), v2 sessioned (KIP-507, 2.4).

    In v0 ``work`` is all that the worker runs, from v1 on what it is to run besides: see :meth:`WorkerState.beside`.
    ``leader`` is a member id. ``revoked`` and ``delay_ms``, the time that a lost worker is waited for, are of v1 on.
    """

    version: int
    error: int
    leader: str
    leader_url: str
    config_offset: int
    work: tuple[ConnectorWork, ...]
    revoked: tuple[ConnectorWork, ...] = ()
    delay_ms: int | None = None

    def facts(self) -> Mapping[str, object]:
        return {
            "connectors": ValueList(each.connector for each in self.work if each.itself),
            "connector_tasks": task_names(self.work),
            "revoked": _all_names(self.revoked) if self.version else None,
            "delay_ms": self.delay_ms,
            "leader_url": self.leader_url,
        }

    def facts_with(self, given: object) -> Mapping[str, object]:
        return {}

    def __str__(self) -> str:
        facts = self.facts()
        return f"connectors {_listed(facts['connectors'])} tasks {_listed(facts['connector_tasks'])}"


class WorkerState(NamedTuple):
    """What a worker tells: where it is reached, how far it has read the configurations, and what it runs (v1 on)."""

    version: int
    url: str
    config_offset: int
    running: WorkerAssignment | None = None

    def facts(self) -> Mapping[str, object]:
        return {"worker_url": self.url, "config_offset": self.config_offset}

    def facts_with(self, given: object) -> Mapping[str, object]:
        """What the worker runs: what it ran when it joined, less what is revoked, and what it was given then."""
        if self.running is None or not isinstance(given, WorkerAssignment) or not given.version:
            return {}
        runs = (_pairs(self.running.work) - _pairs(given.revoked)) | _pairs(given.work)
        return {
            "connectors": ValueList(sorted(connector for connector, task in runs if task is None)),
            "connector_tasks": ValueList(
                f"{connector}-{task}" for connector, task in sorted((c, t) for c, t in runs if t is not None)
            ),
        }

    def __str__(self) -> str:
        return f"{self.url} config offset {self.config_offset}"


def _pairs(work: Iterable[ConnectorWork]) -> set[tuple[str, int | None]]:
    """(connector, task); the connector itself has no number."""
    tasks: set[tuple[str, int | None]] = {(each.connector, task) for each in work for task in each.tasks}
    return tasks | {(each.connector, None) for each in work if each.itself}


def task_names(work: Iterable[ConnectorWork]) -> ValueList:
    """``<connector>-<number>``, as Connect itself writes them."""
    return ValueList(f"{each.connector}-{task}" for each in work for task in each.tasks)


def _all_names(work: tuple[ConnectorWork, ...]) -> ValueList:
    return ValueList((*(each.connector for each in work if each.itself), *task_names(work)))


def _listed(names: object) -> str:
    return str(names) or "none"
