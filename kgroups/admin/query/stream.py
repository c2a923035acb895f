"""Query the groups of each broker as soon as its list arrives, and yield the results in name order.

Each coordinator has a lane: its groups, sorted by name, are queried in pieces, a few pieces ahead of the reader, so
that round trips overlap. Batches are merged from the first pieces of all lanes. A lane that waits for a broker that
does not respond delays no other lane: after a short stall, all lanes continue without waiting for the reader, and the
results that have arrived are finished without the others.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import aclosing
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId, ListedGroup
from kgroups.model.outcome import NO_MATCH, Failure, NoMatch, Outcome, Scope, merge
from kgroups.net.cluster import Cluster

from ..routing.coordinators import find_coordinators
from .select_groups import ResolvedSelection, Selection, stream_selected

T = TypeVar("T")
U = TypeVar("U")

LARGEST_PIECE = 1_000
SMALLEST_PIECE = 250
HELD = 36_000
"""Groups whose results are awaited or held at once, over all coordinators."""
FEWEST_HELD, MOST_HELD = 3, 6
"""Pieces of one coordinator that are awaited or held at once, at least and at most."""
PIECES_UNDER_WAY = 2
"""Pieces that are requested from one coordinator at once. Together they fill exactly :data:`.backoff.BATCHES`."""

LONGEST_STALL = 0.5
"""Seconds without progress after which the results so far are finished alone; less if little time is left."""


class Stages(NamedTuple, Generic[T, U]):
    """The two stages of a query about groups."""

    query: Callable[[ResolvedSelection], Awaitable[Outcome[T]]]
    """Return the results for groups of one coordinator, sorted by name."""
    finish: Callable[[Sequence[T]], Awaitable[tuple[Sequence[U], Sequence[Failure]]]]
    """Make the final result of each from results of several coordinators; may add failures."""
    name: Callable[[T], GroupId]


async def stream_batches(cluster: Cluster, selection: Selection, stages: Stages[T, U]) -> AsyncGenerator[Outcome[U]]:
    """Yield the results for the selected groups in batches, sorted by name within and across batches.

    A batch holds the failures of its groups. The last batch has no items, but all other failures and the notices.
    """
    stream = _Stream(cluster, selection, stages)
    try:
        async for batch in stream.batches():
            yield batch
    finally:
        await stream.close()


async def collect(batches: AsyncGenerator[Outcome[T]]) -> Outcome[T]:
    """Merge all batches into one outcome."""
    async with aclosing(batches):
        return merge([batch async for batch in batches])


class _Piece(Generic[T, U]):
    """The results for some groups of one coordinator, sorted by name; the last of these names is ``last``."""

    def __init__(self, last: GroupId) -> None:
        self.last = last
        self.names: list[GroupId] = []
        self.items: Sequence[T] = ()
        self.failures: Sequence[Failure] = ()
        self.fresh = False
        """Whether the coordinator has responded, and the piece is not finished."""
        self.finished: Sequence[U] | None = None


class _Lane(Generic[T, U]):
    """The groups of one coordinator, and their pieces that are in flight or wait for the reader."""

    def __init__(self, groups: Sequence[ListedGroup], named: Mapping[GroupId, Node]) -> None:
        self._groups = groups
        self._named = named
        self.pieces: deque[_Piece[T, U]] = deque()
        self.over = False
        self.room = asyncio.Event()

    @property
    def active(self) -> bool:
        return bool(self.pieces) or not self.over

    @property
    def first(self) -> Sequence[U] | None:
        """The final results of the first piece; ``None`` until it is finished."""
        return self.pieces[0].finished if self.pieces else None

    def parts(self, size: int) -> Iterable[tuple[GroupId, ResolvedSelection]]:
        """Yield the groups in pieces, each with the last name in it."""
        names = sorted(self._named)
        for at in range(0, len(names), size):
            some = names[at : at + size]
            yield some[-1], ResolvedSelection(named={name: self._named[name] for name in some})
        groups = sorted(self._groups, key=_group)
        self._groups = ()
        groups.reverse()
        while groups:
            listed = tuple(reversed(groups[-size:]))
            del groups[-size:]  # free the memory of groups that were queried
            yield listed[-1].group, ResolvedSelection(listed)


class _Stream(Generic[T, U]):
    def __init__(self, cluster: Cluster, selection: Selection, stages: Stages[T, U]) -> None:
        self._cluster = cluster
        self._selection = selection
        self._stages = stages
        share = HELD // max(1, len(cluster.nodes))
        self._size = max(SMALLEST_PIECE, min(LARGEST_PIECE, share // FEWEST_HELD))
        self._held = max(FEWEST_HELD, min(MOST_HELD, share // self._size))
        self._lanes: list[_Lane[T, U]] = []
        self._unlisted = dict.fromkeys(selection.names)
        self._named: set[GroupId] = set()
        self._searches = 0
        """Searches for groups in progress: each may add lanes."""
        self._stalled = False
        self._finishing = 0
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._bug: BaseException | None = None
        self._failures: dict[Failure, None] = {}
        self._notices: dict[str, None] = {}

    async def batches(self) -> AsyncGenerator[Outcome[U]]:
        self._start_search(self._list() if self._selection.needs_list else self._look_up())
        while True:
            self._changed.clear()
            if self._bug:
                raise self._bug
            self._lanes = [lane for lane in self._lanes if lane.active]
            if not self._searches and not self._lanes:
                break
            if not self._searches and all(lane.first is not None for lane in self._lanes):
                self._stalled = False
                began = time.monotonic()
                yield self._batch()
                # The time that the reader takes does not count toward the deadline.
                self._cluster.extend(time.monotonic() - began)
                continue
            if self._stalled or self._enough():
                self._finish()
            await self._wait()
        yield Outcome((), tuple(sorted(self._failures, key=Failure.sort_key)), tuple(sorted(self._notices)))

    async def close(self) -> None:
        """Cancel all tasks that are still running."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _wait(self) -> None:
        """Wait for a change; after a stall, let the lanes continue without the brokers that do not respond."""
        if self._stalled:
            await self._changed.wait()
            return
        try:
            async with asyncio.timeout(min(LONGEST_STALL, self._cluster.deadline.remaining() / 8)):
                await self._changed.wait()
        except TimeoutError:
            self._stalled = True
            for lane in self._lanes:
                lane.room.set()
            if self._selection.needs_list and self._unlisted:
                self._start_search(self._look_up())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            self._bug = self._bug or task.exception()
        self._changed.set()

    # Searches for groups: in the lists of the brokers, and by name.

    def _start_search(self, search: Coroutine[Any, Any, None]) -> None:
        async def work() -> None:
            await search
            self._searches -= 1

        self._searches += 1
        self._run(work())

    async def _list(self) -> None:
        pattern = self._selection.pattern
        unmatched = bool(pattern and (self._selection.names or self._selection.globs))
        async with aclosing(stream_selected(self._cluster, self._selection)) as lists:
            async for outcome in lists:
                self._failures.update(dict.fromkeys(outcome.failures))
                self._notices.update(dict.fromkeys(outcome.notices))
                by_node: dict[Node, list[ListedGroup]] = {}
                for group in outcome.items:
                    unmatched = bool(unmatched and pattern and not pattern.fullmatch(group.group))
                    if group.group not in self._named:
                        by_node.setdefault(group.coordinator, []).append(group)
                        self._unlisted.pop(group.group, None)
                for groups in by_node.values():
                    self._open(_Lane(groups, _NO_NAMES))
        if pattern and unmatched and not self._failures:
            self._notices[NoMatch(f"{NO_MATCH} --regex {pattern.text!r}")] = None
        await self._look_up()

    async def _look_up(self) -> None:
        """Find the coordinators of the named groups that no broker has listed so far."""
        names = sorted(self._unlisted)
        self._unlisted.clear()
        self._named.update(names)
        if names:
            found, lost = await find_coordinators(self._cluster, names)
            self._failures.update(dict.fromkeys(lost[name] for name in sorted(lost)))
            by_node: dict[Node, dict[GroupId, Node]] = {}
            for name, node in found.items():
                by_node.setdefault(node, {})[name] = node
            for named in by_node.values():
                self._open(_Lane((), named))

    # Results.

    def _open(self, lane: _Lane[T, U]) -> None:
        self._lanes.append(lane)
        self._run(self._query_lane(lane))

    async def _query_lane(self, lane: _Lane[T, U]) -> None:
        slots = asyncio.Semaphore(PIECES_UNDER_WAY)
        for last, resolved in lane.parts(self._size):
            while len(lane.pieces) >= self._held and not self._stalled:
                lane.room.clear()
                await lane.room.wait()
            await slots.acquire()
            piece: _Piece[T, U] = _Piece(last)
            lane.pieces.append(piece)
            self._run(self._query_piece(piece, resolved, slots))
        lane.over = True

    async def _query_piece(self, piece: _Piece[T, U], resolved: ResolvedSelection, slots: asyncio.Semaphore) -> None:
        outcome = await self._stages.query(resolved._replace(members=self._selection.members))
        slots.release()
        self._notices.update(dict.fromkeys(outcome.notices))
        piece.names = [self._stages.name(item) for item in outcome.items]
        piece.items, piece.failures, piece.fresh = outcome.items, outcome.failures, True

    def _fresh(self) -> list[_Piece[T, U]]:
        return [piece for lane in self._lanes for piece in lane.pieces if piece.fresh]

    def _enough(self) -> bool:
        """Return whether to finish the fresh pieces: one for each coordinator, or no batch is possible without them.

        Finishing pieces one by one would send a request to each leader for each of them.
        """
        if self._searches:
            return False
        needed = all(lane.pieces and (lane.pieces[0].fresh or lane.first is not None) for lane in self._lanes)
        return (needed and not self._finishing) or len(self._fresh()) >= len(self._lanes)

    def _finish(self) -> None:
        """Start to finish all fresh pieces together."""
        if pieces := self._fresh():
            self._finishing += 1
            for piece in pieces:
                piece.fresh = False
            self._run(self._finish_all(pieces))

    async def _finish_all(self, pieces: Sequence[_Piece[T, U]]) -> None:
        final, failures = await self._stages.finish([item for piece in pieces for item in piece.items])
        self._failures.update(dict.fromkeys(failures))
        at = 0
        for piece in pieces:
            end = at + len(piece.items)
            piece.finished, piece.items = final[at:end], ()
            at = end
        self._finishing -= 1

    def _batch(self) -> Outcome[U]:
        """Take the results up to the lowest name at which the first piece of a lane ends."""
        cut = min(lane.pieces[0].last for lane in self._lanes)
        pairs: list[tuple[GroupId, U]] = []
        failures: list[Failure] = []
        for lane in self._lanes:
            piece = lane.pieces[0]
            end = bisect_right(piece.names, cut)
            pairs += zip(piece.names[:end], (piece.finished or ())[:end], strict=True)
            failures += [each for each in piece.failures if not _is_after(cut, each)]
            if piece.last <= cut:
                lane.pieces.popleft()
                lane.room.set()
            else:
                piece.names, piece.finished = piece.names[end:], (piece.finished or ())[end:]
                piece.failures = [each for each in piece.failures if _is_after(cut, each)]
        pairs.sort(key=itemgetter(0))
        return Outcome(tuple([item for _, item in pairs]), tuple(failures))


def _is_after(cut: GroupId, failure: Failure) -> bool:
    return failure.scope is Scope.GROUP and failure.name > cut


_group = attrgetter("group")
_NO_NAMES: Mapping[GroupId, Node] = MappingProxyType({})
