"""Convert the newest records of a group to facts about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgroups.model.group_log import CommitTimes, GroupLog, Key, Timeouts
from kgroups.model.groups import GroupId, GroupState
from kgroups.model.operations.origin import topic_id_of
from kgroups.protocol.record_schemas import NO_TOPIC_ID

if TYPE_CHECKING:
    from .newest_records import Found

_COMMIT, _CLASSIC = 1, 2
_MEMBERS = (5, 19)
_TARGETS = (6, 12, 20)
"""The record types with the time of an assignment: for consumer, share, and streams groups."""


def log_of(newest: Mapping[Key, Found], group: GroupId) -> GroupLog:
    """Return the facts in the newest records of a group.

    :param newest: the records of this group only, by key.
    """
    existing = {key: found for key, found in newest.items() if found.value is not None}
    classic = existing.get((_CLASSIC, group))
    value: Mapping[str, Any] = (classic.value if classic else None) or {}
    timeouts = {member["memberId"]: _timeouts(member) for member in value.get("members", ())}
    commits: dict[tuple[str, int], CommitTimes] = {}
    rebalanced = classic.timestamp if classic else None
    for key, (timestamp, fields) in existing.items():
        if fields is None:
            continue
        if key[0] == _COMMIT:
            expires = fields.get("expireTimestamp", -1)
            commits[str(key[2]), int(str(key[3]))] = CommitTimes(
                fields["commitTimestamp"],
                expires if expires >= 0 else None,
                topic_id_of(fields.get("topicId") or NO_TOPIC_ID) or None,
            )
        elif key[0] in _MEMBERS:
            timeouts[str(key[2])] = _modern_timeouts(fields)
        elif key[0] in _TARGETS:
            rebalanced = fields.get("AssignmentTimestamp") or timestamp
    return GroupLog(
        generation=value.get("generation"),
        leader=value.get("leader"),
        state_since=_known(value.get("currentStateTimestamp")),
        rebalanced=_known(rebalanced),
        timeouts=timeouts,
        commits=commits,
        state=None if classic is None else GroupState.STABLE if value.get("members") else GroupState.EMPTY,
    )


def _timeouts(member: Mapping[str, Any]) -> Timeouts:
    return Timeouts(_known(member.get("sessionTimeout")), _known(member.get("rebalanceTimeout")))


def _modern_timeouts(member: Mapping[str, Any]) -> Timeouts:
    """Return the timeouts of a KIP-848 member.

    Only members that use the classic protocol have their own session timeout; for others, the broker's applies.
    """
    classic = member.get("ClassicMemberMetadata") or {}
    return Timeouts(_known(classic.get("SessionTimeoutMs")), _known(member.get("RebalanceTimeoutMs")))


def _known(value: int | None) -> int | None:
    return None if value is None or value < 0 else value
