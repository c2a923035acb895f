"""The rows of operations: plans and results."""

from __future__ import annotations

from typing import NamedTuple

from ..operations.reset import PlannedOffset
from ..operations.results import GroupDeletion, MemberRemoval, TopicDeletion
from ..outcome import Failure, Result


class ResetRow(NamedTuple):
    """One planned offset of ``reset-offsets``; ``result`` and ``error`` exist once it was executed.

    A row without a partition is an internal topic to delete.
    """

    group: str
    topic: str
    partition: int | None
    old_offset: int | None
    new_offset: int | None
    distance: int | None
    note: str | None
    result: str | None = None
    error: str | None = None
    skipped: str | None = None
    """The offsets of the skipped records."""


class DeleteOffsetRow(NamedTuple):
    """One commit of ``delete-offsets``."""

    group: str
    topic: str
    partition: int
    current_offset: int | None
    result: str | None = None
    error: str | None = None


class DeleteRow(NamedTuple):
    """One group of ``delete``, or an internal topic of a streams group that is deleted with it.

    ``commits`` counts the partitions whose offsets are deleted with the group.
    """

    group: str
    state: str
    type: str | None
    protocol_type: str
    commits: int | None
    result: str | None = None
    error: str | None = None
    internal_topic: str | None = None


class RemoveMemberRow(NamedTuple):
    """One member of ``remove-members``; ``partitions`` counts the partitions assigned to it."""

    group: str
    consumer_id: str
    group_instance_id: str | None
    host: str
    client_id: str
    partitions: int | None
    result: str | None = None
    error: str | None = None


DELETED_TOPIC = "internal topic: deleted with all its records"

ResultAndError = tuple[str | None, str | None]
"""The columns ``result`` and ``error`` of an executed operation."""
NOT_EXECUTED: ResultAndError = (None, None)


def result_and_error(result: Result, failure: Failure | None) -> ResultAndError:
    return result.value, failure.message if failure else None


def reset_row(entry: PlannedOffset, columns: ResultAndError = NOT_EXECUTED) -> ResetRow:
    return ResetRow(*entry.key, entry.old, entry.new, entry.distance, entry.note, *columns, _offsets(entry))


def _offsets(entry: PlannedOffset) -> str | None:
    return ",".join(str(record.offset) for record in entry.skipped) or None


def delete_offset_row(entry: PlannedOffset, columns: ResultAndError = NOT_EXECUTED) -> DeleteOffsetRow:
    return DeleteOffsetRow(*entry.key, entry.old, *columns)


def delete_row(deletion: GroupDeletion, columns: ResultAndError = NOT_EXECUTED) -> DeleteRow:
    group = deletion.group
    # A share group also has partitions that were never read; they have no start offset.
    count = sum(commit is not None for commit in deletion.commits.values())
    return DeleteRow(group.group, group.state, group.type, group.protocol_type, count, *columns)


def delete_topic_row(deletion: TopicDeletion, columns: ResultAndError = NOT_EXECUTED) -> DeleteRow:
    group = deletion.group
    return DeleteRow(group.group, group.state, group.type, group.protocol_type, None, *columns, deletion.topic)


def reset_topic_row(deletion: TopicDeletion, columns: ResultAndError = NOT_EXECUTED) -> ResetRow:
    return ResetRow(deletion.group.group, deletion.topic, None, None, None, None, DELETED_TOPIC, *columns)


def remove_member_row(removal: MemberRemoval, columns: ResultAndError = NOT_EXECUTED) -> RemoveMemberRow:
    member = removal.member
    identity = (member.member_id, member.instance_id, member.host, member.client_id, member.assignment.size)
    return RemoveMemberRow(removal.group, *identity, *columns)
