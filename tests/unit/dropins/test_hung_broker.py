"""A hung broker: Kafka's tool loses all rows, the drop-in only those of that broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kgroups.dropins.consumer_groups import TOOL
from tests.fakes.broker import FakeCluster
from tests.fakes.hung import ANSWERING, HUNG, HUNG_CLUSTERS, TIMEOUT
from tests.unit.conftest import Ran


@pytest.mark.parametrize("fill", HUNG_CLUSTERS)
def test_describe_hung_broker_keeps_rows_of_other_brokers(
    run_tool: Callable[..., Ran], serve_in_virtual_time: Callable, fill: Callable[[FakeCluster], None]
) -> None:
    served = serve_in_virtual_time(brokers=3, fill=fill)
    words = ("--describe", "--all-groups", "--timeout", f"{TIMEOUT * 1000:.0f}")
    code, out, err = run_tool(TOOL, "--bootstrap-server", served.bootstrap, *words)
    rows = [line.split() for line in out.splitlines() if line.startswith("g")]
    assert code == 1
    assert sorted({row[0] for row in rows}) == ANSWERING and len(rows) == 3 * len(ANSWERING)
    assert f"broker {HUNG}" in err and "broker 0" not in err and "broker 1" not in err
