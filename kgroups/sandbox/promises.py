"""Whether a cluster's groups are as the known world promises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kgroups.model.groups import Group, GroupId
from kgroups.model.offsets import GroupCommits, Logs
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.sandbox.world import DELETED_TOPIC, LOG_STARTS, OPEN_TRANSACTION, RECORDS, KnownGroup


def what_is_missing(promised: Iterable[KnownGroup], found: Mapping[GroupId, GroupOffsets]) -> list[str]:
    """One line for each thing that is not (yet) so; none when all is as it should be."""
    return [
        f"{group.name}: {missing}"
        for group in promised
        for missing in (_missing(group, found[group.name]) if group.name in found else ["is not there"])
    ]


def _missing(promised: KnownGroup, found: GroupOffsets) -> Iterator[str]:
    yield from _about_members(promised, found.group)
    yield from _about_offsets(promised, found.commits, found.logs)


def _about_members(promised: KnownGroup, group: Group) -> Iterator[str]:
    members = group.members or ()
    shown = {
        "state": (promised.state, group.state),
        "protocol type": (promised.protocol_type, group.protocol_type),
        "assignor": (promised.protocol, group.protocol),
        "members": (promised.members, len(members)),
        "instances": (promised.instances, sorted(member.instance_id for member in members if member.instance_id)),
        "assigned": (promised.assigned, {pair for member in members for pair in member.assignment.pairs()}),
    }
    for what, (wanted, is_) in shown.items():
        if wanted != is_:
            yield f"{what} {is_!r}, not {wanted!r}"


def _about_offsets(promised: KnownGroup, commits: GroupCommits, logs: Logs) -> Iterator[str]:
    committed = {
        topic: {commit.partition: commit.offset for commit in entries} for topic, entries in commits.topics.items()
    }
    if committed != promised.commits:
        yield f"committed {committed!r}, not {promised.commits!r}"
    for topic, partitions in logs.offsets.items():
        for partition, log in partitions.items():
            wanted = (LOG_STARTS.get(topic, {}).get(partition, 0), end_of(topic, partition))
            if topic != DELETED_TOPIC and log != wanted:
                yield f"{topic}-{partition} starts and ends at {tuple(log)}, not {wanted}"


def end_of(topic: str, partition: int) -> int:
    """Where the log of a partition of the known world ends, open transactions included."""
    return RECORDS[topic][partition] + OPEN_TRANSACTION.get(topic, {}).get(partition, 0)
