"""The flat rows of the acts: what is planned, and what became of it."""

from __future__ import annotations

from typing import NamedTuple

from ..operations.reset import PlannedOffset
from ..operations.results import GroupDeletion, MemberRemoval, TopicDeletion
from ..outcome import Failure, Result


class ResetRow(NamedTuple):
    """One planned offset of ``reset-offsets``; ``result`` and ``error`` once it was executed. Without a partition, an
    internal topic that is deleted."""

    group: str
    topic: str
    partition: int | None
    old_offset: int | None
    new_offset: int | None
    distance: int | None
    note: str | None
    result: str | None = None
    error: str | None = None


class DeleteOffsetRow(NamedTuple):
    """One commit of ``delete-offsets``."""

    group: str
    topic: str
    partition: int
    current_offset: int | None
    result: str | None = None
    error: str | None = None


class DeleteRow(NamedTuple):
    """One group of ``delete``; ``commits`` counts the partitions whose offsets go with it. Or an internal topic of a
    streams group, which goes with it too."""

    group: str
    state: str
    type: str | None
    protocol_type: str
    commits: int | None
    result: str | None = None
    error: str | None = None
    internal_topic: str | None = None


class RemoveMemberRow(NamedTuple):
    """One member of ``remove-members``; ``partitions`` counts its assignment."""

    group: str
    consumer_id: str
    group_instance_id: str | None
    host: str
    client_id: str
    partitions: int | None
    result: str | None = None
    error: str | None = None


DELETED_TOPIC = "internal topic: deleted, with all that is in it"

ResultAndError = tuple[str | None, str | None]
"""Result and error of what was executed."""
NOT_EXECUTED: ResultAndError = (None, None)


def result_and_error(result: Result, failure: Failure | None) -> ResultAndError:
    return result.value, failure.message if failure else None


def reset_row(entry: PlannedOffset, told: ResultAndError = NOT_EXECUTED) -> ResetRow:
    return ResetRow(*entry.key, entry.old, entry.new, entry.distance, entry.note, *told)


def delete_offset_row(entry: PlannedOffset, told: ResultAndError = NOT_EXECUTED) -> DeleteOffsetRow:
    return DeleteOffsetRow(*entry.key, entry.old, *told)


def delete_row(doomed: GroupDeletion, told: ResultAndError = NOT_EXECUTED) -> DeleteRow:
    group = doomed.group
    # Of a share group there are partitions that nobody has read yet.
    count = sum(commit is not None for commit in doomed.commits.values())
    return DeleteRow(group.group_id, group.state, group.type, group.protocol_type, count, *told)


def delete_topic_row(doomed: TopicDeletion, told: ResultAndError = NOT_EXECUTED) -> DeleteRow:
    group = doomed.group
    return DeleteRow(group.group_id, group.state, group.type, group.protocol_type, None, *told, doomed.topic)


def reset_topic_row(doomed: TopicDeletion, told: ResultAndError = NOT_EXECUTED) -> ResetRow:
    return ResetRow(doomed.group.group_id, doomed.topic, None, None, None, None, DELETED_TOPIC, *told)


def remove_member_row(leaver: MemberRemoval, told: ResultAndError = NOT_EXECUTED) -> RemoveMemberRow:
    member = leaver.member
    who = (member.member_id, member.instance_id, member.host, member.client_id, member.assignment.size)
    return RemoveMemberRow(leaver.group_id, *who, *told)
