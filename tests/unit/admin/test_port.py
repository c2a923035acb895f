"""Capabilities that only the wire client has are refused over librdkafka in one place."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from kgroups.admin.port import capabilities
from kgroups.admin.rdkafka.client import RdkafkaAdmin
from kgroups.admin.wire import WireAdmin
from kgroups.errors import UsageError

CAPABILITIES = {name: each for name, each in vars(capabilities).items() if isinstance(each, capabilities.Capability)}


@pytest.mark.parametrize("name", CAPABILITIES)
def test_capability_is_only_in_the_wire_client(name: str) -> None:
    wire, other = WireAdmin(Mock()), RdkafkaAdmin.__new__(RdkafkaAdmin)
    capability: capabilities.Capability[Any] = CAPABILITIES[name]
    assert capability.of(wire) is wire
    with pytest.raises(UsageError, match=f"--transport librdkafka: {capability.without}"):
        capability.of(other)


def test_capabilities_are_all_known() -> None:
    assert len(CAPABILITIES) == 7
