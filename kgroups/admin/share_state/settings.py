"""Fetch the settings of share groups that limit deliveries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.effective_setting import NOT_REPORTED, Effective
from kgroups.model.groups import Group, GroupId
from kgroups.model.share.partition import ShareSettings
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.describe_configs import BROKER, DescribeConfigs, Resource, Settings
from kgroups.protocol.error_codes import KafkaError

from ..query.group_configs import fetch_effective

DELIVERY_LIMIT, LOCK_DURATION = "share.delivery.count.limit", "share.record.lock.duration.ms"
"""Settings of groups; those of brokers begin with ``group.``."""
DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name"
"""A setting of groups (KIP-1191, Kafka 4.4)."""
_OF_GROUPS = (DELIVERY_LIMIT, LOCK_DURATION, DEAD_LETTER_TOPIC)
_OF_BROKERS = (f"group.{DELIVERY_LIMIT}", f"group.{LOCK_DURATION}")

_Inherited = Mapping[str, str | None] | KafkaError | KgroupsError


async def fetch_share_settings(cluster: Cluster, groups: Iterable[Group]) -> Mapping[GroupId, ShareSettings]:
    """Return the settings of groups. Errors are in the settings, not raised.

    Before Kafka 4.3, groups have no delivery limit of their own: that of their coordinator applies.
    """
    groups = tuple(groups)
    found = await fetch_effective(cluster, groups, _OF_GROUPS)
    nodes = {each.coordinator for each in groups if found[each.group][DELIVERY_LIMIT].unknown == NOT_REPORTED}
    inherited = dict(await fan_out((node, _of_broker(cluster, node)) for node in sorted(nodes)))
    return {each.group: _settings(found[each.group], inherited.get(each.coordinator)) for each in groups}


async def _of_broker(cluster: Cluster, node: Node) -> Settings | KafkaError | None:
    broker = Resource(BROKER, str(node.id))
    return (await cluster.call(node, DescribeConfigs({broker: _OF_BROKERS}))).get(broker)


def _settings(found: Mapping[str, Effective], inherited: _Inherited | None) -> ShareSettings:
    limit, lock, topic = (found[name] for name in _OF_GROUPS)
    if topic.unknown == NOT_REPORTED:
        topic = topic._replace(unknown="not reported, requires Kafka 4.4")
    return ShareSettings(_or_of_broker(limit, inherited), _or_of_broker(lock, inherited), topic)


def _or_of_broker(of_group: Effective, inherited: _Inherited | None) -> Effective:
    """Return the setting of the broker, if groups have none of this name."""
    if of_group.unknown != NOT_REPORTED or inherited is None:
        return of_group
    if isinstance(inherited, KgroupsError | KafkaError):
        return of_group._replace(unknown=inherited.message if isinstance(inherited, KafkaError) else str(inherited))
    value = inherited.get(f"group.{of_group.name}")
    return of_group if value is None else Effective(of_group.name, value)
