from __future__ import annotations

import socket

import pytest

from kgroups.errors import BrokerUnavailable, ClusterUnreachable, UnsupportedVersion
from tests.fakes.asking import list_groups
from tests.fakes.broker import FakeCluster
from tests.fakes.versions import OFFSET_FETCH


@pytest.mark.parametrize("ranges", [(0, 1), (20, 21)])
def test_cluster_without_a_shared_version_is_unsupported(ranges: tuple[int, int]) -> None:
    fake = FakeCluster(1)
    fake.brokers[0].ranges = {**fake.brokers[0].ranges, OFFSET_FETCH: ranges}
    with pytest.raises(UnsupportedVersion, match=r"broker 0 .* and kgroups have no common version of OffsetFetch"):
        list_groups(fake)


def test_cluster_without_an_api_serves_requests_that_do_not_need_it() -> None:
    fake = FakeCluster(1)
    fake.brokers[0].ranges = {key: found for key, found in fake.brokers[0].ranges.items() if key != OFFSET_FETCH}
    assert list_groups(fake).failures == ()


def test_cluster_without_running_brokers_is_unreachable() -> None:
    fake = FakeCluster(1)
    fake.brokers[0].alive = False
    with pytest.raises(ClusterUnreachable, match="connection refused"):
        list_groups(fake)


def test_unreachable_advertised_address_is_named() -> None:
    fake = FakeCluster(1)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        fake.brokers[0].advertised = closed.getsockname()[1]
        words = r"refused \(the address that the broker advertises\)$"
        with pytest.raises(BrokerUnavailable, match=words):
            list_groups(fake)
