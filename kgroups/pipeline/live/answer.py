"""The rows of one table about some groups, and what failed; where failures are not minded, nothing is raised."""

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

T = TypeVar("T")

NAMED = 3
"""Failures that an error names; the others it counts."""


def list_groups(options: LiveOptions) -> Outcome[ListedGroup]:
    """Every group of the cluster.

    :raises HistoryError: when a part could not be asked, and failures are neither wanted nor passed over.
    """
    outcome = _or_failure(lambda: list_all(options.settings))
    _check(options, outcome.failures)
    return outcome


def answer(
    options: LiveOptions,
    listed: Sequence[ListedGroup],
    *,
    failures: Iterable[Failure] = (),
) -> list[Row]:
    """The rows about these groups; ``failures``, met before, stand among the rows of the table of that name.

    :raises HistoryError: as :func:`list_groups`.
    """
    outcome = _or_failure(lambda: _rows(options, listed)) if listed else Outcome[Row]()
    if options.table == FAILURES:
        return failure_rows((*failures, *outcome.failures))
    _check(options, outcome.failures)
    return list(outcome.items)


def _rows(options: LiveOptions, listed: Iterable[ListedGroup]) -> Outcome[Row]:
    if options.table in (OFFSETS, FAILURES):
        offsets = describe_all_offsets(options.settings, listed, isolation=options.isolation)
        return offsets.with_items(row for each in offsets.items for row in offsets_rows(each))
    groups = describe_all(options.settings, listed)
    return groups.with_items(row for group in groups.items for row in _of_group(options, group))


def _of_group(options: LiveOptions, group: Group) -> Iterator[Row]:
    if options.table == GROUPS:
        yield group_row(group)
    elif options.table == ASSIGNMENTS:
        yield from assignments_rows(group)
    else:
        yield from members_rows(group)


def _or_failure(question: Callable[[], Outcome[T]]) -> Outcome[T]:
    """Who could not ask at all says so as one who could not ask everything."""
    try:
        return question()
    except KgroupsError as error:
        return Outcome(failures=(Failure.of(error, Scope.CLUSTER, ""),))


def _check(options: LiveOptions, failures: Sequence[Failure]) -> None:
    if not failures or options.table == FAILURES or not options.fail_on_error:
        return
    by_width = sorted(failures, key=lambda failure: (list(Scope).index(failure.scope), failure.sort_key()))
    named = "; ".join(map(_told, by_width[:NAMED]))
    more = f"; and {len(failures) - NAMED:,} more" if len(failures) > NAMED else ""
    raise HistoryError(
        f"kgroups-live: table {options.table.name} is not whole: {named}{more} "
        "(see table failures; failOnError=false returns the available rows)"
    )


def _told(failure: Failure) -> str:
    subject = {Scope.CLUSTER: "", Scope.BROKER: f"{failure.name}: "}.get(
        failure.scope, f"{failure.scope.value} '{failure.name}': "
    )
    error = f" [{failure.error}]" if failure.error else ""
    # One line, whatever the cluster's texts hold: errors are found again by their lines.
    return escape(f"{subject}{failure.message}{error}")
