"""A fake cluster with streams groups: one that runs, two that are empty."""

from __future__ import annotations

from kgroups.model.streams import AssignedTasks, InternalTopic, Pairs, Subtopology, SubtopologyTasks, Tasks

from .broker import FakeCluster
from .cluster_state import FakeMember

RUNNING, IDLE, OTHER = "app", "old", "older"


def tasks(**subtopologies: tuple[int, ...]) -> Tasks:
    """``tasks(s0=(0, 1))``: of subtopology 0, on partitions 0 and 1."""
    return Tasks(tuple(SubtopologyTasks(name.removeprefix("s"), found) for name, found in subtopologies.items()))


def topology(group: str) -> tuple[Subtopology, ...]:
    """Reads ``orders``, of four partitions, and ``small``, of one; counts by way of a repartition topic."""
    repartition = InternalTopic(f"{group}-x-repartition", 2, -1, Pairs((("retention.ms", "-1"),)))
    changelog = InternalTopic(f"{group}-x-changelog", 2, 3, Pairs((("cleanup.policy", "compact"),)))
    return (
        Subtopology("0", ("orders", "small"), (), (repartition.name,), ()),
        Subtopology("1", (), (repartition,), (), (changelog,)),
    )


def open_shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1, 0, 1], end=100)
    fake.state.topic("small", [0], end=10)
    for name in (RUNNING, IDLE, OTHER):
        for kind in ("repartition", "changelog"):
            fake.state.topic(f"{name}-x-{kind}", [0, 1], end=50)
    first = AssignedTasks(tasks(s0=(0, 2), s1=(0,)), tasks(s1=(1,)))
    second = AssignedTasks(tasks(s0=(1, 3), s1=(1,)), tasks(), tasks(s1=(0,)))
    members = (FakeMember("m-1", tasks=first), FakeMember("m-2", tasks=second))
    streams = {"type": "Streams", "protocol_type": "streams"}
    for name, coordinator, state in ((RUNNING, 0, "Stable"), (IDLE, 1, "Empty"), (OTHER, 0, "Empty")):
        fake.state.group(
            name,
            coordinator,
            state=state,
            members=members if state == "Stable" else (),
            subtopologies=topology(name),
            commits={("orders", 0): 40, ("orders", 1): 50, (f"{name}-x-repartition", 0): 20},
            **streams,
        )
    fake.state.group("plain", 1, commits={("orders", 0): 7})
