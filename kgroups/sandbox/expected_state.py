"""Compare a cluster's groups with the expected state of the known groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kgroups.model.groups import Group, GroupId
from kgroups.model.offsets import GroupCommits, Logs
from kgroups.model.views.offset_row import GroupOffsets

from .seed_data import DELETED_TOPIC, LOG_STARTS, OPEN_TRANSACTION, RECORDS, KnownGroup


def unmet_expectations(expected: Iterable[KnownGroup], found: Mapping[GroupId, GroupOffsets]) -> list[str]:
    """Return one line for each difference; none when all groups are as expected."""
    return [
        f"{group.name}: {difference}"
        for group in expected
        for difference in (_differences(group, found[group.name]) if group.name in found else ["does not exist"])
    ]


def _differences(expected: KnownGroup, found: GroupOffsets) -> Iterator[str]:
    yield from _of_members(expected, found.group)
    yield from _of_offsets(expected, found.commits, found.logs)


def _of_members(expected: KnownGroup, group: Group) -> Iterator[str]:
    members = group.members or ()
    pairs = {
        "state": (expected.state, group.state),
        "protocol type": (expected.protocol_type, group.protocol_type),
        "assignor": (expected.protocol, group.protocol),
        "members": (expected.members, len(members)),
        "instances": (expected.instances, sorted(member.instance_id for member in members if member.instance_id)),
        "assigned": (expected.assigned, {pair for member in members for pair in member.assignment.pairs()}),
    }
    for name, (wanted, actual) in pairs.items():
        if wanted != actual:
            yield f"{name} {actual!r}, not {wanted!r}"


def _of_offsets(expected: KnownGroup, commits: GroupCommits, logs: Logs) -> Iterator[str]:
    committed = {
        topic: {commit.partition: commit.offset for commit in entries} for topic, entries in commits.topics.items()
    }
    if committed != expected.commits:
        yield f"committed {committed!r}, not {expected.commits!r}"
    for topic, partitions in logs.offsets.items():
        for partition, log in partitions.items():
            wanted = (LOG_STARTS.get(topic, {}).get(partition, 0), end_of(topic, partition))
            if topic != DELETED_TOPIC and log != wanted:
                yield f"{topic}-{partition} starts and ends at {tuple(log)}, not {wanted}"


def end_of(topic: str, partition: int) -> int:
    """Return the log end offset of a partition of the known topics, including open transactions."""
    return RECORDS[topic][partition] + OPEN_TRANSACTION.get(topic, {}).get(partition, 0)
