"""``kgroups lag --headroom`` on real brokers: what it predicts, and when retention deletes the record."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from kgroups.cli.frame.options import ConnectionOptions
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.offsets import Isolation
from kgroups.sandbox import Sandbox
from kgroups.watch.group_page import read_time_lags
from kgroups.watch.state.watching import GroupKey
from tests.integration.asking import Row, run_kgroups
from tests.integration.retained_topics import SECONDS, bytes_of, commit, create, remove
from tests.integration.versions import MAIN, newest_only, oldest_and_newest

MINUTE = 60_000
HOUR = 60 * MINUTE
COUNT, AT = 120, 30
"""Records, one a minute, the last one now; and the committed offset."""
INTERVAL = 300_000
"""Milliseconds between two checks, by default."""

DAY = {"retention.ms": 24 * HOUR, "segment.ms": HOUR}
TOPICS: dict[str, dict[str, object]] = {
    "headroom-time": {**DAY, "retention.bytes": -1},
    "headroom-compacted-too": {**DAY, "cleanup.policy": "compact,delete"},
    "headroom-unlimited": {"retention.ms": -1},
    "headroom-compacted": {"cleanup.policy": "compact"},
    "headroom-bytes": {"retention.ms": -1, "retention.bytes": 1 << 20, "segment.bytes": 1 << 20},
    "headroom-first": {"retention.ms": 3 * HOUR, "retention.bytes": 1 << 20},
}


@pytest.fixture(scope="module")
def began(cluster: Sandbox) -> Iterator[int]:
    """Milliseconds since 1970 of the first record of each topic; a group with the name of the topic is at AT."""
    create(cluster, TOPICS)
    began = int(time.time() * 1000) - COUNT * MINUTE
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "enable.idempotence": False, "max.in.flight": 1})
    for topic in TOPICS:
        for number in range(COUNT):
            producer.produce(topic, bytes(1000), f"{number}", 0, timestamp=began + number * MINUTE)
    assert producer.flush(SECONDS) == 0
    commit(cluster, {topic: (topic, AT) for topic in TOPICS})
    yield began
    remove(cluster, list(TOPICS))


@oldest_and_newest
def test_headroom_is_computed_from_the_settings_of_the_topic(cluster: Sandbox, began: int) -> None:
    before = time.time() * 1000
    names = [name for name, settings in TOPICS.items() if settings.get("retention.bytes", -1) == -1]
    answer = run_kgroups("lag", *names, "--headroom", "--debug", "-o", "json", bootstrap=cluster.bootstrap)
    after = time.time() * 1000
    assert (answer.code, answer.failures) == (0, []), answer.err
    rows = {row["group"]: row for row in answer.items}
    deleted = began + AT * MINUTE + 24 * HOUR
    for name in ("headroom-time", "headroom-compacted-too"):
        row = rows[name]
        assert deleted - after <= row["headroom_ms"] <= deleted - before + 1, row
        assert row["headroom_by"] == "retention.ms"
    assert rows["headroom-time"]["headroom_max_ms"] - rows["headroom-time"]["headroom_ms"] == HOUR + INTERVAL
    assert rows["headroom-compacted-too"]["headroom_max_ms"] is None
    assert "compaction can delete" in rows["headroom-compacted-too"]["note"]
    labels = {name: (rows[name]["headroom_ms"], rows[name]["headroom_by"]) for name in names[2:]}
    assert labels == {"headroom-unlimited": (None, "unlimited"), "headroom-compacted": (None, "compacted")}
    assert len(answer.sent("DescribeConfigs")) <= len(cluster.brokers) and not answer.sent("DescribeLogDirs")


@newest_only
def test_page_of_a_group_in_watch_shows_the_same_headroom(cluster: Sandbox, began: int) -> None:
    connection = ConnectionOptions(ClientSettings(parse_bootstrap(cluster.bootstrap)), debug=False)
    for name, by in (
        ("headroom-time", "retention.ms"),
        ("headroom-compacted", "compacted"),
        ("headroom-unlimited", "unlimited"),
    ):
        times = read_time_lags(connection, Isolation.READ_UNCOMMITTED, GroupKey("", name))
        room = times.rooms[name, 0]
        assert (room.by, times.failures, times.note) == (by, (), None)
        assert room.least == (began + AT * MINUTE + 24 * HOUR - times.at if by == "retention.ms" else None)


def test_headroom_by_bytes_is_computed_from_the_size_of_the_log(cluster: Sandbox, began: int) -> None:
    names = ["headroom-bytes", "headroom-first"]
    answer = run_kgroups("lag", *names, "--headroom", "-o", "json", bootstrap=cluster.bootstrap)
    now = time.time() * 1000
    rows = {row["group"]: row for row in answer.items}
    if cluster.version.name == "1.1.1":
        assert answer.code == 1 and {row["headroom_ms"] for row in answer.items} == {None}
        assert "at most" in rows["headroom-first"]["note"] and "by retention.ms" in rows["headroom-first"]["note"]
        return
    assert (answer.code, answer.failures) == (0, []), answer.err
    size = bytes_of(cluster, names)["headroom-bytes"]
    following, age = size * (COUNT - AT) / COUNT, now - (began + AT * MINUTE)
    expected = (2**20 - following) / (following / age)
    row = rows["headroom-bytes"]
    # The other rate, from the start of the log, is the same.
    assert row["headroom_by"] == "retention.bytes" and expected - MINUTE < row["headroom_ms"] < expected + MINUTE, row
    assert row["headroom_max_ms"] > row["headroom_ms"] + INTERVAL
    assert rows["headroom-first"]["headroom_by"] == "retention.ms"


CHECK_INTERVAL = 1000
PACE = 0.12
"""Seconds between two records of a topic, also on a busy machine: predictions by bytes assume a steady pace."""
_TIME: list[dict[str, object]] = [
    {"retention.ms": retention, "segment.ms": segment, "message.timestamp.type": stamp}
    for retention, segment in ((8_000, 1_000), (10_000, 3_000), (12_000, 6_000), (15_000, 500), (9_000, 30_000))
    for stamp in ("CreateTime", "LogAppendTime")
]
_BYTES: list[dict[str, object]] = [
    {"retention.ms": -1, "retention.bytes": retention << 20, "segment.bytes": segment << 20}
    for retention, segment in ((1, 1), (2, 1), (3, 1), (1, 2), (2, 2))
]
_BOTH: list[dict[str, object]] = [
    {"retention.ms": 9_000, "segment.ms": 2_000, "retention.bytes": 1 << 30},
    {"retention.ms": 600_000, "retention.bytes": 2 << 20, "segment.bytes": 1 << 20},
    {"retention.ms": 9_000, "segment.ms": 1_000, "cleanup.policy": "compact,delete"},
    {"retention.ms": 12_000, "segment.ms": 4_000, "segment.bytes": 1 << 20},
    {"retention.ms": 14_000, "segment.ms": 20_000, "retention.bytes": 64 << 20},
]


@pytest.mark.soak
def test_record_is_deleted_within_the_predicted_bounds(require_kafka: Any) -> None:
    """Twenty topics, each written without a pause; three stop after the commit."""
    require_kafka(MAIN)
    topics = {f"soak-{number}": config for number, config in enumerate((*_TIME, *_BYTES, *_BOTH))}
    assert len(topics) == 20
    properties = {"log.retention.check.interval.ms": str(CHECK_INTERVAL), "log.initial.task.delay.ms": "500"}
    with Sandbox.up(MAIN, brokers=1, name="headroom-soak", properties=properties) as sandbox:
        create(sandbox, topics)
        deleted, answers = _observe(sandbox, topics)
    late = []
    for topic, (before, asked, row) in answers.items():
        missing, gone = deleted[topic]
        earliest = before + row["headroom_ms"]
        compacted = "compact" in str(topics[topic].get("cleanup.policy"))
        assert (row["headroom_max_ms"] is None) == compacted
        latest = math.inf if compacted else asked + row["headroom_max_ms"]
        print(f"{topic}: {row['headroom_ms']} .. {row['headroom_max_ms']} ms; deleted after {gone - before:.0f} ms")
        if not (earliest <= gone and missing <= latest):
            late.append((topic, topics[topic], row, gone - before))
    assert not late


def _observe(
    sandbox: Sandbox, topics: dict[str, dict[str, object]]
) -> tuple[dict[str, tuple[float, float]], dict[str, tuple[float, float, Row]]]:
    """Return when each record was last seen and first missing, and the prediction with the times around it."""
    stop, idle, filled = threading.Event(), threading.Event(), threading.Event()
    quiet = set(list(topics)[:6:2])

    def write() -> None:
        producer = Producer({"bootstrap.servers": sandbox.bootstrap, "linger.ms": 5})
        number = 0
        while not stop.is_set():
            due = time.monotonic() + PACE
            for topic in topics:
                if not (idle.is_set() and topic in quiet):
                    producer.produce(topic, bytes(5_000), f"{number}", 0)
            producer.flush(SECONDS)
            number += 1
            if number == 40:
                filled.set()
            time.sleep(max(0.0, due - time.monotonic()))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
        assert filled.wait(SECONDS)
        at = {topic: end - 20 for topic, end in _offsets(admin, topics, OffsetSpec.latest()).items()}
        commit(sandbox, {topic: (topic, offset) for topic, offset in at.items()})
        idle.set()
        before = time.time() * 1000
        answer = run_kgroups("lag", *topics, "--headroom", "-o", "json", bootstrap=sandbox.bootstrap)
        asked = time.time() * 1000
        assert (answer.code, answer.failures) == (0, []), answer.err
        answers = {row["group"]: (before, asked, row) for row in answer.items}
        seen, gone = dict.fromkeys(topics, before), {}
        until = time.monotonic() + 180
        while len(gone) < len(topics):
            assert time.monotonic() < until, topics.keys() - gone.keys()
            begun = time.time() * 1000
            starts = _offsets(admin, [topic for topic in topics if topic not in gone], OffsetSpec.earliest())
            ended = time.time() * 1000
            for topic, start in starts.items():
                if start > at[topic]:
                    gone[topic] = (seen[topic], ended)
                else:
                    seen[topic] = begun
            time.sleep(0.1)
        return gone, answers
    finally:
        stop.set()
        writer.join()


def _offsets(admin: AdminClient, topics: Any, where: OffsetSpec) -> dict[str, int]:
    found = admin.list_offsets({TopicPartition(topic, 0): where for topic in topics})
    return {at.topic: future.result(SECONDS).offset for at, future in found.items()}
