"""Groups, offsets, and failures as Arrow batches of the live tables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from kgroups.model.groups import Group
from kgroups.model.outcome import Failure
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.model.views.offsets import offset_rows

from ..arrow import arrow_schema
from ..decode.rows import to_batch
from ..tables import Table

BATCH = 10_000
"""Maximum number of rows in an Arrow batch."""

CURRENT, TARGET = "current", "target"

Row = Sequence[Any]
"""Values in the order of a table's columns."""


def batches(table: Table, rows: Sequence[Row]) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches of at most :data:`BATCH`; no batch if there are no rows."""
    for at in range(0, len(rows), BATCH):
        yield record_batch(table, rows[at : at + BATCH])


def record_batch(table: Table, rows: Sequence[Row]) -> pa.RecordBatch:
    """Return all rows as one batch, which may be empty."""
    return to_batch(rows, arrow_schema(table))


def kind_of(group_type: str | None) -> str | None:
    """Return the group type in lowercase, as in the tables."""
    return group_type.lower() if group_type else None


def group_row(group: Group) -> Row:
    return (
        group.group,
        kind_of(group.type),
        group.state or None,
        group.protocol_type,
        group.protocol or None,
        *group.coordinator,
        group.group_epoch,
        group.target_assignment_epoch,
    )


def members_rows(group: Group) -> Iterator[Row]:
    """Yield the members of a group by member ID; none if its type cannot be described."""
    for member in sorted(group.members or (), key=lambda member: member.member_id):
        yield (
            group.group,
            kind_of(group.type),
            member.member_id,
            member.instance_id,
            member.client_id,
            member.host,
            member.rack_id,
            member.member_epoch,
            member.assignment.size,
            None if member.subscription.raw else member.subscription.topics,
            member.subscription.regex,
            member.upgraded,
        )


def assignments_rows(group: Group) -> Iterator[Row]:
    """Yield the assignments of a group by member ID, role, and topic."""
    for member in sorted(group.members or (), key=lambda member: member.member_id):
        for role, assignment in ((CURRENT, member.assignment), (TARGET, member.target)):
            for entry in assignment.topics if assignment else ():
                yield (group.group, member.member_id, entry.topic, entry.partitions, role)


def offsets_rows(offsets: GroupOffsets) -> Iterator[Row]:
    """Yield the rows of ``describe``, with the metadata of each commit."""
    metadata: Mapping[tuple[str | None, int | None], str | None] = {
        (topic, commit.partition): commit.metadata
        for topic, commits in offsets.commits.topics.items()
        for commit in commits
    }
    for row in offset_rows(offsets):
        yield (
            row.group,
            row.topic,
            row.partition,
            row.current_offset,
            row.leader_epoch,
            metadata.get((row.topic, row.partition)),
            row.log_start_offset,
            row.log_end_offset,
            row.lag,
            row.consumer_id,
            row.host,
            row.client_id,
            row.group_instance_id,
            row.note,
        )


def failure_rows(failures: Iterable[Failure]) -> list[Row]:
    """Return the failures, sorted. The message names a missing ACL."""
    return [
        (each.scope.value, each.name or None, each.message, each.error, each.code, each.api, each.broker)
        for each in sorted(failures, key=Failure.sort_key)
    ]
