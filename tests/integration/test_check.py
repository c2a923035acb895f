"""``kgroups check`` on real consumers that read, stand still, are paused, killed, and sent back."""

from __future__ import annotations

import signal
import threading
import time
from datetime import datetime

from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from junitparser import Error, JUnitXml
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from kgroups.sandbox import Sandbox
from tests.integration.asking import Answer, run_kgroups
from tests.integration.committing_consumer import committing_consumer
from tests.integration.known_cluster import KnownCluster
from tests.integration.versions import newest_only

GROUP = TOPIC = "checked"
TREND = ("--trend", "--window", "3s", "--samples", "2")
"""So long that a consumer commits in it on a busy machine, too."""


def produce(sandbox: Sandbox, count: int) -> None:
    producer = Producer({"bootstrap.servers": sandbox.bootstrap})
    for number in range(count):
        producer.produce(TOPIC, str(number).encode(), partition=0)
    assert not producer.flush(60)


def rewind(admin: AdminClient, offset: int) -> None:
    asked = ConsumerGroupTopicPartitions(GROUP, [TopicPartition(TOPIC, 0, offset)])
    for future in admin.alter_consumer_group_offsets([asked]).values():
        future.result(60)


@newest_only
def test_verdicts_on_real_consumers(cluster: Sandbox) -> None:

    def check(*words: str) -> Answer:
        return run_kgroups("check", GROUP, *words, bootstrap=cluster.bootstrap, limit=240)

    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for future in admin.create_topics([NewTopic(TOPIC, 1, 1)]).values():
        future.result(60)
    produce(cluster, 10)
    opened: list[Answer] = []
    gate = threading.Thread(
        target=lambda: opened.append(
            check("--members", "1", "--assigned", "--max-lag", "0", "--wait", "120s", "--interval", "200ms")
        )
    )
    gate.start()
    with committing_consumer(cluster.bootstrap, GROUP, TOPIC, 10) as consumer:
        gate.join(240)
        assert opened and opened[0].code == 0, opened
        well = check(*TREND, "--max-commit-age", "1m")
        assert (well.code, "trend: OK in" in well.out) == (0, True), well.out
        metrics = check("--max-lag", "5", "--max-commit-age", "1m", "-o", "openmetrics").out
        answer = {
            (sample.name, sample.labels["check"]): sample.value
            for family in text_string_to_metric_families(metrics)
            for sample in family.samples
        }
        assert answer["kgroups_check_value", "lag"] == 0 and 0 <= answer["kgroups_check_value", "commit-age"] < 60

        produce(cluster, 5)
        stalled = check(*TREND, "--max-lag", "3,4")
        assert stalled.code == 2 and "trend: STALL in" in stalled.out and "lag 5 is above 4" in stalled.out

        consumer.send_signal(signal.SIGSTOP)
        paused = check(*TREND, "--members", "1", "--max-commit-age", "1ms")
        assert paused.code == 2 and "trend: STOP in" in paused.out and "OK        checked: 1 member" in paused.out
        assert "commit age" in paused.out and "is above 1ms" in paused.out
        unread = check("--max-commit-age", "1m", "--transport", "librdkafka")
        assert unread.code == 3 and "--transport wire reads them" in unread.out
        consumer.kill()

    assert check("--state", "empty", "--wait", "120s", "--interval", "200ms").code == 0
    dead = JUnitXml.fromstring(check("--members", "1", "--assigned", "--max-time-lag", "1d", "-o", "junit").out)
    failed = {case.name: case.result[0] for suite in dead for case in suite if case.result}
    assert {name: type(result).__name__ for name, result in failed.items()} == {
        "members": "Failure",
        "assigned": "Failure",
    }
    assert (dead.tests, dead.failures, dead.errors) == (4, 2, 0) and not isinstance(failed["members"], Error)

    looked: list[Answer] = []
    trend = threading.Thread(target=lambda: looked.append(check(*TREND)))
    produce(cluster, 1000)
    rewind(admin, 1000)  # before it looks: from where the group was left, this is a way forwards
    trend.start()
    for offset in range(999, 0, -1):  # whenever it looks, later is further back
        if not trend.is_alive():
            break
        rewind(admin, offset)
        time.sleep(0.05)
    trend.join(240)
    assert looked and looked[0].code == 2 and "trend: REWIND in" in looked[0].out, looked[0].out
    for done in (*admin.delete_consumer_groups([GROUP]).values(), *admin.delete_topics([TOPIC]).values()):
        done.result(60)


