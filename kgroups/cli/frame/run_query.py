"""Run one query against a cluster, show the result, and return the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kgroups.admin.query.select_groups import Selection
from kgroups.admin.session import ClientSession
from kgroups.admin.wire import open_client
from kgroups.config.settings import ClientSettings
from kgroups.errors import KgroupsError
from kgroups.model.outcome import NoMatch, Outcome
from kgroups.net.fanout import Runner, run
from kgroups.render.views import View

from .output import Shape, or_error_envelope, print_exchange, print_notice, show
from .progress import ProgressLine, progress_line

if TYPE_CHECKING:
    from kgroups.admin.client import Client
    from kgroups.model.clusters import ClusterAnswer

T = TypeVar("T")
Query = Callable[["Client"], Awaitable[Outcome[Any]]]
Answer = tuple[Outcome[Any], "str | None"]
"""The result of a query, and the cluster ID."""


class SeveralClusters(Protocol):
    """Clusters that are queried at the same time, see :mod:`.fleet`."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def cluster_timeout(self) -> float: ...

    async def open(self, name: str, *, debug: bool) -> Client: ...

    def loaded_once(self) -> SeveralClusters: ...

    def for_reading(self) -> SeveralClusters: ...

    def settings_of(self, name: str) -> ClientSettings: ...

    def as_words(self, name: str) -> tuple[str, ...]: ...

    def answers(self, queries: Mapping[str, Query], *, debug: bool) -> Sequence[ClusterAnswer]: ...

    def merged(
        self, query: Query, selection: Selection | None, joined: Callable[[str, Any], T], *, debug: bool
    ) -> tuple[Outcome[T], Mapping[str, str | None]]: ...

    def query_and_show(
        self, shape: Shape, view: View, query: Query, *, debug: bool, selection: Selection | None, top: int | None
    ) -> int: ...


class Connection(Protocol):
    """What a query needs of the connection options: settings of one cluster, or several clusters."""

    @property
    def settings(self) -> ClientSettings: ...

    @property
    def debug(self) -> bool: ...

    @property
    def fleet(self) -> SeveralClusters | None: ...


def query_and_show(
    connection: Connection,
    shape: Shape,
    view: View,
    query: Query,
    *,
    selection: Selection | None = None,
    group_headers: Mapping[str, Sequence[str]] | None = None,
    top: int | None = None,
) -> int:
    """Run a query, show its items on stdout and its failures on stderr, and return the exit code.

    :param selection: the selected groups; if it is empty, the reason is shown.
    :param group_headers: the headers of groups on a terminal, which the query adds.
    :param top: of several clusters, show only this many rows, in the order of ``--sort``.
    """
    settings, debug = connection.settings, connection.debug
    if connection.fleet:
        return connection.fleet.query_and_show(shape, view, query, debug=debug, selection=selection, top=top)
    shape.check(view)
    hinted_query = hinted(query, selection)
    outcome, cluster_id = or_error_envelope(shape, view, lambda: run_query(settings, hinted_query, debug=debug))
    return show(outcome, cluster_id, shape, view, group_headers=group_headers)


def query_items(
    connection: Connection,
    write_error: Callable[[Callable[[], Answer]], Answer],
    query: Query,
    selection: Selection,
    joined: Callable[[str | None, Any], T],
) -> tuple[Outcome[T], str | None, Mapping[str, str | None] | None]:
    """Return the items of a query, and the ID of the cluster, or the IDs of several by their names.

    :param write_error: runs the query of one cluster, see :func:`or_write_error`.
    :param joined: returns an item with the name of its cluster, which is ``None`` for one cluster.
    """
    if connection.fleet:
        outcome, clusters = connection.fleet.merged(query, selection, joined, debug=connection.debug)
        return outcome, None, clusters
    outcome, cluster_id = write_error(
        lambda: run_query(connection.settings, hinted(query, selection), debug=connection.debug)
    )
    return outcome.with_items(joined(None, item) for item in outcome.items), cluster_id, None


def hinted(query: Query, selection: Selection | None = None) -> Query:
    """Return a query that also finds out what is wrong with an empty selection, or with the names of groups."""

    return partial(_with_hints, query, selection)


