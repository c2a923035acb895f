"""Rows from the records of consumer groups (KIP-848) and share groups (KIP-932).

Rule: an empty assignment of a member, and a tombstone of an assignment, are one row without a topic; ``partitions`` is
empty for the former and null for the latter. So there is always a row for the latest record of a member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .facts import (
    ASSIGNMENTS,
    EPOCHS,
    MEMBERS,
    Body,
    Extractor,
    Fact,
    epoch_extractor,
    none_if_absent,
    none_if_empty,
)

MODERN: Final[Mapping[int, str]] = {
    0: "stable",
    1: "unrevoked_partitions",
    2: "unreleased_partitions",
    127: "unknown",
}
"""Of consumer and share groups: ``org.apache.kafka.coordinator.group.modern.MemberState``."""

# Unlike the numbers above, shifted by one.
STREAMS: Final[Mapping[int, str]] = {
    1: "stable",
    2: "unrevoked_tasks",
    3: "unreleased_tasks",
    127: "unknown",
}
"""Of streams groups: ``org.apache.kafka.coordinator.group.streams.MemberState``."""

_STREAMS_RECORD: Final = 22


def state_name(record_type: int, state: int) -> str:
    """Return the name of a state, or its number if it is unknown."""
    return (STREAMS if record_type == _STREAMS_RECORD else MODERN).get(state, str(state))


CONSUMER: Final = "consumer"
SHARE: Final = "share"


def _member_extractor(kind: str) -> Extractor:
    def extract(body: Body) -> Iterator[Fact]:
        yield MEMBERS, {"kind": kind, "member_id": body.key["MemberId"], **_member(body.value)}

    return extract


def _member(value: Mapping[str, Any] | None) -> dict[str, Any]:
    if value is None:
        return {}
    # A member that uses the classic protocol has protocols; an empty list stands for no metadata.
    classic = value.get("ClassicMemberMetadata") or {}
    protocols = [protocol["Name"] for protocol in classic.get("SupportedProtocols", ())]
    return {
        "instance_id": none_if_empty(value.get("InstanceId")),
        "client_id": value["ClientId"],
        "client_host": none_if_empty(value["ClientHost"]),
        "rack_id": none_if_empty(value["RackId"]),
        "rebalance_timeout_ms": none_if_absent(value.get("RebalanceTimeoutMs")),
        "session_timeout_ms": classic["SessionTimeoutMs"] if protocols else None,
        "assignor": none_if_empty(value.get("ServerAssignor")),
        "topics": value["SubscribedTopicNames"],
        "topic_regex": none_if_empty(value.get("SubscribedTopicRegex")),
        "protocols": protocols or None,
    }


def _target_extractor(kind: str) -> Extractor:
    def extract(body: Body) -> Iterator[Fact]:
        base = {"kind": kind, "member_id": body.key["MemberId"], "role": "target"}
        yield from _partitions(base, body.value["TopicPartitions"] if body.value else None, always=True)

    return extract


def _current_extractor(kind: str, record_type: int) -> Extractor:
    def extract(body: Body) -> Iterator[Fact]:
        base = {"kind": kind, "member_id": body.key["MemberId"]}
        yield member_epoch(base, body.value, record_type)
        value = body.value or {}
        base["epoch"] = value.get("MemberEpoch")
        yield from _partitions({**base, "role": "current"}, value.get("AssignedPartitions"), always=True)
        yield from _partitions({**base, "role": "revoking"}, value.get("PartitionsPendingRevocation"))

    return extract


def member_epoch(base: Mapping[str, Any], value: Mapping[str, Any] | None, record_type: int) -> Fact:
    """Return the epochs and state in a member's current assignment; nulls for a tombstone."""
    value = value or {}
    state = value.get("State")
    epochs = {
        "epoch": value.get("MemberEpoch"),
        "previous_epoch": none_if_absent(value.get("PreviousMemberEpoch")),
        "state": None if state is None else state_name(record_type, state),
    }
    return EPOCHS, {**base, "subject": "member", **epochs}


def _partitions(
    base: Mapping[str, Any], topics: list[dict[str, Any]] | None, *, always: bool = False
) -> Iterator[Fact]:
    """Yield one fact for each topic; without topics, one fact without a topic if ``always``."""
    for topic in topics or ():
        yield ASSIGNMENTS, {**base, "topic_id": topic["TopicId"], "partitions": sorted(topic["Partitions"])}
    if always and not topics:
        yield ASSIGNMENTS, {**base, "partitions": topics}


EXTRACTORS: Final[Mapping[int, Extractor]] = {
    3: epoch_extractor(CONSUMER, "group", "Epoch"),
    5: _member_extractor(CONSUMER),
    6: epoch_extractor(CONSUMER, "target", "AssignmentEpoch"),
    7: _target_extractor(CONSUMER),
    8: _current_extractor(CONSUMER, 8),
    10: _member_extractor(SHARE),
    11: epoch_extractor(SHARE, "group", "Epoch"),
    12: epoch_extractor(SHARE, "target", "AssignmentEpoch"),
    13: _target_extractor(SHARE),
    14: _current_extractor(SHARE, 14),
}
