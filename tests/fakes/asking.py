"""Run one query against a fake cluster: start, connect, query, close, stop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from kgroups.admin.query.list_groups import ListFilter
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireClient
from kgroups.model.groups import Group, ListedGroup
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow
from kgroups.model.views.offsets import offset_rows

from .broker import FakeCluster

T = TypeVar("T")

EVERYTHING = Selection(everything=True)
ANY = ListFilter()

PATIENCE = 1.5
"""Seconds that a broker hangs: enough for the others to respond first, on a busy machine too."""


def ask(
    fake: FakeCluster,
    question: Callable[[WireClient], Awaitable[T]],
    via: tuple[int, ...] = (),
    before: Callable[[], Awaitable[None]] | None = None,
    **settings: Any,
) -> T:
    """Run a query. ``via``: the bootstrap brokers; ``before``: runs after connecting, before the query."""

    async def run() -> T:
        async with fake:
            admin = await WireClient.connect(fake.settings(*via, **settings))
            try:
                if before:
                    await before()
                return await question(admin)
            finally:
                await admin.close()

    return asyncio.run(run())


def ask_again(fake: FakeCluster, question: Callable[[WireClient], Awaitable[T]], **settings: Any) -> T:
    """Run a query on a cluster that ran before: restart its brokers and clear their recorded requests."""
    for broker in fake.brokers.values():
        broker.alive = True
        broker.requests.clear()
    return ask(fake, question, **settings)


def list_groups(fake: FakeCluster, wanted: ListFilter = ANY, **rest: Any) -> Outcome[ListedGroup]:
    return ask(fake, lambda admin: admin.list_selected(Selection(among=wanted)), **rest)


def describe(fake: FakeCluster, selection: Selection = EVERYTHING, **rest: Any) -> Outcome[Group]:
    return ask(fake, lambda admin: admin.describe(selection), **rest)


def describe_offsets(
    fake: FakeCluster,
    selection: Selection = EVERYTHING,
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    whole_topics: bool = False,
    **rest: Any,
) -> Outcome[GroupOffsets]:
    async def question(admin: WireClient) -> Outcome[GroupOffsets]:
        return await admin.describe_offsets(selection, isolation=isolation, whole_topics=whole_topics)

    return ask(fake, question, **rest)


def rows(answer: Outcome[GroupOffsets]) -> list[OffsetRow]:
    return [row for offsets in answer.items for row in offset_rows(offsets)]


def names(answer: Outcome[Group] | Outcome[ListedGroup]) -> list[str]:
    return [group.group for group in answer.items]


def described(answer: Outcome[GroupOffsets]) -> list[str]:
    return [offsets.group.group for offsets in answer.items]


def errors(answer: Outcome[Any]) -> dict[str, str | None]:
    """Return the name of each failure with Kafka's error name."""
    return {failure.name: failure.error for failure in answer.failures}


class Stopwatch:
    """Seconds that a block took: ``with Stopwatch() as watch: …; watch.seconds``."""

    seconds = 0.0

    def __enter__(self) -> Stopwatch:
        self._started = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self._started
