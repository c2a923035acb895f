"""Send one request per group over librdkafka: a limited number at once to each coordinator, with retries.

And no request that a broker does not support: librdkafka may send it all the same, return a marker such as -1001
instead of its result, wait for its timeout, or abort the process.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

from kgroups.config.settings import ClientSettings
from kgroups.errors import KgroupsError, UnsupportedVersion
from kgroups.model.groups import GroupId
from kgroups.model.outcome import Failure
from kgroups.net.connector import Connector
from kgroups.net.deadline import Deadline
from kgroups.protocol.apis import consumer_group_describe, describe_configs, describe_groups, list_groups, metadata
from kgroups.protocol.error_codes import BACK_OFF, MOVED
from kgroups.protocol.versions import FIND_COORDINATOR, LIST_OFFSETS, OFFSET_FETCH, Api, BrokerVersions

from ..routing.backoff import PIPELINE, Backoff

T = TypeVar("T")

RETRIABLE = MOVED | BACK_OFF
"""Errors to retry: the coordinator has moved, or is not ready."""


class RequestFailed(Exception):
    """A request failed; ``no_response`` if no broker reported the error."""

    def __init__(self, failure: Failure, *, no_response: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.no_response = no_response


class CircuitBreaker:
    """Limits the requests in flight to one broker, and rejects further requests to a broker that hangs.

    It opens if a request gets no response, and no other request has got one since that one began. Thus a broker that
    hangs costs its timeout once or twice, not for each of its groups.
    """

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(PIPELINE)
        self._responded = 0.0
        self._open: RequestFailed | None = None

    async def call(self, name: GroupId, send: Callable[[GroupId], Awaitable[T]]) -> T:
        """Send the request about a group.

        :raises RequestFailed: also if the circuit breaker is open.
        """
        async with self._slots:
            if self._open:
                raise RequestFailed(self._open.failure._replace(name=name), no_response=True)
            began = time.monotonic()
            try:
                result = await send(name)
            except RequestFailed as error:
                if not error.no_response:
                    self._responded = time.monotonic()
                elif began >= self._responded:
                    self._open = error
                raise
            self._responded = time.monotonic()
            return result


async def send_each(
    names: Iterable[GroupId], send: Callable[[GroupId], Awaitable[T]], breaker_of: Callable[[GroupId], CircuitBreaker]
) -> tuple[dict[GroupId, T], dict[GroupId, Failure]]:
    """Return the result of each group, or its failure."""

    async def call(name: GroupId) -> T | RequestFailed:
        try:
            return await breaker_of(name).call(name, send)
        except RequestFailed as error:
            return error

    found: dict[GroupId, T] = {}
    failed: dict[GroupId, Failure] = {}
    keys = list(names)
    for name, result in zip(keys, await asyncio.gather(*map(call, keys)), strict=True):
        if isinstance(result, RequestFailed):
            failed[name] = result.failure
        else:
            found[name] = result
    return found, failed


async def with_retries(send: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
    """Retry a request, after pauses that double, while the error is one of :data:`RETRIABLE`.

    :raises RequestFailed: the last error, when the time is up.
    """
    backoff = Backoff(lambda: deadline)
    while True:
        try:
            return await send()
        except RequestFailed as error:
            if error.failure.code not in RETRIABLE or not await backoff.wait():
                raise


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
    """The APIs of each broker that responded; ApiVersions needs no authentication, so that kgroups asks it itself."""

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
