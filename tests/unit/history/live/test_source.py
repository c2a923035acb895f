"""The live source without Spark: partitions, rows, requests, and failures."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from pyspark.sql.datasource import DataSourceReader

from kgroups.errors import HistoryError
from kgroups.history.live.source import LiveReader, LiveSource, Slice
from kgroups.history.live.tables import LIVE
from tests.fakes.broker import FakeCluster
from tests.fakes.live_cluster import live_cluster
from tests.fakes.serving import serving

Rows = list[dict[str, Any]]


def reader(fake: FakeCluster, table: str = "offsets", **options: str) -> LiveReader:
    """As a task has it: by way of pickle."""
    servers = fake.settings().bootstrap_servers
    source = LiveSource({"bootstrap.servers": servers, "table": table, "broker.timeout": "3", **options})
    made = source.reader(source.schema())
    found: LiveReader = pickle.loads(pickle.dumps(made))
    return found


def rows_of(made: LiveReader) -> Rows:
    slices: list[Slice] = pickle.loads(pickle.dumps(made.partitions()))
    return [row for each in slices for batch in made.read(each) for row in batch.to_pylist()]


def test_live_source_has_one_partition_per_coordinator() -> None:
    with serving(live_cluster(brokers=3)) as fake:
        slices = reader(fake).partitions()
    assert [(each.coordinator.id, [group.group for group in each.listed]) for each in slices if each.coordinator] == [
        (0, ["connect", "orders", "share"]),
        (1, ["idle", "new", "orders-old"]),
    ]


@pytest.mark.parametrize("table", LIVE)
def test_live_source_lists_once_and_sends_no_lookup(table: str) -> None:
    with serving(live_cluster()) as fake:
        rows_of(reader(fake, table))
    assert len(fake.asked("ListGroups")) == len(fake.brokers)
    assert not fake.asked("FindCoordinator")


def test_live_source_reads_groups_members_and_assignments() -> None:
    with serving(live_cluster()) as fake:
        groups = rows_of(reader(fake, "groups"))
        members = rows_of(reader(fake, "members"))
        assignments = rows_of(reader(fake, "assignments"))
    assert {row["group"]: (row["kind"], row["state"], row["coordinator_id"]) for row in groups} == {
        "connect": ("classic", "Stable", 0),
        "idle": ("classic", "Stable", 1),
        "new": ("consumer", "Reconciling", 1),
        "orders": ("classic", "Stable", 0),
        "orders-old": ("classic", "Empty", 1),
        "share": ("share", "Stable", 0),
    }
    assert {row["member_id"]: row["partitions"] for row in members} == {
        "m-1": 2, "m-2": 1, "m-3": 0, "m-4": 2, "w": None,
    }  # fmt: skip
    assert {
        (row["member_id"], row["topic"], *row["partitions"]) for row in assignments if row["role"] == "current"
    } == {
        ("m-1", "t", 0, 1),
        ("m-2", "u", 0),
        ("m-4", "t", 0),
        ("m-4", "u", 0),
    }
    assert {row["group"] for row in assignments if row["role"] == "target"} == {"new"}


def test_live_source_isolation_limits_the_lag() -> None:
    for isolation, lag in (("read_uncommitted", 0), ("read_committed", -10)):
        with serving(live_cluster()) as fake:
            rows = rows_of(reader(fake, "offsets", isolation=isolation))
        assert {row["lag"] for row in rows if (row["group"], row["topic"]) == ("orders", "u")} == {lag}


def test_live_source_pushes_no_filters() -> None:
    """Spark reuses a narrowed reader for scans that push nothing (tests/spark/test_live.py)."""
    with serving(live_cluster()) as fake:
        assert type(reader(fake, pushdown="true")).pushFilters is DataSourceReader.pushFilters


# What fails.


@pytest.mark.parametrize("table", ["offsets", "groups", "members", "assignments"])
def test_live_source_stopped_broker_fails_or_is_skipped(table: str) -> None:
    fake = live_cluster()
    fake.brokers[1].alive = False
    with serving(fake):
        with pytest.raises(HistoryError, match=rf"table {table} is not whole: broker 1 \(.*connection refused"):
            reader(fake, table).partitions()
        rows = rows_of(reader(fake, table, failOnError="false"))
    assert rows and {row["group"] for row in rows} <= {"connect", "orders", "share"}


def test_live_source_failures_are_rows() -> None:
    fake = live_cluster()
    fake.brokers[1].alive = False
    fake.state.fail("DescribeGroups", "connect", ErrorCode.group_authorization_failed)
    with serving(fake):
        rows = rows_of(reader(fake, "failures"))
    answer = {(row["scope"], row["error"], row["api"], row["broker"]) for row in rows}
    assert ("broker", None, "ListGroups", 1) in answer
    assert ("group", "GROUP_AUTHORIZATION_FAILED", "DescribeGroups", 0) in answer
    assert {"t-1", "u-0"} == {row["name"] for row in rows if row["scope"] == "partition"}


def test_live_source_groups_that_fail_after_listing_are_failures() -> None:
    with serving(live_cluster()) as fake:
        wanted = [reader(fake, table, **more) for table, more in (("failures", {}), ("offsets", {}))]
        lenient = reader(fake, "offsets", failOnError="false")
        slices = wanted[0].partitions()
        for api in ("DescribeGroups", "OffsetFetch", "ConsumerGroupDescribe"):
            for name in ("idle", "new", "orders-old"):
                fake.state.fail(api, name, ErrorCode.group_authorization_failed)
        answer = [row for each in slices for batch in wanted[0].read(each) for row in batch.to_pylist()]
        assert {row["name"] for row in answer} == {"idle", "new", "orders-old"}
        with pytest.raises(HistoryError, match="table offsets is not whole: group 'idle': "):
            list(wanted[1].read(slices[1]))
        assert list(lenient.read(slices[1])) == []


def test_live_source_task_without_broker_fails_or_is_empty() -> None:
    with serving(live_cluster()) as fake:
        slices = reader(fake).partitions()
        readers = {table: reader(fake, table) for table in ("failures", "offsets")}
        lenient = reader(fake, "offsets", failOnError="false")
    [batch] = readers["failures"].read(slices[0])
    [row] = batch.to_pylist()
    assert (row["scope"], row["name"], row["broker"]) == ("cluster", None, None)
    assert row["message"].startswith("no bootstrap server responded")
    with pytest.raises(HistoryError, match="table offsets is not whole: no bootstrap server responded"):
        list(readers["offsets"].read(slices[0]))
    assert list(lenient.read(slices[0])) == []


def test_live_source_driver_without_broker_fails() -> None:
    with serving(live_cluster()) as fake:
        pass
    assert [row["scope"] for row in rows_of(reader(fake, "failures"))] == ["cluster"]
    with pytest.raises(HistoryError, match="no bootstrap server responded"):
        rows_of(reader(fake, "groups"))


def test_live_source_error_is_one_escaped_line() -> None:
    fake = FakeCluster(1)
    for name in ("a\nkgroups.errors.HistoryError: b", "c", "d", "e", "f"):
        fake.state.group(name)
        fake.state.fail("DescribeGroups", name, ErrorCode.group_authorization_failed)
    with serving(fake), pytest.raises(HistoryError) as caught:
        rows_of(reader(fake, "groups"))
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    assert r"group 'a\nkgroups" in text and "'d'" in text and "'e'" not in text and "; and 2 more " in text


def test_live_source_repr_hides_addresses() -> None:
    with serving(live_cluster()) as fake:
        made = reader(fake)
        shown = [repr(made), *map(repr, made.partitions())]
    assert shown[1:] == ["Slice(broker=0, groups=3, failures=0)", "Slice(broker=1, groups=3, failures=0)"]
    assert not any(str(broker.port) in text for text in shown for broker in fake.brokers.values())


# Several clusters.

Serve = Callable[..., FakeCluster]


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Serve fake clusters, and write their profiles next to one of a cluster that does not respond."""
    config = tmp_path / "config.toml"
    config.write_text(
        f'[profiles.dead]\nbootstrap = "127.0.0.1:1"\n[profiles.dead.properties]\nsecurity.protocol="SASL_PLAINTEXT"\n'
        f'sasl.mechanism = "PLAIN"\nsasl.username = "me"\nsasl.password = "{HUSH}"\n'
    )
    monkeypatch.setenv("KGROUPS_CONFIG", str(config))
    with ExitStack() as stack:

        def start(fake: FakeCluster, cluster_id: str, *names: str) -> FakeCluster:
            fake.state.cluster_id = cluster_id
            stack.enter_context(serving(fake))
            with config.open("a") as file:
                for name in names:
                    file.write(f'[profiles.{name}]\nbootstrap = "{fake.settings().bootstrap_servers}"\n')
            return fake

        yield start


