"""Rows from the records of streams groups (KIP-1071): tasks instead of partitions.

Rule: as in ``modern``, a member without tasks and a tombstone are one row each, with the role of active tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .facts import (
    ASSIGNMENTS,
    MEMBERS,
    Body,
    Extractor,
    Fact,
    epoch_extractor,
    none_if_absent,
    none_if_empty,
)
from .modern import member_epoch

KIND: Final = "streams"

_TARGET: Final = {"target-active": "ActiveTasks", "target-standby": "StandbyTasks", "target-warmup": "WarmupTasks"}
_CURRENT: Final = {
    "current-active": "ActiveTasks",
    "current-standby": "StandbyTasks",
    "current-warmup": "WarmupTasks",
    "revoking-active": "ActiveTasksPendingRevocation",
    "revoking-standby": "StandbyTasksPendingRevocation",
    "revoking-warmup": "WarmupTasksPendingRevocation",
}
"""Role -> field; the first role always has a row."""


def _extract_member(body: Body) -> Iterator[Fact]:
    value = body.value
    member = {"kind": KIND, "member_id": body.key["MemberId"]}
    if value is not None:
        member |= {
            "instance_id": none_if_empty(value["InstanceId"]),
            "client_id": value["ClientId"],
            "client_host": none_if_empty(value["ClientHost"]),
            "rack_id": none_if_empty(value["RackId"]),
            "rebalance_timeout_ms": none_if_absent(value["RebalanceTimeoutMs"]),
        }
    yield MEMBERS, member


def _extract_target(body: Body) -> Iterator[Fact]:
    yield from _tasks({"kind": KIND, "member_id": body.key["MemberId"]}, _TARGET, body.value)


def _extract_current(body: Body) -> Iterator[Fact]:
    base = {"kind": KIND, "member_id": body.key["MemberId"]}
    yield member_epoch(base, body.value, 22)
    base["epoch"] = body.value and body.value["MemberEpoch"]
    yield from _tasks(base, _CURRENT, body.value)


def _tasks(base: Mapping[str, Any], roles: Mapping[str, str], value: Mapping[str, Any] | None) -> Iterator[Fact]:
    for number, (role, field) in enumerate(roles.items()):
        tasks = value and value[field]
        for task in tasks or ():
            found = {"topic": task["SubtopologyId"], "partitions": sorted(task["Partitions"])}
            yield ASSIGNMENTS, {**base, "role": role, **found}
        if number == 0 and not tasks:
            yield ASSIGNMENTS, {**base, "role": role, "partitions": tasks}


EXTRACTORS: Final[Mapping[int, Extractor]] = {
    17: epoch_extractor(KIND, "group", "Epoch"),
    19: _extract_member,
    20: epoch_extractor(KIND, "target", "AssignmentEpoch"),
    21: _extract_target,
    22: _extract_current,
}
