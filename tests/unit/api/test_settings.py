"""Settings of groups through the Python API: shown, planned, written, and restored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgroups import Cluster, UsageError
from tests.fakes.broker import FakeCluster
from tests.fakes.serving import serving

TIMEOUT, LOCKS = "consumer.session.timeout.ms", "share.partition.max.record.locks"


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    cluster = FakeCluster(2, "4.3.1")
    cluster.state.group("a", 0)
    cluster.state.group("b", 1)
    cluster.state.settings[""] = {TIMEOUT: "45000", LOCKS: "2000"}
    cluster.state.settings["b"] = {TIMEOUT: "50000"}
    with serving(cluster):
        yield cluster


def test_settings_are_described_with_their_origin(cluster: Cluster) -> None:
    rows = cluster.describe_settings(all_groups=True, keys=["consumer.*"]).raise_for_failures()
    assert [(row.group, row.value, row.origin, row.inherited) for row in rows] == [
        ("a", "45000", "static-broker", "45000"),
        ("b", "50000", "dynamic-group", "45000"),
    ]
    only = cluster.describe_settings("a", "b", overridden=True)
    assert [(each["group"], each["key"], each["value"]) for each in only.to_dicts()] == [("b", TIMEOUT, "50000")]


def test_plan_is_written_and_undone(fake: FakeCluster, cluster: Cluster) -> None:
    plan = cluster.plan_settings("a", "b", values={TIMEOUT: None, LOCKS: 300}).raise_for_failures()
    assert [(each.group, each.name, each.old, each.new) for each in plan] == [
        ("a", LOCKS, None, "300"),
        ("b", TIMEOUT, "50000", None),
        ("b", LOCKS, None, "300"),
    ]
    assert "a" not in fake.state.settings, "a plan changes nothing"
    done = cluster.alter_settings(plan.items).raise_for_failures()
    assert [each["result"] for each in done.to_dicts()] == ["applied"] * 3
    assert (fake.state.settings["a"], fake.state.settings["b"]) == ({LOCKS: "300"}, {LOCKS: "300"})
    restored = cluster.undo(done).raise_for_failures()
    assert [(each.group, each.result.value) for each in restored] == [("a", "applied"), *[("b", "applied")] * 2]
    assert (fake.state.settings["a"], fake.state.settings["b"]) == ({}, {TIMEOUT: "50000"})


def test_settings_that_changed_since_are_left_alone(fake: FakeCluster, cluster: Cluster) -> None:
    plan = cluster.plan_settings("a", "b", values={LOCKS: 300})
    fake.state.settings["b"][LOCKS] = "7"
    done = cluster.alter_settings(plan.items)
    assert [(each.group, each.result.value) for each in done] == [("a", "applied"), ("b", "failed")]
    assert "has changed since the plan was made" in done.failures[0].message
    fake.state.settings["a"][LOCKS] = "8"
    restored = cluster.undo(done)
    assert (restored.items, fake.state.settings["a"][LOCKS], fake.state.settings["b"][LOCKS]) == ((), "8", "7")
    assert "has changed since: 300 was written, now 8" in restored.failures[0].message


def test_rejected_value_and_unknown_setting_are_failures_of_the_plan(cluster: Cluster) -> None:
    plan = cluster.plan_settings("a", values={TIMEOUT: "invalid"})
    assert (plan.items, [each.name for each in plan.failures]) == ((), ["a"])
    assert "no such setting" in cluster.plan_settings("a", values={"no.such": None}).failures[0].message


@pytest.mark.parametrize(
    "values", [{}, "x=1", {TIMEOUT: 1.5}, {"": "1"}, {1: "1"}, {TIMEOUT: "\udc80"}, [(TIMEOUT, "1")]]
)
def test_invalid_values_are_rejected(cluster: Cluster, values: Any) -> None:
    with pytest.raises(UsageError, match="values"):
        cluster.plan_settings("a", values=values)


def test_outcome_is_not_a_plan(cluster: Cluster) -> None:
    plan: Any = cluster.plan_settings("a", values={LOCKS: True})
    assert plan.items[0].new == "true"
    with pytest.raises(UsageError, match=r"plan\.items"):
        cluster.alter_settings(plan)
    with pytest.raises(UsageError, match="list of PlannedSetting"):
        cluster.alter_settings(["a"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="alter_settings, not its items"):
        cluster.undo(plan)


def test_settings_of_a_snapshot_are_planned(fake: FakeCluster, cluster: Cluster, tmp_path: Path) -> None:
    fake.state.group("c", 0, type="Consumer")
    fake.state.settings["c"] = {TIMEOUT: "50000"}
    cluster.save_snapshot(tmp_path / "saved", "c").raise_for_failures()
    fake.state.settings["c"] = {TIMEOUT: "60000", LOCKS: "1"}
    plan = cluster.plan_restore_settings(tmp_path / "saved", exact=True).raise_for_failures()
    assert [(each.name, each.old, each.new) for each in plan] == [(TIMEOUT, "60000", "50000"), (LOCKS, "1", None)]
    with pytest.raises(UsageError, match="no group 'a' in this snapshot"):
        cluster.plan_restore_settings(tmp_path / "saved", "a")
