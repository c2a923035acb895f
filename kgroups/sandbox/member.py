"""A member of a classic group, implemented with kgroups' protocol code.

It joins, assigns all partitions to itself, and sends heartbeats on request. It is alone in its group, so that it leads
and does not wait: a process can run thousands of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from kgroups.errors import SandboxError
from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, GroupId
from kgroups.protocol.error_codes import Code, KafkaError

from .coordinator_client import CoordinatorClient
from .wire.consumer_protocol import encode_assignment, encode_subscription
from .wire.heartbeat import Heartbeat
from .wire.join_group import JoinGroup, MemberIdRequired
from .wire.sync_group import SyncGroup

SESSION: Final = timedelta(minutes=30)
"""Long, so that heartbeats can be rare: ten thousand members must not affect a benchmark."""

REBALANCE: Final = timedelta(seconds=10)

_JOIN_AGAIN: Final = frozenset({Code.rebalance_in_progress, Code.unknown_member_id, Code.illegal_generation})


class Member(NamedTuple):
    """A member's metadata and assignment, and, after it has joined, its ID and generation."""

    group: GroupId
    protocol_type: str
    protocol: str
    metadata: bytes
    assignment: bytes
    member_id: str = ""
    generation: int = -1


def consumer(group: GroupId, topics: dict[str, int]) -> Member:
    """Return a consumer of ``topics`` (name -> number of partitions) with the range assignor."""
    ((_, partitions),) = range_assignment(["alone"], topics).items()
    subscription = encode_subscription(sorted(topics), {})
    return Member(group, CONSUMER_PROTOCOL_TYPE, "range", subscription, encode_assignment(partitions))


async def join(route: CoordinatorClient, member: Member) -> Member:
    """Join as a new member, and return when the group is stable.

    :raises SandboxError: when the coordinator rejects it.
    """
    member_id = ""
    while True:
        joined = await route.call(member.group, _join_call(member, member_id))
        if isinstance(joined, MemberIdRequired):
            member_id = joined.member_id
            continue
        if isinstance(joined, KafkaError):
            raise SandboxError(f"group {member.group}: JoinGroup: {joined.name}")
        sync = SyncGroup(
            member.group,
            joined.member_id,
            joined.generation,
            member.protocol_type,
            member.protocol,
            {joined.member_id: member.assignment},
        )
        synced = await route.call(member.group, sync)
        if not isinstance(synced, KafkaError):
            return member._replace(member_id=joined.member_id, generation=joined.generation)
        if synced.code not in _JOIN_AGAIN:
            raise SandboxError(f"group {member.group}: SyncGroup: {synced.name}")
        member_id = "" if synced.code == Code.unknown_member_id else joined.member_id


async def beat(route: CoordinatorClient, member: Member) -> Member:
    """Send a heartbeat; join again if the coordinator requests it, or has removed the member.

    :raises SandboxError: when that is not possible now.
    """
    error = await route.call(member.group, Heartbeat(member.group, member.member_id, member.generation))
    if error is None:
        return member
    if error.code not in _JOIN_AGAIN:
        raise SandboxError(f"group {member.group}: Heartbeat: {error.name}")
    return await join(route, member)


def _join_call(member: Member, member_id: str) -> JoinGroup:
    return JoinGroup(
        member.group, member_id, member.protocol_type, member.protocol, member.metadata, SESSION, REBALANCE
    )


def range_assignment(members: Sequence[str], topics: Mapping[str, int]) -> dict[str, dict[str, list[int]]]:
    """Assign partitions as the range assignor, to members that all subscribe to all ``topics`` (name -> partitions).

    For each topic: neighboring partitions, to the members in the order of their IDs; the first ones get the remainder.

    :returns: member -> topic -> partitions; a member without partitions has an empty mapping.
    """
    assigned: dict[str, dict[str, list[int]]] = {member: {} for member in sorted(members)}
    for topic, partitions in sorted(topics.items()):
        share, remainder = divmod(partitions, len(assigned))
        start = 0
        for at, member in enumerate(assigned):
            size = share + (at < remainder)
            if size:
                assigned[member][topic] = list(range(start, start + size))
            start += size
    return assigned