HUSH = "hush-hush"


def of_profiles(words: str, table: str = "groups", **options: str) -> LiveReader:
    source = LiveSource({"profile": words, "table": table, "broker.timeout": "30", **options})
    found: LiveReader = pickle.loads(pickle.dumps(source.reader(source.schema())))
    return found


@pytest.mark.parametrize("table", ["offsets", "groups", "members", "assignments"])
def test_live_rows_of_several_clusters_have_their_cluster(serve: Serve, table: str) -> None:
    serve(live_cluster(), "A", "a")
    old = serve(live_cluster("2.5.1"), "B", "b")
    both = rows_of(of_profiles("a,b", table))
    alone = rows_of(of_profiles("b", table))
    assert {(row["cluster"], row["cluster_id"]) for row in both} == {("a", "A"), ("b", "B")}
    assert [row for row in both if row["cluster"] == "b"] == alone
    single = rows_of(reader(old, table))
    assert [{name: row[name] for name in LIVE[table].names} for row in alone] == single != []


def test_live_partitions_of_several_clusters_have_settings_of_their_own(serve: Serve) -> None:
    one, other = serve(live_cluster(), "A", "a"), serve(live_cluster(), "B", "b")
    made = of_profiles("a,b,dead", failOnError="false")
    slices = made.partitions()
    assert [(each.origin.cluster, each.coordinator and each.coordinator.id) for each in slices if each.origin] == [
        *(("a", 0), ("a", 1), ("b", 0), ("b", 1)),
        ("dead", None),
    ]
    for each in slices:
        packed = pickle.dumps(each)
        assert each.origin and (HUSH.encode() in packed) == (each.origin.cluster == "dead")
        servers = {"a": one, "b": other}.get(each.origin.cluster)
        assert not servers or each.origin.settings.bootstrap == servers.settings().bootstrap
    assert HUSH.encode() not in pickle.dumps(made)
    assert HUSH not in repr(slices) + repr(made._options)


