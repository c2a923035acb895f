"""A cluster of fake brokers, as programs see it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kgroups import Cluster
from tests.fakes.broker import FakeCluster


@pytest.fixture
def cluster(fake: FakeCluster) -> Iterator[Cluster]:
    with Cluster(",".join(f"127.0.0.1:{broker.port}" for broker in fake.brokers.values())) as connected:
        yield connected
