"""Show the result of a query on stdout, its failures and notices on stderr, and the requests of --debug."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kgroups.errors import EXIT_FAILED, KgroupsError, UsageError
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.render.failures import failure_lines, hint_lines, notice_lines, reference_lines
from kgroups.render.output import FORMATS, write_outcome
from kgroups.render.selection import named_keys, select_columns, sort_rows
from kgroups.render.views import Tier, View

from .exit_status import is_debug, is_quiet, print_to_stderr

if TYPE_CHECKING:
    from kgroups.net.connection import Exchange

T = TypeVar("T")
Headers = MutableMapping[str, Sequence[str]]
"""The headers of groups in a table on a terminal."""


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
        if self.output == "auto":
            return "table" if sys.stdout.isatty() else "plain"
        if self.output == "markdown":
            return "github"
        if self.output not in FORMATS:
            raise UsageError(
                f"--output: unknown format {self.output!r}; use table, plain, json, jsonl, csv, markdown, html, or "
                "another format of tabulate"
            )
        return self.output

    @property
    def tier(self) -> Tier:
        return Tier.WIDE if self.wide else Tier.VERBOSE if self.verbose else Tier.BASE

    @property
    def has_group_headers(self) -> bool:
        """Whether groups have headers: in a table whose columns and order the user did not choose."""
        return self.format == "table" and not self.wide and self.columns is None and self.sort is None

    @property
    def with_status(self) -> Shape:
        """The options for rows of groups with a status: a terminal shows it, worst first by default."""
        if self.format != "table" or self.columns is not None:
            return self
        return self._replace(extra=(*self.extra, "status"), sort=self.sort or "status,-known_lag")

    def check(self, view: View) -> None:
        """Check the options before the cluster is contacted.

        :raises UsageError: if the format, or a column to show or to sort by, does not exist.
        """
        _ = self.format
        if self.columns is not None:
            select_columns(view, self.columns)
        sort_rows((), view, self.sort)

    def needs(self, view: View, key: str) -> bool:
        """Return whether a column of the wide view is shown, or sorted by: it costs extra requests."""
        if self.wide or (self.columns is None and self.output in ("json", "jsonl", "csv")):
            return True
        return (self.columns or self.sort) is not None and key in named_keys(view, self.columns, self.sort)


def or_error_envelope(shape: Shape, view: View, run: Callable[[], T]) -> T:
    """Return the result of ``run``; if it raises, write the JSON envelope of a view, see :func:`or_write_error`."""

    def write(empty: Outcome[Any]) -> None:
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
        if error.exit_code == EXIT_FAILED and output == "json":
            write(Outcome(failures=(Failure.of(error, Scope.CLUSTER, ""),)))
            sys.stdout.flush()
        raise


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
    print_failures(with_omitted(outcome, omitted))
    return outcome.exit_code


def with_omitted(outcome: Outcome[T], omitted: Collection[str], option: str = "--wide") -> Outcome[T]:
    """Return the outcome with a notice about the columns that a narrow terminal omits.

    :param option: what shows them.
    """
    if not omitted:
        return outcome
    return outcome.with_failures((), (f"columns omitted to fit the terminal: {', '.join(omitted)}; use {option}",))


def print_failures(outcome: Outcome[Any]) -> None:
    """Print notices, failures, and hints to stderr, and with --debug where the documentation explains the failures."""
    failures = outcome.failures
    notices = () if is_quiet() else outcome.notices
    references = reference_lines(failures) if is_debug() else ()
    for line in (*notice_lines(notices), *failure_lines(failures), *hint_lines(failures), *references):
        print_to_stderr(line)


def print_notice(text: str) -> None:
    """Print a notice to stderr."""
    for line in () if is_quiet() else notice_lines((text,)):
        print_to_stderr(line)


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
    error = f" FAILED: {exchange.error}" if exchange.error else ""
    throttled = f" throttled={exchange.pause * 1000:.0f}ms" if exchange.pause else ""
    line = (
        f"debug: {exchange.broker} {exchange.api} v{exchange.version} keys={exchange.keys} "
        f"sent={exchange.sent}B received={exchange.received}B {exchange.seconds * 1000:.1f}ms{throttled}{error}"
    )
    print_to_stderr(line)
