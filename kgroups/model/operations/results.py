"""What acts on groups came to, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..groups import Group, GroupId, Member
from ..offsets import Commit
from ..outcome import Failure, Result
from .reset import PlannedOffset


class AppliedOffset(NamedTuple):
    """A planned offset after its execution; ``failure`` says why it is not applied, or not known to be."""

    planned: PlannedOffset
    result: Result
    failure: Failure | None = None

    @property
    def group(self) -> GroupId:
        """The group ID, by the name that rows and JSON use."""
        return self.planned.group_id


class DeletedOffset(NamedTuple):
    """A partition whose commit was to go, whatever it was; without a partition, a topic that could not be looked up."""

    group_id: GroupId
    topic: str
    partition: int | None
    failure: Failure | None = None


class ForgottenTopic(NamedTuple):
    """A topic of which a share group was to forget where it starts, in all partitions."""

    group_id: GroupId
    topic: str
    failure: Failure | None = None


class GroupDeletion(NamedTuple):
    """A group that is to be deleted, and the commits that go with it, by topic and partition."""

    group: Group
    commits: Mapping[tuple[str, int], Commit | None]

    def as_plan(self) -> Iterator[PlannedOffset]:
        """Its commits as offsets that go, sorted: what an undo file is made of."""
        for (topic, partition), commit in sorted(self.commits.items()):
            yield PlannedOffset(self.group.group_id, topic, partition, commit, None, kind=self.group.type)


class DeletedGroup(NamedTuple):
    """A group after the attempt to delete it."""

    group_id: GroupId
    result: Result
    failure: Failure | None = None

    @property
    def group(self) -> GroupId:
        """The group ID, by the name that rows and JSON use."""
        return self.group_id


class TopicDeletion(NamedTuple):
    """An internal topic of a streams group that is to be deleted, with all that is in it."""

    group: Group
    topic: str


class DeletedTopic(NamedTuple):
    """Such a topic after the attempt to delete it."""

    group_id: GroupId
    topic: str
    result: Result
    failure: Failure | None = None


class MemberRemoval(NamedTuple):
    """A member that is to be removed from its group: by its instance id where it has one, else by its own."""

    group_id: GroupId
    member: Member


class RemovedMember(NamedTuple):
    """A member after the attempt to remove it."""

    leaver: MemberRemoval
    result: Result
    failure: Failure | None = None
