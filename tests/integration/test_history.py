"""History of scripted consumers: the tables contain what the consumers did."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.history.jobs.collect import Plan, collect
from kgroups.history.load.store import Store
from kgroups.sandbox import Sandbox
from kgroups.sandbox.topics import fill
from tests.fakes.history import Row, ordered, rows_of
from tests.integration.asking import run_kgroups
from tests.integration.versions import MAIN

pytestmark = pytest.mark.spark

TOPIC, PARTITIONS, RECORDS = "orders", 4, 50
QUICK = {"heartbeat.interval.ms": 300, "partition.assignment.strategy": "range"}
KILLED = QUICK | {"session.timeout.ms": 10_000}
"""Missed soon. The others are not, however busy the machine: their sessions are librdkafka's, of 45 s."""
MODERN = {"group.protocol": "consumer"}

ALONE = """
import sys
from confluent_kafka import Consumer
consumer = Consumer(eval(sys.argv[1]))
consumer.subscribe([sys.argv[2]])
while True:
    message = consumer.poll(0.1)
    if message is not None and not message.error():
        consumer.commit(message, asynchronous=False)
"""


class Cast:
    """Consumers by name. Each commits the records it has read; :meth:`until` polls all of them."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self._playing: dict[str, Consumer] = {}

    def settings(self, group: str, name: str, **more: Any) -> dict[str, Any]:
        return {
            "bootstrap.servers": self._bootstrap,
            "group.id": group,
            "client.id": name,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
            **more,
        }

    def enter(self, group: str, name: str, **more: Any) -> None:
        consumer = Consumer(self.settings(group, name, **more))
        consumer.subscribe([TOPIC])
        self._playing[name] = consumer

    def leave(self, name: str) -> None:
        self._playing.pop(name).close()

    def until(self, group: str, shares: Mapping[str, int]) -> None:
        """Poll until each member has its number of partitions and the group has committed everything, so that no commit
        is in flight while members join and leave."""
        end = time.monotonic() + 180
        while {name: len(self._playing[name].assignment()) for name in shares} != shares or not self._done(group):
            assert time.monotonic() < end, {name: self._playing[name].assignment() for name in shares}
            self._play()

    def _done(self, group: str) -> bool:
        asked = self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group]
        return [place.offset for place in asked.result(60).topic_partitions] == [RECORDS] * PARTITIONS

    def _play(self) -> None:
        for consumer in self._playing.values():
            messages = [message for message in consumer.consume(200, 0.05) if not message.error()]
            if messages:
                consumer.commit(asynchronous=False)

    def exeunt(self) -> None:
        for name in list(self._playing):
            self.leave(name)


def settled(bootstrap: str, group: str, members: int) -> None:
    end = time.monotonic() + 180
    while True:
        (row,) = run_kgroups("describe", group, "--state", "-o", "json", bootstrap=bootstrap).items
        if (row["state"], row["members"]) == ("Stable", members):
            return
        assert time.monotonic() < end, row
        time.sleep(0.2)


@pytest.fixture(scope="module")
def scripted_cluster(
    require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """A cluster on which the script has been played."""
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with Sandbox.up(MAIN, name="history", properties={"group.initial.rebalance.delay.ms": "0"}) as sandbox:
            play(sandbox)
            yield sandbox


def play(sandbox: Sandbox) -> None:
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
    from confluent_kafka.admin import NewTopic

    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(60)
    fill(sandbox.bootstrap, {TOPIC: dict.fromkeys(range(PARTITIONS), RECORDS)})
    cast = Cast(sandbox.bootstrap)
    _play_classic(sandbox, cast)
    _play_modern(sandbox, cast)
    _play_offsets(sandbox, admin)
    cast.exeunt()


def _play_classic(sandbox: Sandbox, cast: Cast) -> None:
    cast.enter("classic", "ann", **QUICK)
    cast.until("classic", {"ann": 4})
    cast.enter("classic", "bob", **QUICK)
    cast.until("classic", {"ann": 2, "bob": 2})
    cast.leave("bob")
    cast.until("classic", {"ann": 4})
    settings = cast.settings("classic", "cyd", **KILLED)
    with subprocess.Popen([sys.executable, "-c", ALONE, repr(settings), TOPIC]) as killed:
        try:
            cast.until("classic", {"ann": 2})
            settled(sandbox.bootstrap, "classic", 2)
        finally:
            killed.kill()
    cast.until("classic", {"ann": 4})
    cast.enter("classic", "dan", **QUICK, **{"group.instance.id": "dan-1"})
    cast.until("classic", {"ann": 2, "dan": 2})
    cast.leave("dan")  # static: it says no good-bye
    cast.enter("classic", "dan", **QUICK, **{"group.instance.id": "dan-1"})
    cast.until("classic", {"ann": 2, "dan": 2})
    cast.leave("ann")
    cast.until("classic", {"dan": 4})


def _play_modern(sandbox: Sandbox, cast: Cast) -> None:
    cast.enter("modern", "eve", **MODERN)
    cast.until("modern", {"eve": 4})
    cast.enter("modern", "fay", **MODERN)
    cast.until("modern", {"eve": 2, "fay": 2})
    cast.leave("fay")
    cast.until("modern", {"eve": 4})


def _play_offsets(sandbox: Sandbox, admin: AdminClient) -> None:
    for group, offsets in (("rewound", (30, 40, 5)), ("deleted", (9,)), ("beyond", (10_000,)), ("forgotten", (7,))):
        for offset in offsets:
            places = [TopicPartition(TOPIC, partition, offset) for partition in range(2)]
            admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, places)])[group].result(60)
    admin.delete_consumer_groups(["deleted"])["deleted"].result(60)
    done = sandbox.java_tool("--delete-offsets", "--group", "forgotten", "--topic", f"{TOPIC}:1")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def collected(spark: SparkSession, scripted_cluster: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Everything that is known of the script."""
    store = tmp_path_factory.mktemp("history") / "store"
    collect_into(spark, scripted_cluster, store)
    return Store(str(store))


