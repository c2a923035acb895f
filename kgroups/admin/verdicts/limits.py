"""Find the quotas that limit how fast consumers read: DescribeClientQuotas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError, UnsupportedVersion
from kgroups.model.cluster import Node
from kgroups.model.outcome import Scope
from kgroups.model.quotas import FetchLimit, fetch_limit
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.describe_client_quotas import API, DescribeClientQuotas
from kgroups.protocol.error_codes import KafkaError

_SINCE = "2.6"


async def fetch_limits(
    cluster: Cluster, node: Node, client_ids: Iterable[str]
) -> tuple[Mapping[str, FetchLimit], str | None]:
    """Return client ID -> its limit, for those that have one; or why the quotas are unknown.

    :param node: the broker to ask; each knows all quotas.
    """
    try:
        quotas = await cluster.call(node, DescribeClientQuotas())
    except UnsupportedVersion as error:
        return {}, f"requires {API} (Kafka {_SINCE}): {error}"
    except KgroupsError as error:
        return {}, f"{API}: {error}"
    if isinstance(quotas, KafkaError):
        return {}, quotas.failure(Scope.CLUSTER, "", api=API.name).message
    limits = {client_id: fetch_limit(quotas, client_id) for client_id in client_ids}
    return {client_id: limit for client_id, limit in limits.items() if limit}, None
