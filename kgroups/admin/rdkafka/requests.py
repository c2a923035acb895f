"""Many single questions over librdkafka: so many at once to each coordinator, again while it is not ready."""

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

AGAIN = MOVED | BACK_OFF
"""What passes: the coordinator has moved, or is not ready."""


class RequestFailed(Exception):
    """A question without an answer; ``no_response`` when it was no broker that said so."""

    def __init__(self, failure: Failure, *, no_response: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.no_response = no_response


class CircuitBreaker:
    """The requests under way to one broker.

    Shut when one gets no answer and no other has had one since it began: a broker that hangs costs its time-out once
    or twice, and not for each of its groups.
    """

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(PIPELINE)
        self._answered = 0.0
        self._shut: RequestFailed | None = None

    async def through(self, name: GroupId, ask: Callable[[GroupId], Awaitable[T]]) -> T:
        async with self._slots:
            if self._shut:
                raise RequestFailed(self._shut.failure._replace(name=name), no_response=True)
            began = time.monotonic()
            try:
                answer = await ask(name)
            except RequestFailed as refused:
                if not refused.no_response:
                    self._answered = time.monotonic()
                elif began >= self._answered:
                    self._shut = refused
                raise
            self._answered = time.monotonic()
            return answer


async def ask_each(
    names: Iterable[GroupId], ask: Callable[[GroupId], Awaitable[T]], gate_of: Callable[[GroupId], CircuitBreaker]
) -> tuple[dict[GroupId, T], dict[GroupId, Failure]]:
    """Each group's answer, or why there is none."""

    async def one(name: GroupId) -> T | RequestFailed:
        try:
            return await gate_of(name).through(name, ask)
        except RequestFailed as refused:
            return refused

    found: dict[GroupId, T] = {}
    failed: dict[GroupId, Failure] = {}
    keys = list(names)
    for name, answer in zip(keys, await asyncio.gather(*map(one, keys)), strict=True):
        if isinstance(answer, RequestFailed):
            failed[name] = answer.failure
        else:
            found[name] = answer
    return found, failed


async def with_retries(ask: Callable[[], Awaitable[T]], patience: Deadline) -> T:
    """Asks again, after growing pauses, while the answer is one of :data:`AGAIN`.

    :raises RequestFailed: what was said last, when patience is at its end.
    """
    backoff = Backoff(lambda: patience)
    while True:
        try:
            return await ask()
        except RequestFailed as refused:
            if refused.failure.code not in AGAIN or not await backoff.wait():
                raise
