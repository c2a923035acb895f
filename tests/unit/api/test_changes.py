"""Changes through the Python API: deletions are planned first, and changes can be undone."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgroups import Cluster, Outcome, ToEarliest, ToLatest, UsageError
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.fakes.serving import serving


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    cluster = FakeCluster(2, "4.3.1")
    cluster.state.topic("orders", [0, 1], start=5, end=100)
    cluster.state.topic("refunds", [0], start=0, end=10)
    held = (FakeMember("m-1", {"orders": (0, 1)}),)
    cluster.state.group("active", 0, state="Stable", members=held, commits={("orders", 0): 50, ("refunds", 0): 4})
    cluster.state.group("empty", 1, commits={("orders", 0): 60, ("refunds", 0): 3})
    with serving(cluster):
        yield cluster


def _offsets(fake: FakeCluster, group: str) -> dict[tuple[str, int], int]:
    commits = fake.state.groups[group].commits if group in fake.state.groups else {}
    return {pair: getattr(commit, "offset", commit) for pair, commit in commits.items()}


def test_plan_delete_changes_nothing_and_names_groups_with_members(fake: FakeCluster, cluster: Cluster) -> None:
    plan = cluster.plan_delete(all_groups=True)
    assert [(each.group, len(each.commits)) for each in plan] == [("empty", 2)]
    assert [(each.name, each.error) for each in plan.failures] == [("active", "NON_EMPTY_GROUP")]
    assert set(fake.state.groups) == {"active", "empty"}


def test_delete_of_a_plan_rejects_groups_that_changed(fake: FakeCluster, cluster: Cluster) -> None:
    plan = cluster.plan_delete("empty")
    fake.state.groups["empty"].commits["orders", 0] = 61
    done = cluster.delete(*plan)
    assert [(each.group, each.result.value) for each in done] == [("empty", "failed")]
    assert "offsets have changed" in done.failures[0].message and "empty" in fake.state.groups
    assert [each.result.value for each in cluster.delete(*plan, force=True)] == ["applied"]
    assert "empty" not in fake.state.groups


def test_undo_of_delete_restores_offsets(fake: FakeCluster, cluster: Cluster) -> None:
    before = _offsets(fake, "empty")
    done = cluster.delete("empty").raise_for_failures()
    assert _offsets(fake, "empty") == {}
    restored = cluster.undo(done)
    assert [each.result.value for each in restored] == ["applied", "applied"]
    assert _offsets(fake, "empty") == before


def test_undo_of_apply_restores_offsets(fake: FakeCluster, cluster: Cluster) -> None:
    before = _offsets(fake, "empty")
    done = cluster.apply(cluster.plan_reset("empty", to=ToEarliest()).items)
    assert _offsets(fake, "empty") != before
    assert len(cluster.undo(done)) == 2
    assert _offsets(fake, "empty") == before


def test_undo_leaves_offsets_that_were_committed_since(fake: FakeCluster, cluster: Cluster) -> None:
    done = cluster.apply(cluster.plan_reset("empty", to=ToLatest()).items)
    fake.state.groups["empty"].commits["orders", 0] = 77
    refused = cluster.undo(done)
    assert len(refused) == 0 and "nothing is restored" in refused.failures[0].message
    restored = cluster.undo(done, partial=True)
    assert [(each.planned.topic, each.result.value) for each in restored] == [("refunds", "applied")]
    assert "has changed since: offset 100 was written" in restored.failures[0].message
    assert _offsets(fake, "empty")["orders", 0] == 77


def test_undo_on_another_cluster_is_rejected(fake: FakeCluster, cluster: Cluster) -> None:
    done = cluster.apply(cluster.plan_reset("empty", to=ToEarliest()).items)
    written = _offsets(fake, "empty")
    fake.state.cluster_id = "another-cluster"
    with pytest.raises(UsageError, match="this is cluster another-cluster"):
        cluster.undo(done)
    assert _offsets(fake, "empty") == written


def test_delete_offsets_spares_topics_of_members(fake: FakeCluster, cluster: Cluster) -> None:
    plan = cluster.plan_delete_offsets("active", topics=["orders", "refunds"])
    assert [(each.topic, each.old, each.new) for each in plan] == [("refunds", 4, None)]
    assert [each.error for each in plan.failures] == ["GROUP_SUBSCRIBED_TO_TOPIC"]
    done = cluster.delete_offsets(plan.items)
    assert [each.result.value for each in done] == ["applied"]
    assert ("refunds", 0) not in _offsets(fake, "active")


def test_undo_of_delete_offsets_restores_them(fake: FakeCluster, cluster: Cluster) -> None:
    before = _offsets(fake, "empty")
    done = cluster.delete_offsets(cluster.plan_delete_offsets("empty", topics=["orders:0"]).items)
    assert set(_offsets(fake, "empty")) == {("refunds", 0)}
    cluster.undo(done).raise_for_failures()
    assert _offsets(fake, "empty") == before


def test_changes_reject_invalid_arguments(cluster: Cluster) -> None:
    untyped: Any = cluster
    plan = cluster.plan_reset("empty", to=ToEarliest())
    for call, message in (
        (lambda: untyped.undo(plan), "undo takes the outcome of apply, delete_offsets, delete, or alter_settings"),
        (lambda: untyped.undo(plan.items), "undo takes the outcome of apply"),
        (lambda: untyped.undo(Outcome()), "undo takes the outcome of apply"),
        (lambda: untyped.delete_offsets(plan.items), "delete_offsets takes the items of plan_delete_offsets"),
        (lambda: untyped.plan_delete_offsets("empty", topics=None), "topics must be a list of str"),
        (lambda: untyped.delete(plan), "a group name must be a str, not Outcome"),
        (lambda: untyped.plan_delete(), "no groups selected"),
        (lambda: untyped.apply(plan), "pass the items of the plan"),
        (lambda: Cluster(command_config=5), "command_config must be a str or a path, not int"),  # type: ignore[arg-type]
        (lambda: Cluster("a:1", properties="x"), "properties must be a dict of str to str"),  # type: ignore[arg-type]
    ):
        with pytest.raises(UsageError, match=message):
            call()


@pytest.mark.parametrize("act", ["write_in_chunks.apply_offsets", "delete_in_chunks.delete_groups"])
def test_each_chunk_of_groups_is_checked_right_before_it_is_changed(
    fake: FakeCluster, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    fake.state.group("second", 1, commits={("orders", 0): 60})
    change = pkgutil.resolve_name(f"kgroups.admin.change.apply.{act}")

    async def first_chunk(*given: Any, **rest: Any) -> Any:
        done = await change(*given, **rest)
        fake.state.groups["second"].commits["orders", 0] = 61
        return done

    monkeypatch.setattr(f"kgroups.admin.change.apply.{act}", first_chunk)
    monkeypatch.setattr("kgroups.admin.change.apply.write_in_chunks.FIRST_GROUPS", 1)
    monkeypatch.setattr("kgroups.admin.change.apply.write_in_chunks.GROUPS_AT_ONCE", 1)
    monkeypatch.setattr("kgroups.admin.change.apply.delete_in_chunks.FIRST_GROUPS", 1)
    monkeypatch.setattr("kgroups.admin.change.apply.delete_in_chunks.GROUPS_AT_ONCE", 1)
    done: Outcome[Any]
    if act.endswith("delete_groups"):
        done = cluster.delete("empty", "second")
    else:
        done = cluster.apply(cluster.plan_reset("empty", "second", to=ToEarliest()).items)
    assert [failure.name for failure in done.failures] == ["second"]
    assert "offsets have changed" in done.failures[0].message
    assert _offsets(fake, "second") == {("orders", 0): 61}
    monkeypatch.undo()
    cluster.undo(done)
    assert _offsets(fake, "empty") == {("orders", 0): 60, ("refunds", 0): 3}
    assert _offsets(fake, "second") == {("orders", 0): 61}


def test_delete_of_a_group_that_cannot_be_planned_sends_nothing(fake: FakeCluster, cluster: Cluster) -> None:
    done = cluster.delete("active", "empty", "missing")
    results = {each.group: (each.result.value, each.failure and each.failure.error) for each in done}
    assert results == {
        "active": ("failed", "NON_EMPTY_GROUP"),
        "empty": ("applied", None),
        "missing": ("failed", "GROUP_ID_NOT_FOUND"),
    }
    assert [request.keys for request in fake.asked("DeleteGroups")] == [("empty",)]


def test_snapshot_is_saved_restored_and_undone(fake: FakeCluster, cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "state.snapshot"
    (row,) = cluster.save_snapshot(file, all_groups=True, topics=["orders"]).raise_for_failures()
    assert (row.groups, row.offsets, row.complete) == (2, 2, True)
    before = _offsets(fake, "empty")
    del fake.state.groups["empty"].commits["refunds", 0]
    cluster.apply(cluster.plan_reset("empty", to=ToEarliest()).items)
    fake.state.group("later", 0, commits={("orders", 0): 1})
    plan = cluster.plan_restore(file, "empty")
    assert [(each.group, each.old, each.new) for each in plan] == [("empty", 5, 60)]
    done = cluster.apply(plan.items)
    assert _offsets(fake, "empty") == {("orders", 0): 60} and before["orders", 0] == 60
    cluster.undo(done).raise_for_failures()
    assert _offsets(fake, "empty") == {("orders", 0): 5}
    assert [(each.name, each.error) for each in cluster.plan_restore(file).failures] == [("active", "NON_EMPTY_GROUP")]
    del fake.state.groups["empty"]
    assert not cluster.plan_restore(file, "empty").items
    assert len(cluster.plan_restore(file, "empty", create_group=True).items) == 1


def test_invalid_snapshot_arguments_are_usage_errors(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "state.snapshot"
    with pytest.raises(UsageError, match="nothing was saved"):
        cluster.save_snapshot(file, "nosuch")
    with pytest.raises(UsageError, match="No such file"):
        cluster.plan_restore(file)
    cluster.save_snapshot(file, "empty")
    with pytest.raises(UsageError, match="already exists"):
        cluster.save_snapshot(file, "empty")
    with pytest.raises(UsageError, match="there is no group 'nosuch'"):
        cluster.plan_restore(file, "nosuch")
