"""A program that uses the Python API; mypy checks it as strictly as kgroups itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_type

import pytest

from kgroups import (
    AppliedOffset,
    Cluster,
    Commit,
    DeletedGroup,
    Failure,
    FromPlan,
    Group,
    GroupLagRow,
    Limits,
    ListedGroup,
    MemberLagRow,
    OffsetRow,
    Outcome,
    PartialFailure,
    PartitionLagRow,
    PlannedDeletion,
    PlannedOffset,
    Reason,
    Report,
    Result,
    Severity,
    Threshold,
    TopicLagRow,
)
from tests.fakes.broker import FakeCluster
from tests.unit.conftest import Served


def fill(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    fake.state.group("a", 0, commits={("orders", 0): 90, ("orders", 1): 80})
    fake.state.group("b", 1, commits={("orders", 1): 1})


def test_types_of_results(serve: Callable[..., Served]) -> None:
    with Cluster(serve(fill=fill).bootstrap) as cluster:
        assert_type(cluster.list(), Outcome[ListedGroup])
        assert_type(cluster.describe("a"), Outcome[Group])
        assert_type(cluster.offsets("a"), Outcome[OffsetRow])
        assert_type(cluster.lag(), Outcome[GroupLagRow])
        assert_type(cluster.lag(by="topic"), Outcome[TopicLagRow])
        assert_type(cluster.lag(by="partition", time=True), Outcome[PartitionLagRow])
        assert_type(cluster.lag(by="member"), Outcome[MemberLagRow])
        report = assert_type(cluster.check("a", limits=Limits(lag=Threshold(critical=10))), Report)
        assert report.severity is Severity.CRITICAL and [each.group for each in report.bad] == ["a"]


def test_explicit_offsets_are_planned_written_and_undone(serve: Callable[..., Served]) -> None:
    with Cluster(serve(fill=fill).bootstrap) as cluster:
        offsets = FromPlan({("a", "orders", 0): 11, ("a", "orders", 1): Commit(1, 12, metadata="by hand")})
        plan = assert_type(cluster.plan_reset("a", to=offsets), Outcome[PlannedOffset])
        assert [(each.group, each.topic, each.partition, each.old, each.new) for each in plan] == [
            ("a", "orders", 0, 90, 11),
            ("a", "orders", 1, 80, 12),
        ]
        done = assert_type(cluster.apply(plan.items, force=True), Outcome[AppliedOffset])
        assert [(each.group, each.topic, each.partition, each.old, each.new, each.result) for each in done] == [
            ("a", "orders", 0, 90, 11, Result.APPLIED),
            ("a", "orders", 1, 80, 12, Result.APPLIED),
        ]
        restored = assert_type(cluster.undo(done), Outcome[AppliedOffset])
        assert [each.new for each in restored] == [90, 80]


def test_missing_group_is_a_failure_with_a_reason(serve: Callable[..., Served]) -> None:
    with Cluster(serve(fill=fill).bootstrap) as cluster:
        plan = assert_type(cluster.plan_delete("b"), Outcome[PlannedDeletion])
        deleted = assert_type(cluster.delete(*plan, force=True), Outcome[DeletedGroup])
        assert [(each.group, each.result) for each in deleted] == [("b", Result.APPLIED)]
        for outcome in (cluster.describe("nope"), cluster.lag("nope"), cluster.plan_reset("nope", to=offsets_of())):
            (failure,) = outcome.failures
            assert_type(failure, Failure)
            assert (failure.name, failure.reason) == ("nope", Reason.GROUP_NOT_FOUND)


def test_missing_topic_is_a_failure(serve: Callable[..., Served]) -> None:
    with Cluster(serve(fill=fill).bootstrap) as cluster:
        for outcome in (
            cluster.lag(topics=["nope"]),
            cluster.offsets(topics=["nope"]),
            cluster.describe(topics=["nope"]),
        ):
            assert [(each.name, each.reason) for each in outcome.failures] == [("nope", Reason.TOPIC_NOT_FOUND)]
        assert not cluster.lag(topics=["orders"]).failures


def test_raised_failure_has_the_reason_and_the_hint_of_the_first(serve: Callable[..., Served]) -> None:
    with (
        Cluster(serve(fill=fill).bootstrap) as cluster,
        pytest.raises(PartialFailure, match="does not exist") as raised,
    ):
        cluster.lag("a*").raise_for_failures()
    assert raised.value.reason is Reason.GROUP_NOT_FOUND and "regex=" in (raised.value.hint or "")


def offsets_of() -> FromPlan:
    return FromPlan({("nope", "orders", 0): 11})
