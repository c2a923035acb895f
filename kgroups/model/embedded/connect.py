"""The client data of the workers of a Kafka Connect cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kgroups.model.listed import ValueList


class ConnectorWork(NamedTuple):
    """The parts of one connector that a worker runs: the connector itself, some of its tasks, or both."""

    connector: str
    itself: bool
    tasks: tuple[int, ...]


class WorkerAssignment(NamedTuple):
    """The leader's assignment to a worker: v0 eager, v1 incremental (KIP-415, Kafka 2.3), v2 sessioned (KIP-507, 2.4).

    In v0, ``work`` is everything that the worker runs; since v1, it is additional work: see
    :meth:`WorkerState.facts_with`. ``leader`` is a member ID. ``revoked`` and ``delay_ms``, the time to wait for the
    return of a lost worker, exist since v1.
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
        return f"connectors {_text_or_none(facts['connectors'])} tasks {_text_or_none(facts['connector_tasks'])}"


class WorkerState(NamedTuple):
    """A worker's state: its URL, the offset up to which it has read configurations, and its work (since v1)."""

    version: int
    url: str
    config_offset: int
    running: WorkerAssignment | None = None

    def facts(self) -> Mapping[str, object]:
        return {"worker_url": self.url, "config_offset": self.config_offset}

    def facts_with(self, given: object) -> Mapping[str, object]:
        """Return what the worker runs: its work when it joined, without revoked work, with newly assigned work."""
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
    """Return (connector, task) pairs; the task of the connector itself is ``None``."""
    tasks: set[tuple[str, int | None]] = {(each.connector, task) for each in work for task in each.tasks}
    return tasks | {(each.connector, None) for each in work if each.itself}


def task_names(work: Iterable[ConnectorWork]) -> ValueList:
    """Return names such as ``<connector>-<number>``, as Connect itself prints them."""
    return ValueList(f"{each.connector}-{task}" for each in work for task in each.tasks)


def _all_names(work: tuple[ConnectorWork, ...]) -> ValueList:
    return ValueList((*(each.connector for each in work if each.itself), *task_names(work)))


def _text_or_none(names: object) -> str:
    return str(names) or "none"
