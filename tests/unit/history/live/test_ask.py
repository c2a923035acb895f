"""Sweep, samples, and descriptions of a cluster over fake brokers that fail on demand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from kio.schema.errors import ErrorCode

from kgroups.errors import ClusterUnreachable
from kgroups.history.arrow import arrow_schema
from kgroups.history.live.ask import cluster_id, sample_heads, sweep
from kgroups.history.live.wire_session import WireSession
from kgroups.history.tables import BASELINE, HEADS, SWEEPS
from tests.fakes.broker import FakeCluster, is_probe
from tests.fakes.live_cluster import live_cluster
from tests.fakes.serving import serving

Rows = list[dict[str, Any]]


def swept(fake: FakeCluster) -> Rows:
    with serving(fake), WireSession(fake.settings()) as session:
        batch = sweep(session).baseline
    return checked(batch, BASELINE, "swept_at")


def sampled(fake: FakeCluster, **wanted: set[int]) -> Rows:
    with serving(fake), WireSession(fake.settings()) as session:
        batch = sample_heads(session, wanted)
    return checked(batch, HEADS, "sampled_at")


def checked(batch: pa.RecordBatch, table: Any, clock: str) -> Rows:
    """Its rows without their time, which is one for all, and now."""
    batch.validate(full=True)
    assert batch.schema == arrow_schema(table)
    rows: Rows = batch.to_pylist()
    times = {row.pop(clock) for row in rows}
    assert len(times) == min(1, len(rows))
    assert all(timedelta(0) <= datetime.now(UTC) - time < timedelta(minutes=1) for time in times)
    return rows


def test_sweep_has_every_commit_and_every_group_without_any() -> None:
    rows = swept(live_cluster())
    assert [(r["group"], r["kind"], r["state"], r["topic"], r["partition"], r["committed_offset"]) for r in rows] == [
        ("connect", "classic", "Stable", None, None, None),
        ("idle", "classic", "Stable", None, None, None),
        ("new", "consumer", "Reconciling", "t", 0, 99),
        ("orders", "classic", "Stable", "t", 0, 60),
        ("orders", "classic", "Stable", "u", 0, 50),
        ("orders-old", "classic", "Empty", "t", 0, 5),
        ("orders-old", "classic", "Empty", "t", 1, 100),
        ("share", "share", "Stable", None, None, None),
    ]
    assert {row["complete"] for row in rows} == {True}
    assert [(row["protocol_type"], row["leader_epoch"], row["metadata"]) for row in rows[:3]] == [
        ("connect", None, None),
        ("consumer", None, None),
        ("consumer", 4, ""),
    ]


@pytest.mark.parametrize("version", ["1.1.1", "2.5.1", "3.9.1"])
def test_sweep_of_old_brokers_has_states_but_not_always_types(version: str) -> None:
    rows = swept(live_cluster(version))
    assert {row["group"]: row["state"] for row in rows}["orders"] == "Stable"
    assert {row["kind"] for row in rows} == ({"classic"} if version >= "3.8" else {None})


def test_sweep_sends_no_describe_and_no_lookup() -> None:
    fake = live_cluster()
    swept(fake)
    asked = [request for request in fake.requests if not is_probe(request)]
    assert {request.api for request in asked} == {
        "ApiVersions", "Metadata", "ListGroups", "OffsetFetch", "DescribeConfigs",
    }  # fmt: skip


def test_sweep_omits_unauthorized_group_and_is_incomplete() -> None:
    """Its commits are unknown, so absent rows prove nothing."""
    fake = live_cluster()
    fake.state.fail("OffsetFetch", "orders", ErrorCode.group_authorization_failed)
    rows = swept(fake)
    assert "orders" not in {row["group"] for row in rows} and len(rows) == 6
    assert {row["complete"] for row in rows} == {False}


def test_sweep_without_describe_on_cluster_is_incomplete() -> None:
    """Brokers omit groups without an error, so absent rows prove nothing."""
    fake = live_cluster()
    fake.state.operations = 0
    assert {row["complete"] for row in swept(fake)} == {False}


def test_sweep_with_stopped_broker_is_incomplete() -> None:
    fake = live_cluster()
    fake.brokers[1].alive = False
    rows = swept(fake)
    assert {row["group"] for row in rows} == {"connect", "orders", "share"}
    assert {row["complete"] for row in rows} == {False}


def test_sweep_with_leaderless_coordinator_is_incomplete() -> None:
    fake = live_cluster()
    fake.state.topic("__consumer_offsets", [0, -1])
    assert {row["complete"] for row in swept(fake)} == {False}


def test_sweep_of_an_empty_cluster_is_an_empty_batch() -> None:
    assert swept(FakeCluster(1)) == []


def summary(fake: FakeCluster) -> dict[str, Any]:
    with serving(fake), WireSession(fake.settings()) as session:
        (row,) = checked(sweep(session).summary, SWEEPS, "swept_at")
    return row


def test_sweep_of_no_group_has_a_summary_with_the_retention_time() -> None:
    fake = FakeCluster(1)
    fake.state.settings["0"] = {"offsets.retention.minutes": "2"}
    expected = {"complete": True, "groups": 0, "offsets_retention_ms": 120_000, "reason": None}
    assert summary(fake) == expected


def test_sweep_without_permission_for_the_retention_time_has_the_reason() -> None:
    fake = live_cluster()
    for broker in fake.brokers:
        fake.state.fail("DescribeConfigs", str(broker), ErrorCode.cluster_authorization_failed)
    row = summary(fake)
    assert (row["complete"], row["groups"], row["offsets_retention_ms"]) == (True, 6, None)
    assert row["reason"] == "not authorized: needs the ACL DESCRIBE_CONFIGS on the cluster"


def test_unreachable_cluster_is_an_error() -> None:
    fake = live_cluster()
    with serving(fake):
        session = WireSession(fake.settings())
    with session:
        for query in (sweep, cluster_id, lambda s: sample_heads(s, {"t": [0]})):
            with pytest.raises(ClusterUnreachable, match="no bootstrap server responded"):
                query(session)


def test_cluster_id_is_read() -> None:
    with serving(live_cluster()) as fake, WireSession(fake.settings()) as session:
        assert cluster_id(session) == "fake-cluster"


def test_sample_heads_has_start_and_end_of_every_partition() -> None:
    assert sampled(live_cluster(), u={0}, t={1, 0}) == [
        {"topic": "t", "partition": 0, "log_start": 10, "log_end": 100, "error": None},
        {"topic": "t", "partition": 1, "log_start": 10, "log_end": 100, "error": None},
        {"topic": "u", "partition": 0, "log_start": 0, "log_end": 50, "error": None},
    ]


def test_sample_heads_reports_each_failed_partition() -> None:
    fake = live_cluster()
    fake.state.topic("t", [0, -1, 0], start=10, end=100)
    fake.state.fail("ListOffsets", "t-2", ErrorCode.topic_authorization_failed)
    rows = sampled(fake, t={0, 1, 2, 7}, gone={3})
    known = [(row["topic"], row["partition"]) for row in rows if row["log_end"] is not None]
    assert known == [("t", 0)]
    assert [(row["topic"], row["partition"], bool(row["error"])) for row in rows] == [
        ("gone", 3, True),
        ("t", 0, False),
        ("t", 1, True),
        ("t", 2, True),
        ("t", 7, True),
    ]


def test_sample_heads_of_nothing_is_empty() -> None:
    assert sampled(live_cluster()) == []
