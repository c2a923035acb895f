"""The interface that describes groups of one type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId
from kgroups.net.cluster import Cluster

from ...routing.query_coordinators import GroupQuery

if TYPE_CHECKING:
    from kgroups.protocol.apis.consumer_group_describe import ConsumerGroup
    from kgroups.protocol.apis.share_group_describe import ShareGroup
    from kgroups.protocol.apis.streams_group_describe import StreamsGroup

T = TypeVar("T")


class Describer(Generic[T]):
    """Describes the groups of one type. Not a NamedTuple: to define one takes time in every command."""

    __slots__ = ("complete", "group", "query", "since")

    def __init__(
        self,
        query: GroupQuery[T],
        group: Callable[[GroupId, Node, T], Group],
        since: str,
        complete: Callable[[Cluster, Sequence[Group]], Awaitable[list[Group]]] | None = None,
    ) -> None:
        """Create a describer.

        :param group: makes a group from a result of the query.
        :param since: the first Kafka version with the API.
        :param complete: adds to all groups what no response to the query contains.
        """
        self.query = query
        self.group = group
        self.since = since
        self.complete = complete


def group_with_epochs(
    type_: str, protocol_type: str, name: GroupId, node: Node, group: ConsumerGroup | ShareGroup | StreamsGroup
) -> Group:
    """Return a group whose coordinator computes the assignment (KIP-848, KIP-932, KIP-1071)."""
    return Group(
        group=name,
        type=type_,
        state=group.state,
        protocol_type=protocol_type,
        protocol=group.assignor or "",
        coordinator=node,
        members=group.members,
        group_epoch=group.group_epoch,
        target_assignment_epoch=group.assignment_epoch,
    )
