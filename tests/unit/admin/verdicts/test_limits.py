"""Quotas of consumers from a broker that reports them, rejects the request, or is too old."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from kgroups.admin.verdicts.limits import fetch_limits
from kgroups.errors import BrokerUnavailable, UnsupportedVersion
from kgroups.model.cluster import Node
from kgroups.model.permissions import CLUSTER, CLUSTER_NAME, Acl
from kgroups.model.quotas import FetchLimit, Quota
from kgroups.model.verdicts.facts import Part, Unavailable
from kgroups.net.cluster import Cluster
from kgroups.protocol.error_codes import Code, kafka_error

QUOTAS = (Quota({"client-id": "app"}, {"consumer_byte_rate": 5.0}),)

DENIED = Unavailable(
    Part.QUOTA,
    "not authorized: needs DESCRIBE_CONFIGS on CLUSTER",
    Acl("DESCRIBE_CONFIGS", CLUSTER, CLUSTER_NAME),
)


class OneAnswer:
    """A cluster whose broker gives one answer, or fails."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    async def call(self, node: Node, call: object) -> Any:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.mark.parametrize(
    ("answer", "limits", "missing"),
    [
        (QUOTAS, {"app": FetchLimit(5.0, "client ID 'app'")}, None),
        ((), {}, None),
        (kafka_error(Code.cluster_authorization_failed), {}, DENIED),
        (UnsupportedVersion("no"), {}, Unavailable(Part.QUOTA, "requires DescribeClientQuotas (Kafka 2.6): no")),
        (BrokerUnavailable("gone"), {}, Unavailable(Part.QUOTA, "DescribeClientQuotas: gone")),
    ],
)
def test_limits_of_clients_are_known_or_the_reason_is(
    answer: object, limits: dict[str, FetchLimit], missing: Unavailable | None
) -> None:
    cluster = cast("Cluster", OneAnswer(answer))
    assert asyncio.run(fetch_limits(cluster, Node(1, "broker", 9092), ("app", "other"))) == (limits, missing)