QUIET = "checked-quiet"


@newest_only
def test_trend_on_a_quiet_transactional_topic(cluster: Sandbox) -> None:
    """Offset 0, its marker at 1; offset 2, whose transaction is aborted, and its marker at 3 in partition 1."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for future in admin.create_topics([NewTopic(QUIET, 2, 1)]).values():
        future.result(60)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": QUIET})
    producer.init_transactions(60)
    for abort in (False, True):
        producer.begin_transaction()
        for partition in (1,) if abort else (0, 1):
            producer.produce(QUIET, b"record", partition=partition)
        assert not producer.flush(60)
        producer.abort_transaction(60) if abort else producer.commit_transaction(60)

    def commit(group: str, *offsets: TopicPartition) -> None:
        for future in admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, list(offsets))]).values():
            future.result(60)

    def trend(group: str, *words: str) -> Answer:
        words = ("--allow-uncommitted", "--window", "1s", *words)  # each group has a commit on one partition of two
        return run_kgroups("check", group, *TREND, *words, bootstrap=cluster.bootstrap)

    commit("checked-at-marker", TopicPartition(QUIET, 0, 1))
    at_marker = trend("checked-at-marker")
    assert (at_marker.code, "trend: OK in" in at_marker.out) == (0, True), at_marker.out
    (row,) = run_kgroups("lag", "checked-at-marker", "-o", "json", bootstrap=cluster.bootstrap).items
    assert row["behind"] == 1, "offsets are left"

    commit("checked-behind", TopicPartition(QUIET, 0, 0))
    behind = trend("checked-behind", "--window", "31s")  # longer than a client without members may pause
    assert (behind.code, "trend: STOP in" in behind.out) == (2, True), behind.out

    commit("checked-aborted", TopicPartition(QUIET, 1, 1))
    aborted = trend("checked-aborted")
    assert (aborted.code, "trend: STOP? in" in aborted.out) == (3, True), aborted.out
    assert "aborted or open transactions" in aborted.out
    assert trend("checked-aborted", "--isolation", "read_committed").code == 0
    unread = trend("checked-behind", "--transport", "librdkafka")
    assert (unread.code, "trend: STOP? in" in unread.out) == (3, True), unread.out

    names = ["checked-at-marker", "checked-behind", "checked-aborted"]
    for done in (*admin.delete_consumer_groups(names).values(), *admin.delete_topics([QUIET]).values()):
        done.result(60)


@newest_only
def test_offset_headroom_is_the_time_until_the_first_offset_expires(known_cluster: KnownCluster) -> None:
    """``describe --deep`` shows the time, which is compared there with the records that Kafka's formatter prints."""
    deep = known_cluster.ask("describe", "payments-empty", "--deep", "-o", "json").items
    first = min(datetime.fromisoformat(row["expires_at"]).timestamp() for row in deep) * 1000
    words = ("check", "payments-empty", "-o", "json", "--min-offset-headroom")
    before = time.time() * 1000
    answer = known_cluster.ask(*words, "8d,1d")
    after = time.time() * 1000
    (item,) = [item for item in answer.items if item["check"] == "offset-headroom"]
    assert (answer.code, item["status"]) == (1, "WARNING")
    assert first - after - 1000 <= item["value"] <= first - before + 1000
    assert known_cluster.ask(*words, "1d").code == 0
    held = known_cluster.ask("check", "payments-lagging", "--min-offset-headroom", "8d")
    assert held.code == 0 and "offsets of topics that members subscribe to do not expire" in held.out
