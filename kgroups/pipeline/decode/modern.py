"""What the records of consumer groups (KIP-848) and share groups (KIP-932) put into the tables.

Rule: a member's assignment that is empty, and a tombstone of one, is one row without a topic: of the former
``partitions`` is empty, of the latter null. So the latest record of a member is always found, and says what it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kgroups.protocol.offsets_topic.member_states import state_name

from .facts import ASSIGNMENTS, EPOCHS, MEMBERS, Body, Fact, Teller, ascending, epoch_teller, known, some

CONSUMER: Final = "consumer"
SHARE: Final = "share"


def _member_teller(kind: str) -> Teller:
    def tell(body: Body) -> Iterator[Fact]:
        yield MEMBERS, {"kind": kind, "member_id": body.key["MemberId"], **_member(body.value)}

    return tell


def _member(value: Mapping[str, Any] | None) -> dict[str, Any]:
    if value is None:
        return {}
    # A member that speaks the classic protocol has protocols; without any, it is what stands for no metadata.
    classic = value.get("ClassicMemberMetadata") or {}
    protocols = [protocol["Name"] for protocol in classic.get("SupportedProtocols", ())]
    return {
        "instance_id": some(value.get("InstanceId")),
        "client_id": value["ClientId"],
        "client_host": value["ClientHost"],
        "rack_id": some(value["RackId"]),
        "rebalance_timeout_ms": known(value.get("RebalanceTimeoutMs")),
        "session_timeout_ms": classic["SessionTimeoutMs"] if protocols else None,
        "assignor": some(value.get("ServerAssignor")),
        "topics": value["SubscribedTopicNames"],
        "topic_regex": some(value.get("SubscribedTopicRegex")),
        "protocols": protocols or None,
    }


def _target_teller(kind: str) -> Teller:
    def tell(body: Body) -> Iterator[Fact]:
        base = {"kind": kind, "member_id": body.key["MemberId"], "role": "target"}
        yield from _partitions(base, body.value["TopicPartitions"] if body.value else None, always=True)

    return tell


def _current_teller(kind: str, record_type: int) -> Teller:
    def tell(body: Body) -> Iterator[Fact]:
        base = {"kind": kind, "member_id": body.key["MemberId"]}
        yield member_epoch(base, body.value, record_type)
        value = body.value or {}
        base["epoch"] = value.get("MemberEpoch")
        yield from _partitions({**base, "role": "current"}, value.get("AssignedPartitions"), always=True)
        yield from _partitions({**base, "role": "revoking"}, value.get("PartitionsPendingRevocation"))

    return tell


def member_epoch(base: Mapping[str, Any], value: Mapping[str, Any] | None, record_type: int) -> Fact:
    """The epochs and the state that a member's current assignment carries; nulls for a tombstone."""
    value = value or {}
    state = value.get("State")
    epochs = {
        "epoch": value.get("MemberEpoch"),
        "previous_epoch": known(value.get("PreviousMemberEpoch")),
        "state": None if state is None else state_name(record_type, state),
    }
    return EPOCHS, {**base, "subject": "member", **epochs}


def _partitions(
    base: Mapping[str, Any], topics: list[dict[str, Any]] | None, *, always: bool = False
) -> Iterator[Fact]:
    """One fact for each topic; of none, one without a topic if there is to be one ``always``."""
    for topic in topics or ():
        yield ASSIGNMENTS, {**base, "topic_id": topic["TopicId"], "partitions": ascending(topic["Partitions"])}
    if always and not topics:
        yield ASSIGNMENTS, {**base, "partitions": topics}


TELLERS: Final[Mapping[int, Teller]] = {
    3: epoch_teller(CONSUMER, "group", "Epoch"),
    5: _member_teller(CONSUMER),
    6: epoch_teller(CONSUMER, "target", "AssignmentEpoch"),
    7: _target_teller(CONSUMER),
    8: _current_teller(CONSUMER, 8),
    10: _member_teller(SHARE),
    11: epoch_teller(SHARE, "group", "Epoch"),
    12: epoch_teller(SHARE, "target", "AssignmentEpoch"),
    13: _target_teller(SHARE),
    14: _current_teller(SHARE, 14),
}
