"""How long brokers keep offsets: ``offsets.retention.minutes``."""

from __future__ import annotations

from kgroups.errors import KgroupsError
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.describe_configs import BROKER, DescribeConfigs, Resource
from kgroups.protocol.error_codes import KafkaError

SETTING = "offsets.retention.minutes"
_MINUTE = 60_000


async def offsets_retention(cluster: Cluster) -> int | str:
    """Milliseconds; or why it is not known. One broker is asked for all: they are to be alike."""
    for node in cluster.nodes_by_health():
        asked = Resource(BROKER, str(node.id))
        try:
            told = (await cluster.call(node, DescribeConfigs({asked: (SETTING,)}))).get(asked, {})
        except KgroupsError as error:
            return str(error)
        if isinstance(told, KafkaError):
            return told.message
        value = told.get(SETTING)
        return int(value) * _MINUTE if value and value.isascii() and value.isdigit() else f"no {SETTING}"
    return "no broker is known"
