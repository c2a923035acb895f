"""The changes of ``kafka-consumer-groups``: ``--reset-offsets``, ``--delete``, ``--delete-offsets``.

Like the Java tool, and unlike ``kgroups reset-offsets``, they neither ask for confirmation nor write an undo file.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kgroups.admin.change.apply_offsets import apply_offsets
from kgroups.admin.change.delete_groups import delete_groups
from kgroups.admin.change.delete_now import delete_offsets_now
from kgroups.admin.change.plan_reset import plan_reset
from kgroups.admin.change.reset_request import ResetRequest
from kgroups.admin.query.list_groups import CONSUMERS
from kgroups.admin.query.select_groups import Selection, list_selected
from kgroups.admin.wire import WireAdmin
from kgroups.cli.frame.group_options import check_name
from kgroups.errors import UsageError
from kgroups.model.groups import CONSUMER_GROUPS
from kgroups.model.moments import parse_duration, parse_moment
from kgroups.model.operations.plan_file import parse_plan
from kgroups.model.operations.reset import (
    FromPlan,
    PlannedOffset,
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
)
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.net.cluster import Cluster

from .command import change_and_write, escape_for
from .joptsimple import OptionError, ParsedOptions
from .sentences import ToolError, not_a_consumer_group
from .text.operations import (
    deleted_offsets_text,
    deleted_text,
    fallback_text,
    offset_errors_text,
    plan_csv,
    plan_text,
    remark_lines,
    undeleted_text,
)
from .which import selection_of

_NO_TIME = "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"
_PARTITION = re.compile(r"[+-]?[0-9]{1,10}")


def reset(parsed: ParsedOptions) -> int:
    """Plan a reset, and with ``--execute`` apply it; print the new offsets in either case."""
    selection = selection_of(parsed)
    scenario = scenario_of(parsed)
    request = ResetRequest(selection, scenario, _topics(parsed), create=True)

    async def query(cluster: Cluster) -> Outcome[Any]:
        others = await _other_types(cluster, selection)
        kept = tuple(name for name in selection.names if name not in {failure.name for failure in others})
        if others and not kept:
            return Outcome(failures=others)
        planned = await plan_reset(cluster, request._replace(selection=selection._replace(names=kept)))
        planned = planned.with_failures(others)
        if "execute" not in parsed:
            return planned
        applied = await apply_offsets(cluster, planned.items)
        written = [entry.planned for entry in applied.items if entry.result is Result.APPLIED]
        return planned.with_items(written).with_failures(applied.failures)

    def write(outcome: Outcome[Any]) -> None:
        planned: tuple[PlannedOffset, ...] = outcome.items
        rejected = {failure.name for failure in outcome.failures if failure.scope is Scope.GROUP}
        for line in remark_lines(planned):
            print(line, file=sys.stderr)
        sys.stdout.writelines(fallback_text(planned, show=escape_for(sys.stdout)))
        if "export" in parsed:
            sys.stdout.writelines(
                plan_csv(planned, with_group=len(parsed.all("group")) != 1, show=escape_for(sys.stdout))
            )
        else:
            sys.stdout.writelines(plan_text(planned, {*selection.names, *rejected}, show=escape_for(sys.stdout)))
        sys.stdout.flush()
        print_groups_without_plan(scenario, selection.names)

    return change_and_write(parsed, query, write, failed=lambda _: bool(groups_without_plan(scenario, selection.names)))


async def _other_types(cluster: Cluster, selection: Selection) -> tuple[Failure, ...]:
    """Return failures for the named groups that are not consumer groups; a group that does not exist is created."""
    if not selection.names:
        return ()

    described = await WireAdmin(cluster).describe(selection)
    return tuple(not_a_consumer_group(group) for group in described.items if group.protocol_type not in CONSUMER_GROUPS)


def print_groups_without_plan(scenario: Scenario, names: Iterable[str]) -> None:
    for name in groups_without_plan(scenario, names):
        print(f"Error: No reset plan for group {escape_for(sys.stderr)(name)} found", file=sys.stderr)


def groups_without_plan(scenario: Scenario, names: Iterable[str]) -> list[str]:
    """Return the named groups for which a plan file has no entries."""
    if not isinstance(scenario, FromPlan):
        return []
    planned = {group for group, _, _ in scenario.moves}
    return [name for name in names if name not in planned]


def scenario_of(parsed: ParsedOptions) -> Scenario:
    """Return the scenario of a reset.

    :raises OptionError: if a number is invalid.
    :raises UsageError: if a time is invalid, or a file cannot be read or is not a plan.
    """
    if "to-earliest" in parsed:
        return ToEarliest()
    if "to-latest" in parsed:
        return ToLatest()
    if "to-current" in parsed:
        return ToCurrent()
    if (offset := parsed.first_number("to-offset")) is not None:
        return ToOffset(offset)
    if (shift := parsed.number("shift-by")) is not None:
        return ShiftBy(shift)
    if moment := parsed.all("to-datetime"):
        return ToTime(moment_of(moment[0]))
    if (duration := parsed.one("by-duration")) is not None:
        try:
            return ToTime(int(time.time() * 1000) - parse_duration(duration))
        except UsageError as error:
            raise ToolError("Text cannot be parsed to a Duration", str(error)) from None
    return _plan(parsed.all("from-file")[0], parsed.all("group"))


def moment_of(text: str) -> int:
    """Return a point in time in milliseconds.

    :raises ToolError: if it is invalid.
    """
    try:
        return parse_moment(text)
    except UsageError as error:
        _, with_time, clock = text.partition("T")
        zoned = text if re.search("[+Z-]", clock) else f"{text}Z"
        cause = f'Unparseable date: "{zoned}"' if with_time else _NO_TIME
        raise ToolError(f"java.text.ParseException: {cause}", str(error)) from None


def _plan(path: str, groups: tuple[str, ...]) -> Scenario:
    """Read a plan file.

    :raises UsageError: if it cannot be read, or is not a plan.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        text = f"--from-file: cannot read {path}: {error.strerror}"
        raise ToolError(f"java.io.IOException: Unable to read file {path}", text) from None
    except ValueError:
        raise UsageError(f"--from-file: {path} is not UTF-8") from None
    return parse_plan(text, path).scenario(groups[0] if len(groups) == 1 else None)


