"""The planned changes to groups, and their results, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from types import MappingProxyType
from typing import NamedTuple

from kgroups.deprecation import warn_once

from ..groups import Group, GroupId, Member
from ..offsets import Commit
from ..outcome import Failure, Result
from .reset import PlannedOffset, SeenLog


class AppliedOffset(NamedTuple):
    """A planned offset after execution.

    ``failure`` is why it was not applied, or why that is unknown; of an applied one, what another client committed.
    """

    planned: PlannedOffset
    result: Result
    failure: Failure | None = None
    left_alone: bool = False
    """Whether it was not sent, because its group is not as planned."""

    @property
    def group(self) -> GroupId:
        """The group ID, as rows and JSON name it."""
        return self.planned.group

    @property
    def topic(self) -> str:
        return self.planned.topic

    @property
    def partition(self) -> int:
        return self.planned.partition

    @property
    def old(self) -> int | None:
        """The committed offset before; ``None``: there was none."""
        return self.planned.old

    @property
    def new(self) -> int | None:
        """The planned offset; ``None``: the commit is deleted."""
        return self.planned.new


class DeletedOffset(NamedTuple):
    """A partition whose commit was to be deleted, if any; without a partition, a topic with unknown partitions."""

    group: GroupId
    topic: str
    partition: int | None
    failure: Failure | None = None


class DeletedTopicOffsets(NamedTuple):
    """A topic whose start offsets, of all partitions, were to be deleted from a share group."""

    group: GroupId
    topic: str
    failure: Failure | None = None


class GroupDeletion(NamedTuple):
    """A group to delete, and the commits that are deleted with it, by topic and partition."""

    group: Group
    commits: Mapping[tuple[str, int], Commit | None]
    topic_ids: Mapping[str, int] = MappingProxyType({})
    pending: Set[tuple[str, int]] = frozenset()
    """The partitions with an offset in an open transaction."""

    def as_plan(self) -> Iterator[PlannedOffset]:
        """Yield its commits as offsets to delete, sorted, for an undo file."""
        for (topic, partition), commit in sorted(self.commits.items()):
            seen = SeenLog(self.topic_ids.get(topic))
            pending = (topic, partition) in self.pending
            yield PlannedOffset(
                self.group.group, topic, partition, commit, None, kind=self.group.type, seen=seen, pending=pending
            )


class DeletedGroup(NamedTuple):
    """A group after the attempt to delete it."""

    group: GroupId
    result: Result
    failure: Failure | None = None

    @property
    def group_id(self) -> GroupId:
        """The group ID; deprecated: use ``group``."""
        warn_once("kgroups.DeletedGroup.group_id", "kgroups.DeletedGroup.group")
        return self.group


class TopicDeletion(NamedTuple):
    """An internal topic of a streams group to delete, with all its records."""

    group: Group
    topic: str


class DeletedTopic(NamedTuple):
    """An internal topic after the attempt to delete it."""

    group: GroupId
    topic: str
    result: Result
    failure: Failure | None = None


class MemberRemoval(NamedTuple):
    """A member to remove from its group: by its instance ID if it has one, otherwise by its member ID."""

    group: GroupId
    member: Member


class RemovedMember(NamedTuple):
    """A member after the attempt to remove it."""

    removal: MemberRemoval
    result: Result
    failure: Failure | None = None
