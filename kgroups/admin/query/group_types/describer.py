"""How groups of one kind are described."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId
from kgroups.net.cluster import Cluster

from ...routing.query_coordinators import GroupQuery

T = TypeVar("T")


class Describer(Generic[T]):
    """The query, and the ``group`` that an answer to it makes. ``since``: the first Kafka that can be asked it.
    ``complete`` finds out of all groups what no answer to the query tells.

    No NamedTuple: to make one takes time in every command.
    """

    __slots__ = ("complete", "group", "query", "since")

    def __init__(
        self,
        query: GroupQuery[T],
        group: Callable[[GroupId, Node, T], Group],
        since: str,
        complete: Callable[[Cluster, Sequence[Group]], Awaitable[list[Group]]] | None = None,
    ) -> None:
        self.query = query
        self.group = group
        self.since = since
        self.complete = complete
