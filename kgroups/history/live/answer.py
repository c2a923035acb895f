"""Read the rows of one live table for some groups. Failures raise an error, unless an option allows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from kgroups.errors import HistoryError, KgroupsError
from kgroups.model.groups import Group, ListedGroup
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.visible import escape

from .ask import describe_all, describe_all_offsets, list_all
from .options import LiveOptions
from .rows import Row, assignments_rows, failure_rows, group_row, members_rows, offsets_rows
from .tables import ASSIGNMENTS, FAILURES, GROUPS, OFFSETS
from .wire_session import WireSession

T = TypeVar("T")

NAMED = 3
"""Maximum number of failures named in an error; the others are counted."""


def list_groups(options: LiveOptions) -> Outcome[ListedGroup]:
    """List every group of the cluster.

    :raises HistoryError: if the list is incomplete, unless the table is ``failures`` or ``failOnError`` is false.
    """
    outcome = _or_failure(options, list_all)
    check(options, outcome.failures)
    return outcome


def read_rows(
    options: LiveOptions,
    listed: Sequence[ListedGroup],
    *,
    failures: Iterable[Failure] = (),
) -> list[Row]:
    """Return the rows of the table in the options for these groups.

    :param failures: earlier failures, to include in the table ``failures``.
    :raises HistoryError: if rows are missing, unless the table is ``failures`` or ``failOnError`` is false.
    """
    outcome = _or_failure(options, lambda session: _rows(options, session, listed)) if listed else Outcome[Row]()
    if options.table == FAILURES:
        return failure_rows((*failures, *outcome.failures))
    check(options, outcome.failures)
    return list(outcome.items)


def _rows(options: LiveOptions, session: WireSession, listed: Iterable[ListedGroup]) -> Outcome[Row]:
    if options.table in (OFFSETS, FAILURES):
        offsets = describe_all_offsets(session, listed, isolation=options.isolation)
        return offsets.with_items(row for each in offsets.items for row in offsets_rows(each))
    groups = describe_all(session, listed)
    return groups.with_items(row for group in groups.items for row in _group_rows(options, group))


def _group_rows(options: LiveOptions, group: Group) -> Iterator[Row]:
    if options.table == GROUPS:
        yield group_row(group)
    elif options.table == ASSIGNMENTS:
        yield from assignments_rows(group)
    else:
        yield from members_rows(group)


def _or_failure(options: LiveOptions, query: Callable[[WireSession], Outcome[T]]) -> Outcome[T]:
    """Run a query; if it raises, return the error as a failure of the cluster."""
    try:
        with WireSession(options.settings) as session:
            outcome = query(session)
    except KgroupsError as error:
        outcome = Outcome(failures=(Failure.of(error, Scope.CLUSTER, ""),))
    return outcome._replace(failures=tuple(each._replace(cluster=options.cluster) for each in outcome.failures))


def check(options: LiveOptions, failures: Sequence[Failure]) -> None:
    """Check that no rows are missing.

    :raises HistoryError: if some are, unless the table is ``failures`` or ``failOnError`` is false.
    """
    if not failures or options.table.name == FAILURES.name or not options.fail_on_error:
        return
    by_scope = sorted(failures, key=lambda failure: (list(Scope).index(failure.scope), failure.sort_key()))
    named = "; ".join(map(_describe, by_scope[:NAMED]))
    more = f"; and {len(failures) - NAMED:,} more" if len(failures) > NAMED else ""
    raise HistoryError(
        f"kgroups-live: table {options.table.name} is not whole: {named}{more} "
        "(see table failures; failOnError=false returns the available rows)"
    )


def _describe(failure: Failure) -> str:
    subject = {Scope.CLUSTER: "", Scope.BROKER: f"{failure.name}: "}.get(
        failure.scope, f"{failure.scope.value} '{failure.name}': "
    )
    error = f" [{failure.error}]" if failure.error else ""
    cluster = f"cluster {failure.cluster}: " if failure.cluster else ""
    # In one line, whatever the cluster's text contains: root_cause() finds errors by line.
    return escape(f"{cluster}{subject}{failure.message}{error}")
