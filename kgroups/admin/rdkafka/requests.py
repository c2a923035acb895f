"""Send one request per group over librdkafka: a limited number at once to each coordinator, with retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from kgroups.model.groups import GroupId
from kgroups.model.outcome import Failure
from kgroups.net.deadline import Deadline
from kgroups.protocol.error_codes import BACK_OFF, MOVED

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
