"""Members that subscribe to a topic that does not exist: only offsets and owners show that it was deleted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember

Run = Callable[..., tuple[int, str, str]]


def subscribed(fake: FakeCluster) -> None:
    fake.state.topic("t", [0, 1], end=100)
    read = {("t", 0): 100, ("t", 1): 100}
    for kind in ("Consumer", "Classic"):
        waits = FakeMember(f"{kind}-1", {"t": (0, 1), "nope": ()})
        fake.state.group(f"waits-{kind}", 0, state="Stable", type=kind, members=(waits,), commits=read)
    owns = FakeMember("o-1", {"t": (0, 1), "gone": (0,)})
    fake.state.group("owns", 1, state="Stable", members=(owns,), commits=read)
    fake.state.group("read", 1, commits={("gone", 0): 5})


@pytest.fixture
def served(serve: Callable) -> Any:
    return serve(fill=subscribed)


STATUSES = {
    "waits-Consumer": "missing topic",
    "waits-Classic": "missing topic",
    "owns": "deleted topic",
    "read": "deleted topic",
}


def test_status_says_deleted_only_if_the_topic_is_known_to_have_existed(run_cli: Run, served: Any) -> None:
    _, out, err = run_cli("lag", "-b", served.bootstrap, "-o", "json")
    assert {item["group"]: item["status"] for item in json.loads(out)["items"]} == STATUSES, err
    _, out, _ = run_cli("explain", "-b", served.bootstrap, *STATUSES, "-o", "json")
    found = {item["group"]: item["summary"] for item in json.loads(out)["items"]}
    assert {name: each["status"] for name, each in found.items()} == STATUSES
    assert found["waits-Consumer"]["next"] == "kgroups describe waits-Consumer --members"

    _, out, err = run_cli("explain", "-b", served.bootstrap, "waits-Consumer")
    assert "members subscribe to a topic that does not exist (deleted, or never created): nope" in out
    _, out, _ = run_cli("explain", "-b", served.bootstrap, "waits-Consumer", "--lagging")
    assert "WARNING: missing-partition" in out and "its topic was deleted, or never created" in out


def test_check_does_not_call_a_topic_deleted_that_may_never_have_existed(run_cli: Run, served: Any) -> None:
    code, out, _ = run_cli("check", "-b", served.bootstrap, "waits-Consumer", "--max-lag", "5")
    assert code == 3 and "unknown on 1: the topic or partition does not exist" in out
    code, out, _ = run_cli("check", "-b", served.bootstrap, "waits-Consumer", "--assigned")
    assert code == 2 and "not exist (deleted, or never created): nope" in out and "not assigned" not in out
    code, out, _ = run_cli("check", "-b", served.bootstrap, "owns", "read", "--assigned")
    assert code == 2 and "1 partition not assigned: gone-0" in out
