"""``kgroups-live`` compared with the commands on the same cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.history.live.ask import cluster_id, sample_heads, sweep
from kgroups.history.live.wire_session import WireSession
from kgroups.model.groups import GroupType
from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load, seed_load
from tests.integration.asking import Row
from tests.integration.conftest import wanted_versions
from tests.integration.known_cluster import KnownCluster, promised_offsets
from tests.integration.versions import MAIN, newest_only

pytestmark = [pytest.mark.spark, newest_only]

OFFSETS = {
    "current_offset": "committed_offset",
    "log_start_offset": "log_start",
    "log_end_offset": "log_end",
    "consumer_id": "member_id",
    "group_instance_id": "instance_id",
}
"""What the command calls it -> what the table does; other names are the same."""

MEMBERS = {"consumer_id": "member_id", "group_instance_id": "instance_id", "rack": "rack_id"}


def live(spark: SparkSession, sandbox: Sandbox, table: str, **options: str) -> DataFrame:
    """Rows that came back: the known cluster has a topic that is gone, and that is a failure."""
    asked = {"bootstrap.servers": sandbox.bootstrap, "table": table, "failOnError": "false", **options}
    return spark.read.format("kgroups-live").options(**asked).load()


def rows(frame: DataFrame) -> list[Row]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def alike(reported: list[Row], found: list[Row], names: Mapping[str, str]) -> None:
    """The columns that both have hold the same, row by row, in any order."""
    renamed = [{names.get(key, key): value for key, value in row.items()} for row in reported]
    shared = sorted(renamed[0].keys() & found[0].keys())
    assert sorted(map(repr, ([row[name] for name in shared] for row in renamed))) == sorted(
        map(repr, ([row[name] for name in shared] for row in found))
    )


def settings_of(sandbox: Sandbox) -> ClientSettings:
    return ClientSettings(parse_bootstrap(sandbox.bootstrap))


def test_live_offsets_match_describe(spark: SparkSession, known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--all-groups", "-o", "json")
    found = rows(live(spark, known_cluster.sandbox, "offsets"))
    alike(answer.items, found, OFFSETS)
    assert set(OFFSETS.values()) < found[0].keys()


def test_live_groups_match_describe(spark: SparkSession, known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--all-groups", "--state", "-o", "json").items
    found = rows(live(spark, known_cluster.sandbox, "groups"))
    alike(answer, found, {"assignment_strategy": "protocol"})
    coordinators = {row["group"]: tuple(row["coordinator"].values()) for row in answer}
    assert {
        row["group"]: (row["coordinator_id"], row["coordinator_host"], row["coordinator_port"]) for row in found
    } == coordinators
    assert {row["group"]: row["kind"] for row in found} == {row["group"]: row["type"].lower() for row in answer}


def test_live_members_and_assignments_match_describe(spark: SparkSession, known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--all-groups", "--members", "-o", "json").items
    found = rows(live(spark, known_cluster.sandbox, "members"))
    alike(answer, found, MEMBERS)
    held = {
        (row["group"], row["member_id"], row["topic"], partition)
        for row in rows(live(spark, known_cluster.sandbox, "assignments").where("role = 'current'"))
        for partition in row["partitions"]
    }
    for name, group in known_cluster.groups.items():
        if group.protocol_type == "consumer":
            assert {(topic, at) for owner, _, topic, at in held if owner == name} == group.assigned


def test_live_failures_match_describe(spark: SparkSession, known_cluster: KnownCluster) -> None:
    """Failures equal those of the command; several tasks may report the same one."""
    answer = known_cluster.ask("describe", "--all-groups", "-o", "json").failures
    found = rows(live(spark, known_cluster.sandbox, "failures").distinct())
    assert answer
    alike(answer, found, {})


def test_live_failures_fail_the_query_by_default(spark: SparkSession, known_cluster: KnownCluster) -> None:
    with pytest.raises(PySparkException, match="table offsets is not whole: topic 'billing': "):
        live(spark, known_cluster.sandbox, "offsets", failOnError="true").collect()


def test_live_table_has_one_partition_per_coordinator(spark: SparkSession, known_cluster: KnownCluster) -> None:
    coordinators = {row["coordinator"]["id"] for row in known_cluster.ask("list", "-o", "json").items}
    assert len(coordinators) == 3
    assert live(spark, known_cluster.sandbox, "offsets").rdd.getNumPartitions() == 3


@pytest.mark.parametrize(
    ("table", "condition"),
    [
        ("offsets", "`group` like 'orders%' and topic = 'orders'"),
        ("offsets", "topic in ('clicks', 'payments')"),
        ("groups", "state = 'Empty'"),
        ("members", "kind = 'consumer'"),
    ],
)
def test_live_filters_give_the_same_rows_as_spark(
    spark: SparkSession, known_cluster: KnownCluster, table: str, condition: str
) -> None:
    frame = live(spark, known_cluster.sandbox, table)
    everything = rows(frame)
    kept = rows(spark.createDataFrame(everything, frame.schema).where(condition))
    found = rows(frame.where(condition))
    assert found and sorted(found, key=repr) == sorted(kept, key=repr)
    assert sorted(rows(frame), key=repr) == sorted(everything, key=repr)


def test_sweep_and_heads_match_the_cluster(known_cluster: KnownCluster) -> None:
    session = WireSession(settings_of(known_cluster.sandbox))
    swept = sweep(session).baseline.to_pylist()
    assert {row["complete"] for row in swept} == {True}
    listed = known_cluster.ask("list", "-o", "json")
    assert {row["group"] for row in swept} == {row["group"] for row in listed.items}
    assert cluster_id(session) == listed.envelope["cluster_id"]
    for name, group in known_cluster.groups.items():
        if group.type == GroupType.SHARE:
            continue
        promised = {
            (topic, at, offset) for (topic, at), (offset, _) in promised_offsets(group).items() if offset is not None
        }
        found = {(row["topic"], row["partition"], row["committed_offset"]) for row in swept if row["group"] == name}
        assert found == (promised or {(None, None, None)})
    heads: list[dict[str, Any]] = sample_heads(session, {"clicks": [0], "orders": range(6), "gone": [0]}).to_pylist()
    session.close()
    known = {(row["topic"], row["partition"]): (row["log_start"], row["log_end"]) for row in heads if not row["error"]}
    assert known == {("clicks", 0): (40, 100), **{("orders", at): (0, 100 + 10 * at) for at in range(6)}}
    assert [row["topic"] for row in heads if row["error"]] == ["gone"]


def test_live_tables_with_a_killed_broker(
    spark: SparkSession, request: pytest.FixtureRequest, require_kafka: Callable[[str], None]
) -> None:
    """One of 3 brokers is killed: rows of the others are returned, and failures are rows or one error."""
    if MAIN not in wanted_versions(request.config):
        pytest.skip(f"harm is done to Kafka {MAIN} only")
    require_kafka(MAIN)
    kept = {"broker.session.timeout.ms": "60000"}  # no other broker is lost when the controller changes
    with Sandbox.up(MAIN, brokers=3, name=f"pytest-{os.getpid()}-live", properties=kept) as sandbox:
        seed_load(sandbox, Load(groups=30, partitions=3, topics=2))
        before = {row["group"]: row["coordinator_id"] for row in rows(live(spark, sandbox, "groups"))}
        assert set(before.values()) == {1, 2, 3}
        sandbox.kill(2)
        found = {row["group"] for row in rows(live(spark, sandbox, "groups"))}
        assert found == {name for name, coordinator in before.items() if coordinator != 2}
        failures = rows(live(spark, sandbox, "failures"))
        assert failures
        assert any(row["broker"] == 2 or row["name"] == "__consumer_offsets" for row in failures)
        with pytest.raises(PySparkException, match=r"HistoryError: kgroups-live: table groups is not whole: "):
            live(spark, sandbox, "groups", failOnError="true").collect()
        with WireSession(settings_of(sandbox)) as session:
            assert {row["complete"] for row in sweep(session).baseline.to_pylist()} == {False}
