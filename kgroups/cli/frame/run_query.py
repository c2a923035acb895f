"""Run one query against a cluster, show the result, and return the exit code."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import click

from kgroups.config.settings import ClientSettings
from kgroups.errors import EXIT_FAILED, KgroupsError, UsageError
from kgroups.model.outcome import NoMatch

from .exit_status import is_debug, is_quiet

if TYPE_CHECKING:
    from kgroups.admin.client import Client
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.clusters import ClusterAnswer
    from kgroups.model.outcome import Outcome
    from kgroups.net.connection import Exchange
    from kgroups.render.views import Tier, View

    from .progress import ProgressLine

T = TypeVar("T")
Query = Callable[["Client"], Awaitable["Outcome[Any]"]]
Answer = tuple["Outcome[Any]", "str | None"]
"""The result of a query, and the cluster ID."""


class Shape(NamedTuple):
    """The output options, before they are checked."""

    output: str
    wide: bool
    no_headers: bool
    columns: str | None
    sort: str | None
    verbose: bool = False
    extra: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        """The name of the format, with ``auto`` resolved.

        :raises UsageError: if there is no such format.
        """
        from kgroups.render.output import FORMATS

        if self.output == "auto":
            return "table" if sys.stdout.isatty() else "plain"
        if self.output not in FORMATS:
            raise UsageError(f"--output: unknown format {self.output!r}; use one of {', '.join(FORMATS)}")
        return self.output

    @property
    def tier(self) -> Tier:
        from kgroups.render.views import Tier

        return Tier.WIDE if self.wide else Tier.VERBOSE if self.verbose else Tier.BASE

    @property
    def has_group_headers(self) -> bool:
        """Whether groups have headers: in a table whose columns and order the user did not choose."""
        return self.format == "table" and not self.wide and self.columns is None and self.sort is None

    def check(self, view: View) -> None:
        """Check the options before the cluster is contacted.

        :raises UsageError: if the format, or a column to show or to sort by, does not exist.
        """
        from kgroups.render.selection import select_columns, sort_rows

        _ = self.format
        if self.columns is not None:
            select_columns(view, self.columns)
        sort_rows((), view, self.sort)

    def needs(self, view: View, key: str) -> bool:
        """Return whether a column of the wide view is shown, or sorted by: it costs extra requests."""
        if self.wide or (self.columns is None and self.output in ("json", "jsonl", "csv")):
            return True
        from kgroups.render.selection import named_keys

        return (self.columns or self.sort) is not None and key in named_keys(view, self.columns, self.sort)


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

    async def query_with_hints(admin: Client) -> Outcome[Any]:
        outcome = await query(admin)
        unmatched = any(isinstance(notice, NoMatch) for notice in outcome.notices)
        if not (outcome.failures or unmatched or (selection and selection.topics)):
            return outcome
        from .selection_hints import with_hints

        return await with_hints(admin, outcome, selection)

    return query_with_hints


def or_error_envelope(shape: Shape, view: View, run: Callable[[], T]) -> T:
    """Return the result of ``run``; if it raises, write the JSON envelope of a view, see :func:`or_write_error`."""

    def write(empty: Outcome[Any]) -> None:
        from kgroups.render.output import write_outcome

        write_outcome(empty, view, fmt="json", stream=sys.stdout, columns=shape.columns)

    return or_write_error(shape.output, write, run)


def or_write_error(output: str, write: Callable[[Outcome[Any]], None], run: Callable[[], T]) -> T:
    """Return the result of ``run``; if it raises, still write the envelope of ``-o json``.

    :param write: writes an outcome without items, whose only failure is the error, with the scope of the cluster.
    :raises KgroupsError: any error of ``run``, such as :class:`kgroups.errors.ClusterUnreachable`.
    """
    try:
        return run()
    except KgroupsError as error:
        from kgroups.model.outcome import Failure, Outcome, Scope

        if error.exit_code == EXIT_FAILED and output == "json":
            write(Outcome(failures=(Failure.of(error, Scope.CLUSTER, ""),)))
            sys.stdout.flush()
        raise


def run_query(
    settings: ClientSettings, query: Query, *, debug: bool, quiet: bool = False
) -> tuple[Outcome[Any], str | None]:
    """Return the result of one query, and the cluster ID.

    :param quiet: show no progress line, because the command draws on the terminal itself.
    """
    from kgroups.net.fanout import run

    results: list[Answer] = []
    # Appended, not returned: when asyncio restores the SIGINT handler, enum formats the main task with its result
    # into an error message that is discarded. For 90,000 rows that costs seconds and 200 MB.
    run(_query(settings, query, debug, quiet, results.append))
    (result,) = results
    return result


def run_queries(
    queries: Sequence[tuple[ClientSettings, Query]], *, debug: bool
) -> Sequence[Outcome[Any] | KgroupsError]:
    """Run one query against each of several clusters at the same time; return the result or the error of each."""
    from kgroups.net.fanout import run

    results: dict[int, Outcome[Any] | KgroupsError] = {}
    run(_query_all(queries, debug, results))
    return [results[place] for place in range(len(queries))]


def show(
    outcome: Outcome[Any],
    cluster_id: str | None,
    shape: Shape,
    view: View,
    more: Mapping[str, object] = MappingProxyType({}),
    group_headers: Mapping[str, Sequence[str]] | None = None,
) -> int:
    """Show items on stdout and failures on stderr; return the exit code.

    :param more: additional keys of the JSON envelope, such as the undo file of an operation.
    """
    from kgroups.render.output import write_outcome

    omitted = write_outcome(
        outcome,
        view,
        fmt=shape.format,
        stream=sys.stdout,
        tier=shape.tier,
        extra=shape.extra,
        columns=shape.columns,
        sort=shape.sort,
        headers=not shape.no_headers,
        cluster_id=cluster_id,
        more=more,
        group_headers=group_headers,
    )
    sys.stdout.flush()
    if omitted:
        outcome = outcome.with_failures((), (f"columns omitted to fit the terminal: {', '.join(omitted)}; use --wide",))
    print_failures(outcome)
    return outcome.exit_code


def print_failures(outcome: Outcome[Any]) -> None:
    """Print notices, failures, and hints to stderr, and with --debug where the documentation explains the failures."""
    from kgroups.render.failures import failure_lines, hint_lines, notice_lines, reference_lines

    failures = outcome.failures
    notices = () if is_quiet() else outcome.notices
    references = reference_lines(failures) if is_debug() else ()
    for line in (*notice_lines(notices), *failure_lines(failures), *hint_lines(failures), *references):
        click.echo(line, err=True)


async def _query(
    settings: ClientSettings, query: Query, debug: bool, quiet: bool, hand_over: Callable[[Answer], None]
) -> None:
    from .progress import progress_line

    async with progress_line(quiet) as line:
        await open_and_query(settings, query, debug, line, hand_over)


async def _query_all(
    queries: Sequence[tuple[ClientSettings, Query]], debug: bool, results: dict[int, Outcome[Any] | KgroupsError]
) -> None:
    import asyncio

    from .progress import ProgressLine, progress_line

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
    from kgroups.admin.wire import open_client

    admin, line.status = await open_client(settings, print_exchange if debug else None, print_notice)
    try:
        hand_over((await query(admin), admin.cluster_id))
    finally:
        await admin.close()


def print_notice(text: str) -> None:
    """Print a notice to stderr."""
    from kgroups.render.failures import notice_lines

    for line in () if is_quiet() else notice_lines((text,)):
        click.echo(line, err=True)


def print_once() -> Callable[[str], None]:
    """Return a function that prints each notice to stderr once, however often it is called."""
    printed: set[str] = set()

    def tell(notice: str) -> None:
        if notice not in printed:
            printed.add(notice)
            print_notice(notice)

    return tell


def print_exchange(exchange: Exchange) -> None:
    """Print the line that ``--debug`` shows for a request."""
    from kgroups.model.visible import escape_message

    error = f" FAILED: {exchange.error}" if exchange.error else ""
    throttled = f" throttled={exchange.pause * 1000:.0f}ms" if exchange.pause else ""
    line = (
        f"debug: {exchange.broker} {exchange.api} v{exchange.version} keys={exchange.keys} "
        f"sent={exchange.sent}B received={exchange.received}B {exchange.seconds * 1000:.1f}ms{throttled}{error}"
    )
    click.echo(escape_message(line), err=True)
