"""A client that shows groups outside Kafka with those of the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

from kgroups.config.positions import OPTION, PositionSource
from kgroups.errors import KgroupsError, PositionsError, Reason
from kgroups.files.location import redact_location
from kgroups.model.cluster import NO_NODE
from kgroups.model.groups import Group, GroupId, GroupType, ListedGroup
from kgroups.model.offsets import Commit, GroupCommits, Isolation, LogProblem
from kgroups.model.outcome import NOT_FOUND, Failure, NoMatch, Outcome, Scope
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.cluster import Cluster
from kgroups.net.in_thread import Crew, run_in_thread
from kgroups.protocol.apis.metadata import TopicLeaders

from .client import Client
from .positions.checkpoint import Checkpoint, Positions
from .query.describe import on_topics, with_logs
from .query.list_groups import matching
from .query.log_offsets import problem_of
from .query.select_groups import Selection
from .query.stream import collect

G = TypeVar("G", bound=Group | ListedGroup)
T = TypeVar("T")

_Read = Mapping[GroupId, Positions | KgroupsError]
_Pair = tuple[Group, GroupCommits]

_OF_ANOTHER = "the topic was deleted, or the checkpoint belongs to another cluster: Spark stores no cluster ID in it"


class ClientWithPositions:
    """A wire client whose groups include some outside Kafka, whose positions are read again for each query.

    What is requested from :attr:`cluster` itself, such as a change, does not concern them.
    """

    def __init__(self, client: Client, cluster: Cluster, sources: Sequence[PositionSource]) -> None:
        """Add groups to those of a wire client.

        :param cluster: that of the client.
        """
        self._client = client
        self.cluster = cluster
        self._locations = {source.name: redact_location(source.location) for source in sorted(sources)}
        self._checkpoints = {source.name: Checkpoint(source.location) for source in sources}
        self._crew = Crew(len(sources))

    @property
    def cluster_id(self) -> str | None:
        return self._client.cluster_id

    @property
    def name(self) -> str:
        return self._client.name

    async def list_selected(self, selection: Selection) -> Outcome[ListedGroup]:
        inner = _of_kafka(selection)
        return await self._added(selection, self._client.list_selected(inner) if inner else _nothing(), _listed)

    async def describe(self, selection: Selection) -> Outcome[Group]:
        inner = _of_kafka(selection)
        return await self._added(selection, self._client.describe(inner) if inner else _nothing(), _described)

    async def describe_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> Outcome[GroupOffsets]:
        return await collect(self.stream_offsets(selection, isolation=isolation, whole_topics=whole_topics))

    async def stream_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> AsyncGenerator[Outcome[GroupOffsets]]:
        names, inner = self._selected(selection), _of_kafka(selection)
        taken: set[GroupId] = set()
        known: set[Failure] = set()
        reading = asyncio.ensure_future(self._with_logs(names, selection.topics, isolation, whole_topics))
        shown = 0
        try:
            if inner:
                batches = self._client.stream_offsets(inner, isolation=isolation, whole_topics=whole_topics)
                async with aclosing(batches):
                    async for batch in batches:
                        if batch.items:
                            _, found, _ = await reading
                            taken.update({each.group.group for each in batch.items}.intersection(names))
                            last, due = batch.items[-1].group.group, []
                            while shown < len(found) and found[shown].group.group <= last:
                                due.append(found[shown])
                                shown += 1
                            more = [each for each in due if each.group.group not in taken]
                            if more:
                                batch = batch.with_items(sorted((*batch.items, *more), key=_group))
                        batch = _without_missing(batch, selection, names)
                        known.update(batch.failures)
                        yield batch
            read, found, failures = await reading
            every = (
                *self._failures(read, taken),
                *(each for each in failures if each._replace(hint=None) not in known),
            )
            yield Outcome(tuple(found[shown:]), every, _notices(read))
        finally:
            reading.cancel()

    async def topics(self, names: Sequence[str]) -> dict[str, TopicLeaders]:
        return await self._client.topics(names)

    async def close(self) -> None:
        await self._client.close()

    def _selected(self, selection: Selection) -> list[GroupId]:
        """Return the groups outside Kafka that are selected, apart from topics. None has members or a coordinator."""
        if selection.members or selection.among.coordinators:
            return []
        kept = matching([_listed(name) for name in self._checkpoints], selection.among)
        return sorted(each.group for each in kept if selection.matches(each.group))

    async def _added(
        self, selection: Selection, query: Awaitable[Outcome[G]], made: Callable[[GroupId], G]
    ) -> Outcome[G]:
        """Return the groups of a query, and the selected ones outside Kafka."""
        names, topics = self._selected(selection), selection.topics
        read, outcome = await asyncio.gather(self._read(names), query)
        taken = {each.group for each in outcome.items}.intersection(names)
        known = {name: found for name, found in read.items() if isinstance(found, Positions) and name not in taken}
        using = [
            name for name, found in known.items() if not topics or on_topics(*_pair(name, found), topics) is not None
        ]
        items = sorted((*outcome.items, *map(made, using)), key=lambda each: each.group)
        return _without_missing(outcome, selection, names).with_items(items).with_failures(self._failures(read, taken))

    async def _read(self, names: Iterable[GroupId]) -> _Read:
        names = list(names)
        return dict(zip(names, await asyncio.gather(*map(self._read_one, names)), strict=True))

    async def _read_one(self, name: GroupId) -> Positions | KgroupsError:
        limit = min(self.cluster.settings.broker_timeout, self.cluster.deadline.remaining())
        try:
            async with asyncio.timeout(limit):
                return await run_in_thread(self._checkpoints[name].positions, f"read positions of {name}", self._crew)
        except TimeoutError:
            return PositionsError(f"no response within {limit:.3g} s", reason=Reason.NO_RESPONSE)
        except KgroupsError as error:
            return error

    async def _with_logs(
        self, names: Iterable[GroupId], topics: frozenset[str], isolation: Isolation, whole_topics: bool
    ) -> tuple[_Read, Sequence[GroupOffsets], Sequence[Failure]]:
        """Return what was read, with the log offsets, which are read afterwards: no position is beyond its log."""
        read = await self._read(names)
        pairs = [_pair(name, found) for name, found in read.items() if isinstance(found, Positions)]
        if topics:
            pairs = [pair for pair in (on_topics(*pair, topics) for pair in pairs) if pair]
        described, failures = await with_logs(
            self.cluster, pairs, topics, isolation=isolation, whole_topics=whole_topics
        )
        unknown = {name: found.unknown for name, found in read.items() if isinstance(found, Positions)}
        described = [each._replace(hidden=unknown[each.group.group]) for each in described]
        return read, described, [_with_hint(failure) for failure in failures]

    def _failures(self, read: _Read, taken: Collection[GroupId]) -> Iterator[Failure]:
        for name, found in read.items():
            where = f"checkpoint {self._locations[name]}"
            if name in taken:
                text = f"the cluster has a group of this name, too; the positions in the {where} are not shown"
                hint = f"to give the query another name: {OPTION} spark:PATH=NAME"
                yield Failure(Scope.GROUP, name, text, reason=Reason.INVALID_USAGE, hint=hint)
            elif not isinstance(found, Positions):
                yield Failure(Scope.GROUP, name, f"{where}: {found}", reason=found.reason, hint=found.hint)


async def _nothing() -> Outcome[Any]:
    return Outcome()


def _of_kafka(selection: Selection) -> Selection | None:
    """Return what is selected of the cluster's groups; ``None`` if only types are that Kafka does not know."""
    types = selection.among.types
    if GroupType.SPARK not in types:
        return selection
    known = tuple(each for each in types if each != GroupType.SPARK)
    return selection._replace(among=selection.among._replace(types=known)) if known else None


