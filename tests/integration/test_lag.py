"""``kgroups lag`` against real brokers: sums as the Java tool's rows add up, ages of records in logs of every shape."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition

from kgroups.sandbox import Sandbox
from kgroups.sandbox.seed_data import DELETED_TOPIC
from tests.integration.aged_topics import Aged, AgedTopics
from tests.integration.asking import Answer, Row, run_kgroups
from tests.integration.known_cluster import KnownCluster
from tests.integration.versions import oldest_and_newest

WHOLE = ("ahead", "data-lost", "ledger-reader", "orders-range", "payments-empty", "payments-lagging")
"""Groups of the known cluster with nothing wrong, in any version."""


@pytest.fixture(scope="session")
def aged_topics(cluster: Sandbox) -> AgedTopics:
    topics = AgedTopics(cluster)
    topics.make()
    return topics


def ages_of(cluster: Sandbox, groups: Iterable[Aged], *words: str) -> dict[str, Row]:
    names = [each.group for each in groups]
    answer = run_kgroups("lag", *names, "--time", "-o", "json", *words, bootstrap=cluster.bootstrap)
    assert (answer.code, answer.failures) == (0, []), answer.err
    return {row["group"]: row for row in answer.items}


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_time_lag_is_the_age_of_the_first_unread_record(
    cluster: Sandbox, aged_topics: AgedTopics, isolation: str
) -> None:
    groups = [each for each in aged_topics.groups if each.isolation == isolation]
    before = time.time() * 1000
    rows = ages_of(cluster, groups, "--isolation", isolation)
    after = time.time() * 1000
    for each in groups:
        row = rows[each.group]
        assert row["total_lag"] == each.lag, each
        if each.oldest is None:
            assert row["time_lag_ms"] is None and "no timestamp" in row["note"], each
        elif not each.oldest:
            assert row["time_lag_ms"] == 0, each
        elif "append" in each.topic:
            assert 0 < row["time_lag_ms"] <= after - each.oldest, each
        else:
            assert before - each.oldest - 1 <= row["time_lag_ms"] <= after - each.oldest, each


def test_time_lag_of_many_groups_needs_one_fetch(cluster: Sandbox, aged_topics: AgedTopics) -> None:
    names = [each.group for each in aged_topics.groups if each.topic == "aged-gzip"]
    answer = run_kgroups("lag", *names, "--time", "--debug", bootstrap=cluster.bootstrap)
    assert len(answer.sent("Fetch")) == 1


def test_time_lag_with_lost_data_is_noted(cluster: Sandbox, aged_topics: AgedTopics) -> None:
    (group,) = [each.group for each in aged_topics.groups if each.topic == "aged-deleted"]
    answer = run_kgroups("lag", group, "--by", "partition", "--time", "-o", "json", bootstrap=cluster.bootstrap)
    (row,) = answer.items
    assert row["note"] == "data lost: 90 offsets deleted before they were read"
    assert row["time_lag_ms"] > 0


# The known cluster.


def sums(rows: Iterable[Row | dict[str, str | None]], group: str, topic: str, lag: str) -> dict[tuple[str, str], int]:
    """Return (group, topic) -> the sum of the lag column."""
    found: dict[tuple[str, str], int] = {}
    for row in rows:
        if row[lag] is not None:
            key = str(row[group]), str(row[topic])
            found[key] = found.get(key, 0) + max(0, int(row[lag] or 0))
    return found


def test_lag_totals_match_java(known_cluster: KnownCluster) -> None:
    output = {}
    several = known_cluster.since("2.5")  # the tool of 1.1.1 takes one group a run, and does not name it in its tables
    for names in [WHOLE] if several else [(name,) for name in WHOLE]:
        words = [word for name in names for word in ("--group", name)]
        rows = known_cluster.java("--describe", *words).rows
        output.update(sums([{"GROUP": names[0], **row} for row in rows], "GROUP", "TOPIC", "LAG"))
    assert len(output) == len(WHOLE)
    answer = known_cluster.ask("lag", *WHOLE, "--by", "topic", "-o", "json")
    assert (answer.code, sums(answer.items, "group", "topic", "total_lag")) == (0, output)
    groups = known_cluster.ask("lag", *WHOLE, "-o", "json").items
    assert {row["group"]: row["total_lag"] for row in groups} == {group: lag for (group, _), lag in output.items()}


def test_lag_defaults_to_all_groups(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("lag", "-o", "json")
    assert answer.code == 1 and f"topic '{DELETED_TOPIC}'" in answer.err
    rows = {row["group"]: row for row in answer.items}
    assert set(rows) >= set(known_cluster.groups)
    row = rows["payments-uncommitted"]
    assert (row["members"], row["partitions"], row["behind"], row["uncommitted"]) == (1, 3, 1, 2)
    row = rows["data-lost"]
    assert (row["total_lag"], row["data_lost"]) == (90, 1)
    row = rows["ahead"]
    assert (row["total_lag"], row["ahead"]) == (0, 1)
    row = rows["billing-deleted-topic"]
    assert (row["uncommitted"], row["partitions"]) == (2, 5)


@oldest_and_newest
def test_lag_over_librdkafka_matches_the_wire(known_cluster: KnownCluster) -> None:
    words = ("lag", *WHOLE, "-o", "json")
    wire, other = known_cluster.ask(*words), known_cluster.ask(*words, "--transport", "librdkafka")
    assert (other.code, other.items) == (0, wire.items)


def test_lag_of_open_transaction_depends_on_isolation(known_cluster: KnownCluster) -> None:
    def ask(isolation: str) -> Answer:
        return known_cluster.ask("lag", "ledger-reader", "--time", "-o", "json", "--isolation", isolation)

    (uncommitted,), (committed,) = ask("read_uncommitted").items, ask("read_committed").items
    assert uncommitted["total_lag"] == 5 and uncommitted["time_lag_ms"] > 0
    assert (committed["total_lag"], committed["time_lag_ms"]) == (0, 0)


def received(cluster: Sandbox, each: Aged, end: int) -> int:
    """Return the number of records that a consumer receives from a committed offset to the end of the log."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "counting",
            "isolation.level": each.isolation,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    try:
        consumer.assign([TopicPartition(each.topic, 0, each.committed)])
        number = 0
        while message := consumer.poll(60):
            if (error := message.error()) and error.code() == KafkaError._PARTITION_EOF:
                return number
            assert not error, error
            number += (message.offset() or 0) < end
        raise AssertionError(f"{each.topic}: the end was not reached")
    finally:
        consumer.close()


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_exact_is_the_number_of_records_that_a_consumer_receives(
    cluster: Sandbox, aged_topics: AgedTopics, isolation: str
) -> None:
    """Transactions, aborted ones, compacted topics, lost records, each codec, and each format of the version."""
    groups = [each for each in aged_topics.groups if each.isolation == isolation]
    names = [each.group for each in groups]
    words = ("--exact", "--by", "partition", "--isolation", isolation, "-o", "json")
    answer = run_kgroups("lag", *names, *words, bootstrap=cluster.bootstrap)
    assert (answer.code, answer.failures) == (0, []), answer.err
    rows = {row["group"]: row for row in answer.items}
    for each in groups:
        row = rows[each.group]
        expected = received(cluster, each, row["log_end_offset"])
        assert (row["unread_min"], row["unread_max"]) == (expected, expected), each
        assert row["unread_max"] <= row["lag"], each
