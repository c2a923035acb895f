"""A client that is over its quota (KIP-124, KIP-219) on a real broker: slow, complete, and no broker is blamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kgroups.sandbox import Sandbox
from tests.integration.asking import run_kgroups
from tests.integration.group_settings import kafka_configs

CLIENT = "over-quota"


@pytest.fixture(scope="module")
def throttled(require_kafka: Callable[[str], None]) -> Iterator[Sandbox]:
    """One broker that gives a client almost none of its request threads' time."""
    require_kafka("4.3.1")
    with Sandbox.up("4.3.1", 1, name="quota") as sandbox:
        kafka_configs(sandbox, "clients", CLIENT, "--alter", "--add-config", "request_percentage=0.0001")
        yield sandbox


def test_throttled_client_gets_complete_output_and_blames_no_broker(throttled: Sandbox) -> None:
    words = ("-X", f"client.id={CLIENT}", "--broker-timeout", "1s", "--timeout", "60s", "--debug")
    answer = run_kgroups("describe", "--all-groups", *words, bootstrap=throttled.bootstrap, limit=90)
    assert "throttled=" in answer.err
    assert answer.code == 0, answer.err
    assert "no response" not in answer.err


def test_throttle_beyond_the_timeout_is_named(throttled: Sandbox) -> None:
    words = ("-X", f"client.id={CLIENT}", "--timeout", "300ms")
    answer = run_kgroups("describe", "--all-groups", *words, bootstrap=throttled.bootstrap, limit=90)
    assert answer.code == 1
    assert "no response" not in answer.err
    assert "throttles this client (quota)" in answer.err
