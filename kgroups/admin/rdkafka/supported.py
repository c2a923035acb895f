"""Which APIs brokers support, before librdkafka is asked to send one.

librdkafka may send a request that a broker does not support, return a marker such as -1001 instead of its result, wait
for its timeout, or abort the process. ApiVersions needs no authentication, so that kgroups asks over its own sockets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from kgroups.config.settings import ClientSettings
from kgroups.errors import KgroupsError, UnsupportedVersion
from kgroups.net.connector import Connector
from kgroups.net.deadline import Deadline
from kgroups.protocol.apis import consumer_group_describe, describe_configs, describe_groups, list_groups, metadata
from kgroups.protocol.required import FIND_COORDINATOR, LIST_OFFSETS, OFFSET_FETCH
from kgroups.protocol.versions import Api, BrokerVersions

Address = tuple[str, int]

_NEEDED: Mapping[str, tuple[Api, ...]] = {
    "Metadata": (metadata.API,),
    "DescribeCluster": (metadata.API,),  # over Metadata
    "ListGroups": (list_groups.API,),
    "DescribeGroups": (FIND_COORDINATOR, describe_groups.API),
    "OffsetFetch": (FIND_COORDINATOR, OFFSET_FETCH),
    "ListOffsets": (LIST_OFFSETS,),
    "DescribeConfigs": (describe_configs.API,),
}
"""The request, as failures name it -> the APIs that librdkafka sends for it."""


class SupportedApis:
    """The APIs of each broker that responded."""

    def __init__(self, settings: ClientSettings) -> None:
        security = settings.security and settings.security._replace(sasl=None)
        self._settings = settings._replace(security=security)
        self._versions: dict[Address, BrokerVersions] = {}

    async def ask(self, addresses: Iterable[Address], deadline: Deadline) -> None:
        """Ask brokers that were not asked; what one without a response supports remains unknown."""
        new = [address for address in dict.fromkeys(addresses) if address not in self._versions]
        if not new:
            return
        try:
            connector = Connector(self._settings, None)
        except KgroupsError:
            return
        await asyncio.gather(*(self._ask(connector, address, deadline) for address in new))

    async def _ask(self, connector: Connector, address: Address, deadline: Deadline) -> None:
        host, port = address
        try:
            async with asyncio.timeout(deadline.remaining()):
                link = await connector.link(host, port, f"{host}:{port}", deadline)
        except (KgroupsError, TimeoutError, OSError):
            return  # librdkafka meets the same error and reports it
        link.connection.close()
        self._versions[address] = link.versions

    def check(self, request: str) -> None:
        """Check a request before it is sent.

        :raises UnsupportedVersion: if a broker lacks an API that it needs.
        """
        for api in _NEEDED[request]:
            self._check(api)

    def check_missing_group(self) -> None:
        """Check that a group which librdkafka does not find is not one that it cannot describe.

        :raises UnsupportedVersion: if a broker that reports group types cannot describe KIP-848 groups.
        """
        if any(versions.speaks(list_groups.API, list_groups.TYPES) for versions in self._versions.values()):
            self._check(consumer_group_describe.API)

    def _check(self, api: Api) -> None:
        for (host, port), versions in self._versions.items():
            if api.key not in versions.ranges:  # librdkafka has versions of its own
                raise UnsupportedVersion(f"the broker does not support {api}", peer=f"{host}:{port}")
