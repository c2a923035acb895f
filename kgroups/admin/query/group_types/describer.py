"""How groups of one kind are described."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId
from kgroups.net.cluster import Cluster

from ...routing.ask_coordinators import Question

T = TypeVar("T")


class Describer(Generic[T]):
    """The question, and the ``group`` that an answer to it makes. ``since``: the first Kafka that can be asked it.
    ``complete`` finds out of all groups what no answer to the question tells.

    No NamedTuple: to make one takes time in every command.
    """

    __slots__ = ("complete", "group", "question", "since")

    def __init__(
        self,
        question: Question[T],
        group: Callable[[GroupId, Node, T], Group],
        since: str,
        complete: Callable[[Cluster, Sequence[Group]], Awaitable[list[Group]]] | None = None,
    ) -> None:
        self.question = question
        self.group = group
        self.since = since
        self.complete = complete