async def _with_hints(query: Query, selection: Selection | None, admin: Client) -> Outcome[Any]:
    outcome = await query(admin)
    unmatched = any(isinstance(notice, NoMatch) for notice in outcome.notices)
    if not (outcome.failures or unmatched or (selection and selection.topics)):
        return outcome
    from .selection_hints import with_hints

    return await with_hints(admin, outcome, selection)


async def open_for_command(settings: ClientSettings, *, debug: bool, side: str = "") -> tuple[Client, object]:
    """Return a connected admin whose requests and notices are printed, and its progress; see :func:`open_client`.

    :param side: what names the cluster on the command line, if the command is about two of them; errors begin with it.
    """
    try:
        return await open_client(settings, print_exchange if debug else None, print_notice)
    except KgroupsError as error:
        error.peer = ": ".join(filter(None, (side, error.peer))) or None
        raise


class Session:
    """The queries of a command against one cluster, one after the other, over the same connections."""

    def __init__(self, settings: ClientSettings, *, debug: bool, quiet: bool = False, side: str = "") -> None:
        """Connect when the first query needs it.

        :param quiet: show no progress line, because the command draws on the terminal itself.
        :param side: see :func:`open_for_command`.
        """
        self._settings, self._debug, self._quiet, self._side = settings, debug, quiet, side
        self._runner = Runner()
        self._client = ClientSession(self._open)
        self._progress: object = ""
        self._used = False

    def query(self, query: Query) -> Answer:
        """Return the result of a query, which has the whole ``--timeout``, and the cluster ID.

        :raises KgroupsError: if the cluster cannot be reached.
        """
        self._used = True
        results: list[Answer] = []
        # Appended, not returned: when asyncio restores the SIGINT handler, enum formats the main task with its result
        # into an error message that is discarded. For 90,000 rows that costs seconds and 200 MB.
        self._runner.run(self._query(query, results.append))
        (result,) = results
        return result

    def close(self) -> None:
        """Close the connections and the event loop, if there are any. No query can follow."""
        if self._used:
            self._used = False
            self._runner.run(self._client.close())
            self._runner.close()

    async def _open(self) -> Client:
        client, self._progress = await open_for_command(self._settings, debug=self._debug, side=self._side)
        return client

    async def _query(self, query: Query, hand_over: Callable[[Answer], None]) -> None:
        async with progress_line(self._quiet) as line, self._client.query() as client:
            line.status = self._progress
            hand_over((await query(client), client.cluster_id))


def run_query(
    settings: ClientSettings, query: Query, *, debug: bool, quiet: bool = False, side: str = ""
) -> tuple[Outcome[Any], str | None]:
    """Return the result of one query, and the cluster ID: see :class:`Session`."""
    with closing(Session(settings, debug=debug, quiet=quiet, side=side)) as session:
        return session.query(query)


def run_queries(
    queries: Sequence[tuple[ClientSettings, Query]], *, debug: bool
) -> Sequence[Outcome[Any] | KgroupsError]:
    """Run one query against each of several clusters at the same time; return the result or the error of each."""
    results: dict[int, Outcome[Any] | KgroupsError] = {}
    run(_query_all(queries, debug, results))
    return [results[place] for place in range(len(queries))]


async def _query_all(
    queries: Sequence[tuple[ClientSettings, Query]], debug: bool, results: dict[int, Outcome[Any] | KgroupsError]
) -> None:
    async def ask(place: int, line: ProgressLine) -> None:
        try:
            await open_and_query(*queries[place], debug, line, lambda answer: results.update({place: answer[0]}))
        except KgroupsError as error:
            results[place] = error

    async with progress_line() as line:
        line.parts = [ProgressLine() for _ in queries]
        await asyncio.gather(*(ask(place, part) for place, part in enumerate(line.parts)))


async def open_and_query(
    settings: ClientSettings, query: Query, debug: bool, line: ProgressLine, hand_over: Callable[[Answer], None]
) -> None:
    """Connect, run one query, and hand over its result and the cluster ID.

    :param line: shows the progress.
    """
    admin, line.status = await open_for_command(settings, debug=debug)
    try:
        hand_over((await query(admin), admin.cluster_id))
    finally:
        await admin.close()
