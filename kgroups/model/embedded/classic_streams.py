"""What the members of a Kafka Streams application tell each other under the classic protocol (KIP-1071 replaces it)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kgroups.model.assignment import Assignment
from kgroups.model.listed import ValueList
from kgroups.model.streams import Pairs, SubtopologyTasks, Tasks


class TaskId(NamedTuple):
    """A partition of a subtopology; of a named topology, where the application has such."""

    subtopology: int
    partition: int
    topology: str | None = None

    def __str__(self) -> str:
        """``0_1``, as Streams itself writes it; ``name__0_1`` of a named topology."""
        return f"{f'{self.topology}__' if self.topology else ''}{self.subtopology}_{self.partition}"


class TaskOffsets(NamedTuple):
    """How much of a task's state a process has on disk, summed over its changelogs."""

    task: TaskId
    offset_sum: int


class HostPartitions(NamedTuple):
    """What the instance at one address holds, for interactive queries."""

    host: str
    port: int
    partitions: Assignment


class StandbyTask(NamedTuple):
    task: TaskId
    partitions: Assignment


RUNNING = -2
"""The sum of offsets that stands for an active task that was running."""


class StreamsSubscription(NamedTuple):
    """SubscriptionInfo, v1 to v11.

    v2 endpoint · v3 latest version supported (Kafka 2.0) · v7 sums of offsets instead of tasks (KIP-441, 2.6) · v8 a
    field that makes each subscription another one · v9 error · v10 named topologies · v11 client tags (KIP-708, 3.2)
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
    """AssignmentInfo, v1 to v11. ``active`` is in the order of the assigned partitions, one for each.

    v2 partitions by host · v3 version that all support · v4 error · v6 standby partitions by host (KIP-535, Kafka 2.5)
    · v7 when to rebalance next (KIP-441) · v10 named topologies
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
    """As members of streams groups (KIP-1071) have them."""
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
