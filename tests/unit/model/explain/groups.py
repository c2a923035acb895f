"""Groups to be explained."""

from __future__ import annotations

from collections.abc import Mapping

from kgroups.model.assignment import Assignment, Subscription, assignment_of
from kgroups.model.assignors.shape import Topic
from kgroups.model.cluster import Node
from kgroups.model.explain.facts import GroupFacts, Placement
from kgroups.model.groups import Group, Member

NODE = Node(1, "b", 9092)
Held = Mapping[str, tuple[int, ...]]


def member(name: str, held: Held | None = None, topics: tuple[str, ...] = ("t",), **rest: object) -> Member:
    """One that asks for ``t``, in 20 bytes."""
    fields: dict[str, object] = {
        "subscription": Subscription(topics, version=3),
        "metadata_bytes": 20,
        "assignment_bytes": 30,
        **rest,
    }
    return Member(name, "client", "/10.0.0.1", _assignment(held), **fields)  # type: ignore[arg-type]


def _assignment(held: Held | None) -> Assignment:
    return assignment_of((held or {}).items())


def facts(*members: Member, partitions: int | Mapping[str, int] = 4, **rest: object) -> GroupFacts:
    """A classic group on the topic ``t``, or on several."""
    counts = {"t": partitions} if isinstance(partitions, int) else partitions
    fields: dict[str, object] = {
        "type": "Classic",
        "state": "Stable",
        "protocol_type": "consumer",
        "protocol": "range",
        "coordinator": NODE,
    }
    others = {name: rest.pop(name) for name in ("missing", "undescribed", "limits", "placement") if name in rest}
    group = Group("g", members=members, **{**fields, **rest})  # type: ignore[arg-type]
    topics = {name: Topic(count, number) for number, (name, count) in enumerate(counts.items())}
    answer = {"placement": Placement("FindCoordinator v6", 7, 50, 1), "topics": topics, **others}
    return GroupFacts(group, **answer)  # type: ignore[arg-type]