def collect_into(spark: SparkSession, scripted_cluster: Sandbox, folder: Path) -> None:
    settings = ClientSettings(parse_bootstrap(scripted_cluster.bootstrap))
    collect(lambda: spark, Store(str(folder)), Plan(settings, sample_every=1.0), small=0)


def rows(store: Store, table: str, group: str | None = None) -> list[Row]:
    return [row for row in rows_of(store, table) if group is None or row["group"] == group]


def people(members: list[str] | None) -> set[str]:
    """Member ids begin with the client id, or the instance id."""
    return {member.partition("-")[0] for member in members or ()}


def test_every_rebalance_of_classic_group_is_recorded(collected: Store) -> None:
    found = sorted(rows(collected, "rebalances", "classic"), key=lambda row: row["log_offset"])
    answer = [(people(row["joined"]), people(row["left"]), row["members"]) for row in found]
    assert answer[1:7] == [
        ({"bob"}, set(), 2),
        (set(), {"bob"}, 1),
        ({"cyd"}, set(), 2),
        (set(), {"cyd"}, 1),
        ({"dan"}, set(), 2),
        (set(), {"ann"}, 1),
    ]
    # Static as he is, dan is missed only when his session has timed out, which may come after the curtain.
    assert answer[7:] in ([], [(set(), {"dan"}, 0)])
    assert [row["generation"] for row in found] == sorted({row["generation"] for row in found})
    assert {row["protocol"] for row in found if row["members"]} == {"range"}