def _without_missing(outcome: Outcome[T], selection: Selection, names: Collection[GroupId]) -> Outcome[T]:
    """Return the outcome without what it says about groups that only Kafka does not have."""
    globs = {glob.text for glob in selection.globs if any(map(glob.fullmatch, names))}
    matched = selection.pattern and any(map(selection.pattern.fullmatch, names))
    failures = tuple(
        each
        for each in outcome.failures
        if each.scope is not Scope.GROUP or not (each.name in names or (each.name in globs and each.error == NOT_FOUND))
    )
    notices = tuple(each for each in outcome.notices if not (matched and isinstance(each, NoMatch)))
    return outcome._replace(failures=failures, notices=notices)


def _listed(name: GroupId) -> ListedGroup:
    return ListedGroup(name, "", NO_NODE, None, GroupType.SPARK)


def _described(name: GroupId) -> Group:
    """Return a group of which a checkpoint shows neither state nor members: the query may be running or not."""
    return Group(name, GroupType.SPARK, "", "", "", NO_NODE, members=None)


def _pair(name: GroupId, positions: Positions) -> _Pair:
    places = sorted(positions.offsets)
    topics = {
        topic: tuple(Commit(partition, positions.offsets[topic, partition]) for _, partition in some)
        for topic, some in groupby(places, key=lambda place: place[0])
    }
    return _described(name), GroupCommits(name, topics, in_flight=positions.in_flight)


def _with_hint(failure: Failure) -> Failure:
    return failure._replace(hint=_OF_ANOTHER) if problem_of(failure) is LogProblem.MISSING else failure


def _notices(read: _Read) -> tuple[str, ...]:
    return tuple(
        f"{name}: {notice}" for name, found in read.items() if isinstance(found, Positions) for notice in found.notices
    )


_group = attrgetter("group.group")
