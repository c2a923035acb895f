"""Find the quotas that limit how fast consumers read: DescribeClientQuotas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.outcome import Scope
from kgroups.model.quotas import FetchLimit, fetch_limit
from kgroups.model.verdicts.facts import Part, Unavailable
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.describe_client_quotas import API, DescribeClientQuotas
from kgroups.protocol.error_codes import KafkaError

from .transactions import reason_of


async def fetch_limits(
    cluster: Cluster, node: Node, client_ids: Iterable[str]
) -> tuple[Mapping[str, FetchLimit], Unavailable | None]:
    """Return client ID -> its limit, for those that have one; or why the quotas are unknown.

    :param node: the broker to ask; each knows all quotas.
    """
    try:
        quotas = await cluster.call(node, DescribeClientQuotas())
    except KgroupsError as error:
        return {}, Unavailable(Part.QUOTA, reason_of(API, error))
    if isinstance(quotas, KafkaError):
        failure = quotas.failure(Scope.CLUSTER, "", api=API.name)
        return {}, Unavailable(Part.QUOTA, failure.message, failure.acl)
    limits = {client_id: fetch_limit(quotas, client_id) for client_id in client_ids}
    return {client_id: limit for client_id, limit in limits.items() if limit}, None
