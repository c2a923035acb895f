"""Fetch the settings of share groups that limit deliveries: those of the group, otherwise those of its coordinator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId
from kgroups.model.outcome import Scope
from kgroups.model.share.partition import Setting, ShareSettings
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.describe_configs import API, BROKER, GROUP, DescribeConfigs, Resource, Settings
from kgroups.protocol.error_codes import KafkaError

DELIVERY_LIMIT, LOCK_DURATION = "share.delivery.count.limit", "share.record.lock.duration.ms"
"""Settings of groups; those of brokers begin with ``group.``."""
DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name"
"""A setting of groups (KIP-1191, Kafka 4.4)."""
_OF_GROUPS = (DELIVERY_LIMIT, LOCK_DURATION, DEAD_LETTER_TOPIC)
_OF_BROKERS = (f"group.{DELIVERY_LIMIT}", f"group.{LOCK_DURATION}")


async def fetch_share_settings(cluster: Cluster, groups: Iterable[Group]) -> Mapping[GroupId, ShareSettings]:
    """Return the settings of groups. Errors are in the settings, not raised."""
    names: dict[Node, list[GroupId]] = {}
    for group in groups:
        names.setdefault(group.coordinator, []).append(group.group_id)
    results = await fan_out(((node, each), _fetch(cluster, node, each)) for node, each in sorted(names.items()))
    return {name: _settings(name, node, answer) for (node, each), answer in results for name in each}


async def _fetch(cluster: Cluster, node: Node, names: Iterable[GroupId]) -> Mapping[Resource, Settings | KafkaError]:
    groups = {Resource(GROUP, name): _OF_GROUPS for name in names}
    return await cluster.call(node, DescribeConfigs({**groups, Resource(BROKER, str(node.id)): _OF_BROKERS}))


def _settings(
    name: GroupId, node: Node, answer: Mapping[Resource, Settings | KafkaError] | KgroupsError
) -> ShareSettings:
    if isinstance(answer, KgroupsError):
        return ShareSettings(*(Setting(setting, unknown=str(answer)) for setting in _OF_GROUPS))
    of_group, of_broker = answer.get(Resource(GROUP, name)), answer.get(Resource(BROKER, str(node.id)))
    if isinstance(of_group, KafkaError):
        # The message then names the group in the missing ACL.
        of_group = of_group._replace(message=of_group.failure(Scope.GROUP, name, api=API.name).message)
    limit, lock, topic = (_setting(of_group, setting) for setting in _OF_GROUPS)
    if topic.value is None and topic.unknown is None:
        topic = topic._replace(unknown="not reported, requires Kafka 4.4")
    return ShareSettings(_or_of_broker(limit, of_broker), _or_of_broker(lock, of_broker), topic)


def _setting(configs: Settings | KafkaError | None, name: str) -> Setting:
    if configs is None or isinstance(configs, KafkaError):
        return Setting(name, unknown=configs.message if configs else "missing in the response")
    return Setting(name, configs.get(name))


def _or_of_broker(of_group: Setting, of_broker: Settings | KafkaError | None) -> Setting:
    """Return the setting of the broker, if the group has none; a group whose settings are unknown may have its own."""
    if of_group.value is not None or of_group.unknown is not None:
        return of_group
    return _setting(of_broker, f"group.{of_group.name}")
