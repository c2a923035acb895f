"""Why a part of the facts is unavailable: the request failed, or the broker is too old."""

from __future__ import annotations

from collections.abc import Mapping

from kgroups.errors import KgroupsError, UnsupportedVersion
from kgroups.protocol.apis import describe_client_quotas, describe_producers, describe_transactions, list_transactions
from kgroups.protocol.versions import Api

_SINCE: Mapping[Api, str] = {
    describe_client_quotas.API: "2.6",
    describe_producers.API: "2.8",
    list_transactions.API: "3.0",
    describe_transactions.API: "3.0",
}


def reason_of(api: Api, error: KgroupsError) -> str:
    """Return why a request failed, with the first version of Kafka that has its API if the broker is older."""
    if isinstance(error, UnsupportedVersion):
        return f"requires {api} (Kafka {_SINCE[api]}): {error}"
    return f"{api}: {error}"