def test_memberships_have_start_and_end(collected: Store) -> None:
    found = rows(collected, "memberships", "classic")
    by_name = {name: [row for row in found if row["client_id"] == name] for name in ("ann", "bob", "cyd", "dan")}
    assert [len(by_name[name]) for name in ("ann", "bob", "cyd")] == [1, 1, 1]
    assert all(row["since"] < row["until"] for name in ("ann", "bob", "cyd") for row in by_name[name])
    assert {row["instance_id"] for row in by_name["dan"]} == {"dan-1"}


def test_consumer_protocol_group_converges(collected: Store) -> None:
    found = sorted(rows(collected, "rebalances", "modern"), key=lambda row: row["log_offset"])
    assert [row["members"] for row in found][-3:] == [1, 2, 1] or [row["members"] for row in found][-4:-1] == [1, 2, 1]
    assert any(row["converge_ms"] is not None and 0 <= row["converge_ms"] < 60_000 for row in found)
    assert {row["kind"] for row in found} == {"consumer"}


def test_latest_offsets_match_the_cluster(collected: Store, scripted_cluster: Sandbox) -> None:
    answer = run_kgroups("describe", "--all-groups", "-o", "json", bootstrap=scripted_cluster.bootstrap)
    output = {
        (row["group"], row["topic"], row["partition"]): row["current_offset"]
        for row in answer.items
        if row["current_offset"] is not None
    }
    found = rows(collected, "latest_offsets")
    assert {(row["group"], row["topic"], row["partition"]): row["committed_offset"] for row in found} == output
    assert ("forgotten", TOPIC, 0) in output
    assert ("forgotten", TOPIC, 1) not in output
    assert "deleted" not in {group for group, _, _ in output}


def test_anomalies_are_found(collected: Store) -> None:
    found = rows(collected, "anomalies")
    kinds = {(row["anomaly"], row["group"], row["partition"]) for row in found}
    assert {("rewind", "rewound", 0), ("rewind", "rewound", 1), ("beyond_end", "beyond", 0)} <= kinds
    rewound = next(row for row in found if row["group"] == "rewound")
    assert (rewound["expected"], rewound["found"]) == (40, 5)


def test_deleted_group_is_stale_as_deleted(collected: Store) -> None:
    status = {row["group"]: row["status"] for row in rows(collected, "stale")}
    assert status["deleted"] == "DELETED"
    assert status["classic"] in ("LIVE", "EMPTY")


def test_lag_matches_describe(collected: Store, scripted_cluster: Sandbox) -> None:
    answer = run_kgroups("describe", "rewound", "-o", "json", bootstrap=scripted_cluster.bootstrap)
    output = {row["partition"]: row["lag"] for row in answer.items}
    last = max(row["sampled_at"] for row in rows(collected, "lag", "rewound"))
    found = {row["partition"]: row["lag"] for row in rows(collected, "lag", "rewound") if row["sampled_at"] == last}
    assert found == output


def test_history_is_complete_since_the_beginning(collected: Store) -> None:
    found = [row for row in rows(collected, "completeness") if row["records"]]
    assert found
    assert all(row["missing"] == 0 and row["density"] > 0.9 for row in found)


def test_data_source_has_the_rows_of_the_store(spark: SparkSession, collected: Store) -> None:
    for name in ("commits", "members", "coverage", "latest_offsets", "rebalances", "memberships"):
        frame = spark.read.format("kgroups-history").options(table=name, numPartitions="3").load(collected.location)
        found = [
            {key: value for key, value in row.items() if key != "cluster_id"} for row in frame.toArrow().to_pylist()
        ]
        assert found
        assert ordered(found) == ordered(rows(collected, name)), name


def test_collecting_twice_gives_the_same_rows(
    spark: SparkSession, scripted_cluster: Sandbox, collected: Store, tmp_path: Path
) -> None:
    collect_into(spark, scripted_cluster, tmp_path / "again")
    for name in ("commits", "group_metadata", "members", "assignments", "epochs"):
        again = {str(row) for row in rows(Store(str(tmp_path / "again")), name)}
        assert {str(row) for row in rows(collected, name)} <= again, name
