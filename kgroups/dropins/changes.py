"""What the changes of Kafka's tools share: the application of plans, and the output.

Like the Java tools, and unlike ``kgroups``, changes neither ask for confirmation nor write an undo file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kgroups.admin.change.apply.apply_offsets import apply_offsets
from kgroups.cli.frame.selected_groups import check_name
from kgroups.model.operations.reset import FromPlan, PlannedOffset, Scenario
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Outcome, Result
from kgroups.net.cluster import Cluster

from .joptsimple import ParsedOptions
from .releases import release
from .sentences import escape_for, print_sentence
from .text.operations import (
    deleted_offsets_text,
    fallback_text,
    offset_errors_text,
    plan_csv,
    remark_lines,
    topic_errors_text,
)


def one_group(parsed: ParsedOptions) -> str:
    """Return the only group.

    :raises OptionError: if there are several.
    :raises UsageError: if the name is invalid.
    """
    name = parsed.one("group") or ""
    check_name(name)
    return name


class Applied(NamedTuple):
    """A plan of which only the written offsets are left, and the results of all."""

    written: Outcome[PlannedOffset]
    results: tuple[AppliedOffset, ...]


async def apply(cluster: Cluster, planned: Outcome[PlannedOffset]) -> Applied:
    """Write a plan."""
    applied = await apply_offsets(cluster, planned.items)
    written = [entry.planned for entry in applied.items if entry.result is Result.APPLIED]
    return Applied(planned.with_items(written).with_failures(applied.failures), applied.items)


def write_plan(parsed: ParsedOptions, planned: Sequence[PlannedOffset], table: Iterator[str]) -> None:
    """Print the new offsets of a reset, as a table or with ``--export`` as CSV; remarks to stderr."""
    show = escape_for(sys.stdout)
    for line in remark_lines(planned):
        print(line, file=sys.stderr)
    sys.stdout.writelines(fallback_text(planned, show=show))
    csv = plan_csv(planned, with_group=len(parsed.all("group")) != 1, show=show)
    sys.stdout.writelines(csv if "export" in parsed else table)
    sys.stdout.flush()


def print_groups_without_plan(scenario: Scenario, names: Iterable[str]) -> None:
    for name in groups_without_plan(scenario, names):
        print_sentence(("", release().no_plan.format(name)))


def groups_without_plan(scenario: Scenario, names: Iterable[str]) -> list[str]:
    """Return the named groups for which a plan file has no entries."""
    if not isinstance(scenario, FromPlan):
        return []
    planned = {group for group, _, _ in scenario.moves}
    return [name for name in names if name not in planned]


def write_deleted_offsets(group: str, outcome: Outcome[Any]) -> None:
    """Print the results of ``--delete-offsets``; what Kafka's tool does not say about topics to stderr."""
    show, failed = escape_for(sys.stdout), bool(outcome.failures)
    sys.stdout.writelines(offset_errors_text(outcome.items, show))
    sys.stderr.writelines(topic_errors_text(outcome.items, escape_for(sys.stderr)))
    sys.stdout.writelines(deleted_offsets_text(group, outcome.items, show=show, failed=failed))


def has_failed_items(outcome: Outcome[Any]) -> bool:
    return any(item.failure for item in outcome.items)
