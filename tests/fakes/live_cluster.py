"""A fake cluster with groups of every type for the live tables: two coordinators, three topics, no faults."""

from __future__ import annotations

from .broker import FakeCluster
from .cluster_state import FakeMember


def live_cluster(versions: str | dict[int, str] = "4.3.1", brokers: int = 2) -> FakeCluster:
    fake = FakeCluster(brokers, versions)
    fill_live(fake, modern=versions == "4.3.1")
    return fake


def fill_live(fake: FakeCluster, *, modern: bool = True) -> None:
    fake.state.topic("t", [0, 1], start=10, end=100)
    fake.state.topic("u", [1], end=50, stable=40)
    fake.state.topic("__consumer_offsets", [0, 1])
    both = (
        FakeMember("m-1", {"t": (0, 1)}, client_id="one", instance_id="static-1"),
        FakeMember("m-2", {"u": (0,)}, client_id="two"),
    )
    fake.state.group("orders", 0, state="Stable", members=both, commits={("t", 0): 60, ("u", 0): 50})
    fake.state.group("orders-old", 1, commits={("t", 0): 5, ("t", 1): 100})
    fake.state.group("idle", 1, state="Stable", members=(FakeMember("m-3"),))
    fake.state.group("connect", 0, protocol_type="connect", state="Stable", members=(FakeMember("w", garbage=b"?"),))
    if modern:
        member = (FakeMember("m-4", {"t": (0,), "u": (0,)}),)
        fake.state.group("new", 1, type="Consumer", state="Reconciling", members=member, commits={("t", 0): 99})
        fake.state.group("share", 0, type="Share", protocol_type="share", state="Stable")
