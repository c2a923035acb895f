"""What only the wire client supports is refused over librdkafka in one place."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from kgroups.admin.client import WireOnly, wire_of
from kgroups.admin.rdkafka.client import LibrdkafkaClient
from kgroups.admin.wire import WireClient
from kgroups.errors import UsageError


@pytest.mark.parametrize("why", WireOnly)
def test_only_the_wire_client_has_a_cluster(why: WireOnly) -> None:
    cluster = Mock()
    assert wire_of(WireClient(cluster), why) is cluster
    with pytest.raises(UsageError) as refused:
        wire_of(LibrdkafkaClient.__new__(LibrdkafkaClient), why)
    assert str(refused.value) == f"--transport librdkafka: {why.value}"


def test_reasons_are_all_known() -> None:
    assert len(WireOnly) == 11
