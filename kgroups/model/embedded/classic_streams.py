"""The user data of Kafka Streams members under the classic protocol, which KIP-1071 replaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kgroups.model.assignment import Assignment
from kgroups.model.listed import ValueList
from kgroups.model.streams import Pairs, SubtopologyTasks, Tasks


class TaskId(NamedTuple):
    """A partition of a subtopology, or of a subtopology of a named topology."""

    subtopology: int
    partition: int
    topology: str | None = None

    def __str__(self) -> str:
        """Return ``0_1``, as Streams itself prints it; ``name__0_1`` in a named topology."""
        return f"{f'{self.topology}__' if self.topology else ''}{self.subtopology}_{self.partition}"


class TaskOffsets(NamedTuple):
    """The amount of a task's state that a process has on disk: the sum of its changelog offsets."""

    task: TaskId
    offset_sum: int


class HostPartitions(NamedTuple):
    """The partitions of the instance at one address, for interactive queries."""

    host: str
    port: int
    partitions: Assignment


class StandbyTask(NamedTuple):
    task: TaskId
    partitions: Assignment


RUNNING = -2
"""The sum of offsets that represents a running active task."""


class StreamsSubscription(NamedTuple):
    """SubscriptionInfo, v1 to v11.

    v2 endpoint · v3 latest supported version (Kafka 2.0) · v7 sums of offsets instead of tasks (KIP-441, 2.6) · v8 a
    field that makes each subscription unique · v9 error · v10 named topologies · v11 client tags (KIP-708, 3.2)
    """

    version: int
    latest_version: int | None
    process_id: str | None
    previous_tasks: tuple[TaskId, ...] = ()
    standby_tasks: tuple[TaskId, ...] = ()
    offset_sums: tuple[TaskOffsets, ...] = ()
    endpoint: str | None = None
    unique_field: int | None = None
    error: int | None = None
    client_tags: tuple[tuple[str, str], ...] = ()

    def facts(self) -> Mapping[str, object]:
        return {
            "process_id": self.process_id,
            "user_endpoint": self.endpoint,
            "client_tags": Pairs(self.client_tags) or None,
        }

    def facts_with(self, given: object) -> Mapping[str, object]:
        return {}

    def __str__(self) -> str:
        return " ".join(
            [
                f"streams v{self.version}",
                *([f"process {self.process_id}"] if self.process_id else []),
                *([f"endpoint {self.endpoint}"] if self.endpoint else []),
                *([f"had {ValueList(self.previous_tasks)}"] if self.previous_tasks else []),
                *([f"had standby {ValueList(self.standby_tasks)}"] if self.standby_tasks else []),
                *([f"error {self.error}"] if self.error else []),
            ]
        )


class StreamsAssignment(NamedTuple):
    """AssignmentInfo, v1 to v11. ``active`` has one task per assigned partition, in the same order.

    v2 partitions by host · v3 version that all members support · v4 error · v6 standby partitions by host (KIP-535,
    Kafka 2.5) · v7 time of the next rebalance (KIP-441) · v10 named topologies
    """

    version: int
    common_version: int | None
    active: tuple[TaskId, ...] = ()
    standby: tuple[StandbyTask, ...] = ()
    by_host: tuple[HostPartitions, ...] = ()
    standby_by_host: tuple[HostPartitions, ...] = ()
    error: int | None = None
    next_rebalance_ms: int | None = None

    def facts(self) -> Mapping[str, object]:
        return {
            "active_tasks": _by_subtopology(self.active),
            "standby_tasks": _by_subtopology(each.task for each in self.standby),
        }

    def facts_with(self, given: object) -> Mapping[str, object]:
        return {}

    def __str__(self) -> str:
        standby = ValueList(each.task for each in self.standby)
        return f"streams v{self.version} tasks {ValueList(self.active)} standby {str(standby) or 'none'}"


def _by_subtopology(tasks: Iterable[TaskId]) -> Tasks:
    """Return tasks in the form of streams groups (KIP-1071)."""
    found: dict[tuple[str, int], set[int]] = {}
    for subtopology, partition, topology in tasks:
        found.setdefault((topology or "", subtopology), set()).add(partition)
    return Tasks(
        tuple(
            SubtopologyTasks(
                f"{topology}__{number}" if topology else str(number), tuple(sorted(found[topology, number]))
            )
            for topology, number in sorted(found)
        )
    )
