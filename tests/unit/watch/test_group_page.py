"""The time lag and the headroom on the page of a group: the same as in ``kgroups lag --headroom``."""

from __future__ import annotations

from collections.abc import Callable

from kio.schema.errors import ErrorCode

from kgroups.cli.frame.options import ConnectionOptions
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.headroom import NOTHING_UNREAD, UNLIMITED
from kgroups.model.offsets import Isolation
from kgroups.watch.group_page import VERDICTS, explained, read_time_lags
from kgroups.watch.state.partitions import TimeLags
from kgroups.watch.state.watching import GroupKey
from tests.fakes.broker import FakeCluster
from tests.fakes.record_batches import batch

KEPT = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
KEPT |= {"segment.ms": "3600000", "segment.bytes": "1000"}


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100, logs={1: [batch(80, [(80, 1_000)])]})
    fake.state.group("a", 0, commits={("orders", 0): 100, ("orders", 1): 80})
    fake.state.settings |= {"orders": KEPT, "0": {"log.retention.check.interval.ms": "300000"}}
    fake.state.settings["1"] = fake.state.settings["0"]


def read(bootstrap: str) -> TimeLags:
    settings = ClientSettings(parse_bootstrap(bootstrap))
    return read_time_lags(ConnectionOptions(settings, False), Isolation.READ_UNCOMMITTED, GroupKey("", "a"))


def test_partition_without_unread_records_has_neither_time_lag_nor_headroom(serve: Callable) -> None:
    times = read(serve(fill=shop).bootstrap)
    assert times.ages["orders", 0].age == 0 and times.rooms["orders", 0].by == NOTHING_UNREAD
    assert ("orders", 1) in times.ages


def test_headroom_is_that_of_the_settings_of_the_topic(serve: Callable) -> None:
    fake = serve(fill=shop)
    assert read(fake.bootstrap).rooms["orders", 1].by == UNLIMITED
    fake.state.settings["orders"] = {**KEPT, "retention.ms": "100"}
    assert read(fake.bootstrap).rooms["orders", 1][::2] == (0, "retention.ms")


def test_unknown_headroom_is_named_with_its_reason(serve: Callable) -> None:
    fake = serve(fill=shop)
    fake.state.fail("DescribeConfigs", "orders", ErrorCode.topic_authorization_failed)
    times = read(fake.bootstrap)
    assert times.rooms["orders", 1].by is None and times.rooms["orders", 0].by == NOTHING_UNREAD
    assert "topic 'orders': its retention is unknown" in times.failures[0]
    assert times.note is not None and "headroom unknown of 1 partition: " in times.note


def test_unreachable_cluster_is_named() -> None:
    times = read("127.0.0.1:1")
    assert times.ages == {} == times.rooms and "no bootstrap server responded" in times.failures[0]


def test_explanation_of_many_partitions_shows_the_worst(serve: Callable) -> None:
    def fill(fake: FakeCluster) -> None:
        fake.state.topic("orders", [0] * 30, end=100)
        fake.state.group("a", 0, commits={("orders", number): 90 if number < 29 else 500 for number in range(30)})

    settings = ClientSettings(parse_bootstrap(serve(fill=fill).bootstrap))
    lines = explained(ConnectionOptions(settings, False), GroupKey("", "a"))
    verdicts = [line for line in lines if line.startswith("a: orders-")]
    assert verdicts[0] == "a: orders-29: PROBLEM: beyond-log-end" and len(verdicts) == VERDICTS
    assert "10 more partitions with lag: kgroups explain a --lagging" in lines
