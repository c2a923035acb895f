"""Query several clusters at the same time, each over its own connections; one that fails does not affect the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple

from kgroups.config.settings import ClientSettings
from kgroups.errors import DeadlineExceeded, KgroupsError
from kgroups.model.clusters import ClusterAnswer
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.net.connection import Observer
from kgroups.net.in_thread import run_in_thread

from .client import Client
from .query.select_groups import Selection
from .wire import open_client

Query = Callable[[Client], Awaitable[Outcome[Any]]]

PARALLEL = 16
"""Clusters that are queried at the same time, which bounds sockets and memory."""


class Member(NamedTuple):
    """One cluster: its name, and a function that reads its settings and credentials when it is queried."""

    name: str
    load: Callable[[], ClientSettings]


class Fleet(NamedTuple):
    """The clusters to query, with time limits in seconds: for all of them together, and for each."""

    members: tuple[Member, ...]
    timeout: float
    cluster_timeout: float


class Progress:
    """How many clusters have answered, as text."""

    def __init__(self, total: int) -> None:
        self._total, self.answered = total, 0

    def __str__(self) -> str:
        return f"{self.answered} of {self._total} clusters answered"


def wanted_of(selection: Selection) -> frozenset[tuple[Scope, str]]:
    """Return the scope and name of each group, pattern, and topic that is selected."""
    groups = (*selection.names, *(glob.text for glob in selection.globs))
    topics = ((Scope.TOPIC, topic) for topic in selection.topics)
    regex = ((Scope.CLUSTER, ""),) if selection.pattern else ()
    return frozenset((*((Scope.GROUP, group) for group in groups), *topics, *regex))


async def open_member(member: Member, seconds: float, observer: Observer | None, tell: Callable[[str], None]) -> Client:
    """Return an admin that is connected to one cluster.

    :param seconds: the time limit for reading the settings, and for the queries.
    :param tell: is called with a notice if librdkafka is used.
    :raises KgroupsError: if the settings are invalid, or the cluster cannot be reached or rejects the client.
    """
    try:
        async with asyncio.timeout(seconds):
            settings = await run_in_thread(member.load, f"read the settings of {member.name}")
    except TimeoutError:
        raise DeadlineExceeded(f"its settings were not read within {seconds:.3g} s") from None
    admin, _ = await open_client(settings.within(seconds), observer, lambda note: tell(f"{member.name}: {note}"))
    return admin


async def query_clusters(
    fleet: Fleet,
    query_of: Callable[[str], Query],
    progress: Progress,
    observer: Observer | None = None,
    tell: Callable[[str], None] = lambda note: None,
) -> Sequence[ClusterAnswer]:
    """Return the answers of all clusters in the order of the fleet; the answer of one that fails is a failure.

    Of several profiles of one cluster, only the first is queried, and the next one if its principal is refused.

    :param query_of: returns the query of a cluster, by its name.
    :param tell: is called with a notice if librdkafka is used for a cluster.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + fleet.timeout
    turns = asyncio.Semaphore(PARALLEL)
    first_of: dict[str, int] = {}
    ids: dict[int, str | None] = {}
    skipped: set[int] = set()

    async def ask(place: int) -> ClusterAnswer:
        member = fleet.members[place]
        async with turns:
            try:
                outcome = await _ask(place, member, min(fleet.cluster_timeout, ends_at - loop.time()))
            except KgroupsError as error:
                outcome = Outcome(failures=(Failure.of(error, Scope.CLUSTER, member.name),))
            finally:
                progress.answered += 1
        return ClusterAnswer(member.name, ids.get(place), outcome)

    async def _ask(place: int, member: Member, seconds: float) -> Outcome[Any]:
        if seconds <= 0:
            raise DeadlineExceeded("not queried: the time limit of the whole command expired")
        admin = await open_member(member, seconds, observer, tell)
        try:
            ids[place] = admin.cluster_id
            if admin.cluster_id is not None and first_of.setdefault(admin.cluster_id, place) < place:
                skipped.add(place)  # an earlier profile queries it
                return Outcome()
            return await query_of(member.name)(admin)
        finally:
            await admin.close()

    answers = dict(enumerate(await asyncio.gather(*map(ask, range(len(fleet.members))))))
    while places := _next_profiles(answers, skipped):
        first_of.update(places)
        skipped.difference_update(places.values())
        progress.answered -= len(places)
        answers.update(zip(places.values(), await asyncio.gather(*map(ask, places.values())), strict=True))
    return tuple(answers.values())


def _next_profiles(answers: Mapping[int, ClusterAnswer], skipped: Container[int]) -> dict[str, int]:
    """Return the place of the next profile of each cluster whose profiles were all refused until now."""
    asked = [answer for place, answer in answers.items() if place not in skipped]
    answered = {answer.cluster_id for answer in asked if not answer.refused}
    places: dict[str, int] = {}
    for place, answer in answers.items():
        if place in skipped and answer.cluster_id and answer.cluster_id not in answered:
            places.setdefault(answer.cluster_id, place)
    return places
