"""Runs one question against a cluster and shows its answer: the one way from flags to an exit code."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from kgroups.config.settings import ClientSettings
from kgroups.errors import KgroupsError, UsageError

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.outcome import Outcome
    from kgroups.net.connection import Exchange
    from kgroups.render.views import Tier, View

T = TypeVar("T")
Query = Callable[["GroupAdmin"], Awaitable["Outcome[Any]"]]


class Shape(NamedTuple):
    """How the answer is to look: what the output options say, before any of it is checked."""

    output: str
    wide: bool
    no_headers: bool
    columns: str | None
    sort: str | None
    verbose: bool = False
    extra: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        """The format's name, auto resolved.

        :raises UsageError: when there is no such format.
        """
        from kgroups.render.output import FORMATS

        if self.output == "auto":
            return "table" if sys.stdout.isatty() else "plain"
        if self.output not in FORMATS:
            raise UsageError(f"--output: there is no format {self.output!r}; there are {', '.join(FORMATS)}")
        return self.output

    @property
    def tier(self) -> Tier:
        from kgroups.render.views import Tier

        return Tier.WIDE if self.wide else Tier.VERBOSE if self.verbose else Tier.BASE

    def check(self, view: View) -> None:
        """Finds what cannot be right before the cluster is asked.

        :raises UsageError: for a format, or a column to show or sort by, that does not exist.
        """
        from kgroups.render.selection import select_columns, sort_rows

        _ = self.format
        if self.columns is not None:
            select_columns(view, self.columns)
        sort_rows((), view, self.sort)

    def shows(self, *keys: str) -> bool:
        """Whether the answer needs columns that only the wide view has and that cost requests of their own."""
        named = self.columns is not None and any(key in self.columns.lower().replace("-", "_") for key in keys)
        return self.wide or named or (self.columns is None and self.output in ("json", "jsonl", "csv"))


def query_and_show(settings: ClientSettings, shape: Shape, view: View, query: Query, *, debug: bool) -> int:
    """Asks, shows what came back on stdout and what failed on stderr; gives the exit code."""
    shape.check(view)
    return show(*or_error_envelope(shape, view, lambda: run_query(settings, query, debug=debug)), shape, view)


def or_error_envelope(shape: Shape, view: View, run: Callable[[], T]) -> T:
    """What ``run`` returns, or the error that it raises; see :func:`or_write_error`."""

    def write(empty: Outcome[Any]) -> None:
        from kgroups.render.output import write_outcome

        write_outcome(empty, view, fmt="json", stream=sys.stdout, columns=shape.columns)

    return or_write_error(shape.output, write, run)


def or_write_error(output: str, write: Callable[[Outcome[Any]], None], run: Callable[[], T]) -> T:
    """What ``run`` returns. If it fails as a whole, as when no broker answers, ``-o json`` still gets its envelope: no
    items, and the reason as a failure of the cluster. The error is raised all the same."""
    try:
        return run()
    except KgroupsError as error:
        from kgroups.model.outcome import EXIT_FAILED, Failure, Outcome, Scope

        if error.exit_code == EXIT_FAILED and output == "json":
            write(Outcome(failures=(Failure.of(error, Scope.CLUSTER, ""),)))
            sys.stdout.flush()
        raise


def run_query(
    settings: ClientSettings, query: Query, *, debug: bool, quiet: bool = False
) -> tuple[Outcome[Any], str | None]:
    """What a cluster answers to one question, and the cluster's id.

    :param quiet: without a line of progress, where something else is shown on the terminal.
    """
    import asyncio

    results: list[tuple[Outcome[Any], str | None]] = []
    # Handed over, not returned: where asyncio.run puts the SIGINT handler back, enum writes the main task into an
    # error that nobody reads, result and all. For 90,000 rows that costs seconds and 200 MB.
    asyncio.run(_query(settings, query, debug, quiet, results.append))
    (result,) = results
    return result


def show(
    outcome: Outcome[Any],
    cluster_id: str | None,
    shape: Shape,
    view: View,
    undo_file: Mapping[str, str | None] = MappingProxyType({}),
) -> int:
    """Shows what came back on stdout and what failed on stderr; gives the exit code.

    :param undo_file: of an operation that has one: a key of the JSON envelope.
    """
    from kgroups.render.output import write_outcome

    write_outcome(
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
        more=undo_file,
    )
    sys.stdout.flush()
    print_failures(outcome)
    return outcome.exit_code


def print_failures(outcome: Outcome[Any]) -> None:
    """Notices and failures, on stderr."""
    from kgroups.render.failures import failure_lines, hint_lines, notice_lines

    failures = outcome.failures
    for line in (*notice_lines(outcome.notices), *failure_lines(failures), *hint_lines(failures)):
        click.echo(line, err=True)


async def _query(
    settings: ClientSettings,
    query: Query,
    debug: bool,
    quiet: bool,
    hand_over: Callable[[tuple[Outcome[Any], str | None]], None],
) -> None:
    from kgroups.admin.open import open_admin

    from .progress import progress_line

    async with progress_line(quiet) as line:
        admin, line.status = await open_admin(settings, print_exchange if debug else None, _print_notice)
        try:
            hand_over((await query(admin), admin.cluster_id))
        finally:
            await admin.close()


def _print_notice(text: str) -> None:
    from kgroups.render.failures import notice_lines

    for line in notice_lines((text,)):
        click.echo(line, err=True)


def print_exchange(exchange: Exchange) -> None:
    """The line that ``--debug`` shows for a request."""
    from kgroups.model.visible import escape_message

    error = f" FAILED: {exchange.error}" if exchange.error else ""
    throttled = f" throttled={exchange.pause * 1000:.0f}ms" if exchange.pause else ""
    line = (
        f"debug: {exchange.broker} {exchange.api} v{exchange.version} keys={exchange.keys} "
        f"sent={exchange.sent}B received={exchange.received}B {exchange.seconds * 1000:.1f}ms{throttled}{error}"
    )
    click.echo(escape_message(line), err=True)