def _topics(parsed: ParsedOptions) -> Mapping[str, frozenset[int] | None] | None:
    """Return the scope: ``None`` for all commits of each group, or for the file's partitions."""
    return None if parsed.any_of("all-topics", "from-file") else topics_of(parsed.all("topic"))


def topics_of(words: Iterable[str]) -> dict[str, frozenset[int] | None]:
    """Parse ``t`` and ``t:0,1``; return topic -> partitions, ``None`` for all partitions.

    :raises OptionError: if an argument has neither form.
    """
    scope: dict[str, frozenset[int] | None] = {}
    for word in words:
        topic, colon, ids = word.partition(":")
        if ":" in ids or (colon and not ids.strip(",")) or not topic or not _is_utf_8(topic):
            raise OptionError(f"Invalid topic arg '{word}', expected topic name and partitions")
        if not colon:
            scope[topic] = None
            continue
        for part in ids.rstrip(",").split(","):
            if not _PARTITION.fullmatch(part) or int(part) >= 2**31:
                raise OptionError(f"Invalid partition '{part}' specified in topic arg '{word}''")
            known = scope.setdefault(topic, frozenset())
            scope[topic] = None if known is None else known | {int(part)}
    return scope


def _is_utf_8(text: str) -> bool:
    """Return whether an argument was valid UTF-8: Python represents other bytes as surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def delete(parsed: ParsedOptions) -> int:
    selection = selection_of(parsed)

    async def query(cluster: Cluster) -> Outcome[Any]:
        names = selection.names
        listed: Outcome[Any] = Outcome()
        if "all-groups" in parsed:
            listed = await list_selected(cluster, Selection(among=CONSUMERS))
            names = tuple(group.group_id for group in listed.items)
        deleted = await delete_groups(cluster, names)
        return Outcome(deleted.items, listed.failures, (*listed.notices, *deleted.notices))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(deleted_text(outcome.items, escape_for(sys.stdout)))
        sys.stdout.flush()
        sys.stderr.writelines(undeleted_text(outcome.items, escape_for(sys.stderr)))

    return change_and_write(parsed, query, write, failed=lambda outcome: any(item.failure for item in outcome.items))


def delete_offsets(parsed: ParsedOptions) -> int:
    group = parsed.one("group") or ""
    check_name(group)
    topics = topics_of(parsed.all("topic"))

    async def query(cluster: Cluster) -> Outcome[Any]:
        return await delete_offsets_now(cluster, group, topics)

    def write(outcome: Outcome[Any]) -> None:
        sys.stderr.writelines(offset_errors_text(outcome.items, escape_for(sys.stderr)))
        sys.stderr.flush()
        show, failed = escape_for(sys.stdout), bool(outcome.failures)
        sys.stdout.writelines(deleted_offsets_text(group, outcome.items, show=show, failed=failed))

    return change_and_write(parsed, query, write, failed=lambda outcome: any(item.failure for item in outcome.items))
