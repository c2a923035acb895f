"""Items of outcomes that only the Python API has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit
from kgroups.model.operations.results import GroupDeletion

T = TypeVar("T")


class InCluster(NamedTuple, Generic[T]):
    """An item, and the profile of its cluster."""

    cluster: str
    item: T


class PlannedDeletion(NamedTuple):
    """A group that can be deleted.

    Attributes:
        planned: The described group, with its committed offsets.
    """

    planned: GroupDeletion

    @property
    def group(self) -> GroupId:
        """The group ID."""
        return self.planned.group.group

    @property
    def commits(self) -> Mapping[tuple[str, int], Commit | None]:
        """The committed offsets that are deleted with the group, by topic and partition."""
        return self.planned.commits