def test_live_cluster_that_fails_is_named(serve: Serve) -> None:
    serve(live_cluster(), "A", "a")
    with pytest.raises(HistoryError, match="table groups is not whole: cluster dead: no bootstrap server responded"):
        of_profiles("a,dead").partitions()
    assert {row["cluster"] for row in rows_of(of_profiles("a,dead", failOnError="false"))} == {"a"}
    (row,) = (each for each in rows_of(of_profiles("dead,a", "failures")) if each["scope"] == "cluster")
    assert (row["cluster"], row["cluster_id"], row["name"]) == ("dead", None, None)


def test_live_task_that_fails_names_its_cluster(serve: Serve) -> None:
    serve(live_cluster(), "A", "a")
    fake = serve(live_cluster(), "B", "b")
    made = of_profiles("a,b")
    slices = made.partitions()
    fake.state.fail("DescribeGroups", "orders", ErrorCode.group_authorization_failed)
    with pytest.raises(HistoryError, match="table groups is not whole: cluster b: group 'orders': "):
        list(made.read(slices[2]))


def test_live_cluster_of_two_profiles_is_read_once(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    serve(live_cluster(), "A", "a", "same")
    assert {row["cluster"] for row in rows_of(of_profiles("a,same"))} == {"a"}
    assert "same and a are the same cluster, shown once, as a" in caplog.text
