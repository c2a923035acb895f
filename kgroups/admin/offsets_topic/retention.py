"""Fetch the retention time of committed offsets: ``offsets.retention.minutes``."""

from __future__ import annotations

from kgroups.errors import KgroupsError
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.describe_configs import BROKER, DescribeConfigs, Resource
from kgroups.protocol.error_codes import KafkaError

SETTING = "offsets.retention.minutes"
_MINUTE = 60_000


async def offsets_retention(cluster: Cluster) -> int | str:
    """Return the retention time in milliseconds, or why it is unknown.

    Only one broker is queried: all should have the same value.
    """
    for node in cluster.nodes_by_health():
        broker = Resource(BROKER, str(node.id))
        try:
            configs = (await cluster.call(node, DescribeConfigs({broker: (SETTING,)}))).get(broker, {})
        except KgroupsError as error:
            return str(error)
        if isinstance(configs, KafkaError):
            return configs.message
        value = configs.get(SETTING)
        return int(value) * _MINUTE if value and value.isascii() and value.isdigit() else f"no {SETTING}"
    return "no brokers are known"
