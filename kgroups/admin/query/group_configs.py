"""Fetch the dynamic configuration of groups (KIP-848): the values that were set for one group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.describe_configs import API, DYNAMIC_GROUP, GROUP, DescribeConfigs, Resource
from kgroups.protocol.error_codes import Code, KafkaError

GROUPS_PER_REQUEST = 500
_NO_SUCH_CONFIGS = frozenset({Code.invalid_request, Code.unsupported_version, Code.invalid_config})
"""Errors of brokers without configurations of groups."""

GroupConfigs = dict[GroupId, Mapping[str, str | None]]


async def fetch_group_configs(cluster: Cluster, groups: Iterable[Group]) -> tuple[GroupConfigs, tuple[Failure, ...]]:
    """Return the values that were set for each group, and the failures of the other groups.

    Of brokers before Kafka 4.0, which have no such configuration, every group has none.
    """
    by_node: dict[Node, list[GroupId]] = {}
    for group in groups:
        by_node.setdefault(group.coordinator, []).append(group.group_id)
    jobs = []
    for node, names in sorted(by_node.items()):
        for at in range(0, len(names), GROUPS_PER_REQUEST):
            part = names[at : at + GROUPS_PER_REQUEST]
            call = DescribeConfigs({Resource(GROUP, name): None for name in part}, DYNAMIC_GROUP)
            jobs.append(((node, part), cluster.call(node, call)))
    found: GroupConfigs = {}
    failures: list[Failure] = []
    for (node, part), response in await fan_out(jobs):
        for name in part:
            configs = response if isinstance(response, KgroupsError) else response.get(Resource(GROUP, name))
            if isinstance(configs, KafkaError) and configs.code in _NO_SUCH_CONFIGS:
                found[name] = {}
            elif configs is None or isinstance(configs, KafkaError | KgroupsError):
                failures.append(_failure(name, configs, node))
            else:
                found[name] = configs
    return found, tuple(failures)


def _failure(name: GroupId, error: KafkaError | KgroupsError | None, node: Node) -> Failure:
    if isinstance(error, KafkaError):
        failure = error.failure(Scope.GROUP, name, api=API.name, broker=node.id)
    elif error is not None:
        failure = Failure.of(error, Scope.GROUP, name, api=API.name, broker=node.id)
    else:
        failure = Failure(Scope.GROUP, name, "missing in the response", api=API.name, broker=node.id)
    return failure._replace(message=f"its dynamic configuration is unknown: {failure.message}")
