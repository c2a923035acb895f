"""The time lag on the page of a group: the same as in ``kgroups lag --time``."""

from __future__ import annotations

from collections.abc import Callable

from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.watch.time_lags import read_time_lags
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.offsets import Isolation
from kgroups.model.watch.watching import GroupKey
from tests.fakes.broker import FakeCluster


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    fake.state.group("a", 0, commits={("orders", 0): 100, ("orders", 1): 80})


def test_partition_without_unread_records_has_no_time_lag_and_failures_are_named(serve: Callable) -> None:
    settings = ClientSettings(parse_bootstrap(serve(fill=shop).bootstrap))
    times = read_time_lags(ConnectionOptions(settings, False), Isolation.READ_UNCOMMITTED, GroupKey("", "a"))
    assert times.ages["orders", 0].age == 0
    assert ("orders", 1) in times.ages


def test_unreachable_cluster_is_named() -> None:
    settings = ClientSettings(parse_bootstrap("127.0.0.1:1"))
    times = read_time_lags(ConnectionOptions(settings, False), Isolation.READ_UNCOMMITTED, GroupKey("", "a"))
    assert times.ages == {} and "no bootstrap server responded" in times.failures[0]
