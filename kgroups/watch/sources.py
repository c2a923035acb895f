"""The watched clusters: each is polled over its own connections, all of them on one event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from types import TracebackType
from typing import Self

from kgroups.admin.client import Client
from kgroups.admin.fleet import PARALLEL, wanted_of
from kgroups.admin.loop_thread import LoopThread
from kgroups.admin.query.select_groups import Selection
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.errors import KgroupsError, Reason
from kgroups.model.clusters import ClusterAnswer, distinct, ids_of, merge_clusters
from kgroups.model.groups import GroupId
from kgroups.model.outcome import Failure, Outcome, Scope, unanswered
from kgroups.model.views.offset_row import GroupOffsets

from .repeated_query import RepeatedQuery
from .state.watching import Watch, WatchRow
from .tick import Sampled, Tick

PATIENCE = 5.0
"""Seconds without an answer from any cluster, after which a screen shows the clusters that have answered."""
_REJECTED = 30.0
"""Seconds until a cluster that rejected the password is polled again: more attempts could lock the account."""
_GRACE = 0.5
"""Seconds after ``--cluster-timeout`` in which a poll reports what did not respond."""
_CLOSING = 1.0
"""Seconds to close the connections at the end."""

Query = Callable[["Client"], Awaitable[Outcome["GroupOffsets"]]]
Polled = tuple[Outcome["GroupOffsets"], int]
"""The outcome of a poll, and when it ended, in milliseconds since 1970."""


class Source:
    """One cluster: its connections, its samples, and its last outcome."""

    def __init__(self, connection: ConnectionOptions, name: str, *, on_screen: bool) -> None:
        self.name = name
        self._on_screen = on_screen
        self.cluster_id: str | None = None
        self.watch = Watch(name)
        self.offsets: dict[GroupId, GroupOffsets] = {}
        """The last known offsets of the groups on a screen; a page of the screen shows one group."""
        self.outcome: Outcome[WatchRow] = Outcome()
        self.at = 0
        self.is_prompt = True
        """Whether the last poll answered in time: only then, a refresh waits for the next one."""
        self.poll: Future[Polled] | None = None
        self.polls = RepeatedQuery(connection, name)
        self._began = 0.0
        self._fresh = False
        self._failures: tuple[Failure, ...] = ()

    async def run(self, query: Query, turns: asyncio.Semaphore, patience: float) -> Polled:
        """Poll once."""

        async def identified(admin: Client) -> Outcome[GroupOffsets]:
            self.cluster_id = admin.cluster_id
            return await query(admin)

        async with turns:
            began, self.is_prompt = time.monotonic(), False
            outcome: Outcome[GroupOffsets] = await self.polls.run(identified)
            self.is_prompt = time.monotonic() - began < patience
            return outcome, _now()

    @property
    def sampled(self) -> Sampled:
        return Sampled(self.offsets, self.watch)

    def start(self, start: Callable[[Source], Future[Polled]]) -> None:
        """Start a poll, unless one is under way, or the cluster has just rejected the password."""
        now = time.monotonic()
        rejected = any(
            failure.scope is Scope.CLUSTER and failure.reason == Reason.AUTHENTICATION_FAILED
            for failure in self._failures
        )
        if self.poll is None and not (rejected and now < self._began + _REJECTED):
            self._began, self.poll = now, start(self)

    def take(self, *, raises: bool = False) -> None:
        """Add the sample of a poll that has ended.

        :raises KgroupsError: with ``raises``, if it failed as a whole; otherwise this is a failure of the outcome.
        """
        if self.poll is None or not self.poll.done():
            return
        poll, self.poll = self.poll, None
        try:
            outcome, at = poll.result()
        except KgroupsError as error:
            if raises:
                raise
            outcome, at = Outcome(failures=(Failure.of(error, Scope.CLUSTER, self.name),)), _now()
        self._fresh, self._failures = True, outcome.failures
        self._add(outcome, at)

    def hold(self) -> None:
        """Unless it answered since the last call, keep its groups as stale rows, and name the cluster."""
        self._fresh, fresh = False, self._fresh
        if fresh:
            return
        failures = self._failures
        if unanswered(failures) is not None:
            late = f"no response within {time.monotonic() - self._began:.0f} s"
            text = "not queried yet: other clusters are queried first" if self.is_prompt else late
            failures = (*failures, Failure(Scope.CLUSTER, self.name, text, reason=Reason.TIMEOUT))
        self._add(Outcome(failures=failures), _now())

    def _add(self, outcome: Outcome[GroupOffsets], at: int) -> None:
        self.at = at
        rows = self.watch.add(at, outcome.items, unanswered(outcome.failures))
        if self._on_screen:
            self.offsets.update((each.group.group, each) for each in outcome.items)
            self.offsets = {row.group: self.offsets[row.group] for row in rows}
        self.outcome = outcome.with_items(rows)


class Sources:
    """All watched clusters. A cluster of two profiles is watched under the profile that answered first."""

    def __init__(self, connection: ConnectionOptions, selection: Selection, query: Query, *, on_screen: bool) -> None:
        fleet = connection.fleet
        self._several = fleet is not None
        self._limit = fleet.cluster_timeout + _GRACE if fleet else threading.TIMEOUT_MAX
        self._patience = min(PATIENCE, self._limit) if on_screen and fleet else self._limit
        self._wanted = wanted_of(selection)
        self._query = query
        names = fleet.names if fleet else ("",)
        self._sources = [Source(connection, name, on_screen=on_screen) for name in names]
        self._duplicates: list[str] = []
        self._turns, self._late_turns = asyncio.Semaphore(PARALLEL), asyncio.Semaphore(PARALLEL)
        self._loop = LoopThread()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._close(self._sources)
        finally:
            self._loop.close()

    def refresh(self, number: int) -> Tick:
        """Poll all clusters, and wait for the clusters that answered in time before.

        :raises KgroupsError: if the first poll of the only cluster fails as a whole.
        """
        for source in self._sources:
            source.take()
        awaited = [source for source in self._sources if source.is_prompt or not self._several]
        for source in self._sources:
            source.start(self._start)
        self._wait({source.poll for source in awaited if source.poll})
        for source in self._sources:
            source.take(raises=number == 1 and not self._several)
            source.hold()
        if self._several:
            return self._merged(number)
        (only,) = self._sources
        outcome = only.outcome
        return Tick(number, only.at, outcome.items, outcome.failures, {"": only.sampled}, outcome.notices)

    def _wait(self, polls: set[Future[Polled]]) -> None:
        ends = time.monotonic() + self._limit
        while polls:
            ended, polls = wait(polls, max(0.0, min(self._patience, ends - time.monotonic())), FIRST_COMPLETED)
            if not ended:
                return

    def _start(self, source: Source) -> Future[Polled]:
        turns = self._turns if source.is_prompt else self._late_turns  # clusters that are late block no others
        return self._loop.start(source.run(self._query, turns, self._patience))

    def _merged(self, number: int) -> Tick:
        answers = [ClusterAnswer(each.name, each.cluster_id, each.outcome) for each in self._sources]
        kept, duplicates = distinct(answers)
        if duplicates:
            self._duplicates += duplicates
            names = {each.cluster for each in kept}
            self._close([source for source in self._sources if source.name not in names])
            self._sources = [source for source in self._sources if source.name in names]
        self._sources.sort(key=lambda source: not source.outcome.items)  # a cluster that is shown keeps its name
        outcome, shown = merge_clusters(kept, lambda cluster, row: row, self._wanted)
        rows = sorted(outcome.items, key=lambda row: row.key)
        sampled = {source.name: source.sampled for source in self._sources}
        failures = tuple(sorted(outcome.failures, key=Failure.sort_key))
        notices = (*self._duplicates, *outcome.notices)
        return Tick(number, _now(), rows, failures, sampled, notices, dict(sorted(ids_of(shown).items())))

    def _close(self, sources: list[Source]) -> None:
        async def close() -> None:
            async with asyncio.timeout(_CLOSING):
                await asyncio.gather(*(source.polls.close() for source in sources))

        for source in sources:
            if source.poll:
                source.poll.cancel()
        with suppress(TimeoutError):
            self._loop.run(close())


def _now() -> int:
    return int(time.time() * 1000)
