"""Three brokers, one of which hangs: from the beginning, or after it has listed its groups."""

from __future__ import annotations

from .broker import FakeCluster, silence
from .cluster_state import FakeMember

GROUPS = 30
HUNG = 2
TIMEOUT = 2.0
"""Seconds of virtual time: shorter than ``--broker-timeout``."""
ANSWERING = [f"g{at:02}" for at in range(GROUPS) if at % 3 != HUNG]
SILENT = [f"g{at:02}" for at in range(GROUPS) if at % 3 == HUNG]


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1, HUNG], end=100)
    for at in range(GROUPS):
        members = (FakeMember("m", {"orders": (0, 1, 2)}),)
        commits = {("orders", partition): at for partition in range(3)}
        fake.state.group(f"g{at:02}", at % 3, state="Stable", members=members, commits=commits)


def hung(fake: FakeCluster) -> None:
    shop(fake)
    fake.brokers[HUNG].fault("*", silence)


def hung_after_the_list(fake: FakeCluster) -> None:
    """Let the broker hang after it has listed its groups."""
    shop(fake)
    for api in ("DescribeGroups", "OffsetFetch", "ListOffsets"):
        fake.brokers[HUNG].fault(api, silence)


HUNG_CLUSTERS = (hung, hung_after_the_list)
