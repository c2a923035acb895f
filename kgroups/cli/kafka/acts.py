"""What ``kafka-consumer-groups`` changes: ``--reset-offsets``, ``--delete``, ``--delete-offsets``.

As the Java tool, and unlike ``kgroups reset-offsets``, these neither ask for confirmation nor write an undo file.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgroups.errors import UsageError
from kgroups.model.outcome import Outcome, Scope

from .command import names_on, settings_of, tell
from .joptsimple import OptionError, ParsedOptions
from .which import selection_of

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.operations.reset import PlannedOffset, Scenario

_PARTITION = re.compile(r"[+-]?[0-9]{1,10}")


def reset(given: ParsedOptions) -> int:
    """Plans, and with ``--execute`` writes; either way the new offsets are shown."""
    from kgroups.admin.change.reset_plan import ResetRequest
    from kgroups.render.kafka.operations import fallback_text, plan_csv, plan_text, remark_lines

    selection = selection_of(given)
    scenario = scenario_of(given)
    request = ResetRequest(selection, scenario, _topics(given), create=True)

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        planned = await admin.plan_reset(request)
        if "execute" not in given:
            return planned
        checked = await admin.revalidate(planned.items)
        applied = await admin.apply_offsets(checked.items)
        written = [entry.planned for entry in applied.items if not entry.failure]
        return planned.with_items(written).with_failures((*checked.failures, *applied.failures))

    def write(outcome: Outcome[Any]) -> None:
        planned: tuple[PlannedOffset, ...] = outcome.items
        refused = {failure.name for failure in outcome.failures if failure.scope is Scope.GROUP}
        for line in remark_lines(planned):
            print(line, file=sys.stderr)
        sys.stdout.writelines(fallback_text(planned, show=names_on(sys.stdout)))
        if "export" in given:
            sys.stdout.writelines(plan_csv(planned, with_group=len(given.all("group")) != 1, show=names_on(sys.stdout)))
        else:
            sys.stdout.writelines(plan_text(planned, {*selection.names, *refused}, show=names_on(sys.stdout)))
        sys.stdout.flush()
        say_not_in_file(scenario, selection.names)

    return tell(settings_of(given), query, write, failed=lambda _: bool(not_in_file(scenario, selection.names)))


def say_not_in_file(scenario: Scenario, names: Iterable[str]) -> None:
    for name in not_in_file(scenario, names):
        print(f"Error: No reset plan for group {names_on(sys.stderr)(name)} found", file=sys.stderr)


def not_in_file(scenario: Scenario, names: Iterable[str]) -> list[str]:
    """The named groups that a plan file says nothing about."""
    from kgroups.model.operations.reset import FromPlan

    if not isinstance(scenario, FromPlan):
        return []
    planned = {group for group, _, _ in scenario.moves}
    return [name for name in names if name not in planned]


def scenario_of(given: ParsedOptions) -> Scenario:
    """:raises OptionError: for a value that is none.
    :raises UsageError: for a time that is none, or a file that cannot be read or holds no plan.
    """
    from kgroups.model.moments import parse_duration, parse_moment
    from kgroups.model.operations import reset

    if "to-earliest" in given:
        return reset.ToEarliest()
    if "to-latest" in given:
        return reset.ToLatest()
    if "to-current" in given:
        return reset.ToCurrent()
    if (offset := given.first_number("to-offset")) is not None:
        return reset.ToOffset(offset)
    if (by := given.number("shift-by")) is not None:
        return reset.ShiftBy(by)
    if moment := given.all("to-datetime"):
        return reset.ToTime(parse_moment(moment[0]))
    if (duration := given.one("by-duration")) is not None:
        return reset.ToTime(int(time.time() * 1000) - parse_duration(duration))
    return _plan(given.all("from-file")[0], given.all("group"))


def _plan(path: str, groups: tuple[str, ...]) -> Scenario:
    """:raises UsageError: for a file that cannot be read or holds no plan."""
    from kgroups.model.operations.plan_file import parse_plan

    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--from-file: cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"--from-file: {path} is not UTF-8") from None
    return parse_plan(text, path).scenario(groups[0] if len(groups) == 1 else None)


def _topics(given: ParsedOptions) -> Mapping[str, frozenset[int] | None] | None:
    """The scope; ``None`` is what each group has committed, or what the file says."""
    return None if given.any_of("all-topics", "from-file") else topics_of(given.all("topic"))


def topics_of(words: Iterable[str]) -> dict[str, frozenset[int] | None]:
    """``t`` and ``t:0,1`` as topic -> partitions, ``None`` for all of them.

    :raises OptionError: for what is neither.
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
    """Words of a command line need not be."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def delete(given: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import CONSUMERS
    from kgroups.render.kafka.operations import deleted_text, undeleted_text

    selection = selection_of(given)

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        names = selection.names
        listed: Outcome[Any] = Outcome()
        if "all-groups" in given:
            listed = await admin.list_groups(CONSUMERS)
            names = tuple(group.group_id for group in listed.items)
        deleted = await admin.delete_groups(names)
        return Outcome(deleted.items, listed.failures, (*listed.notices, *deleted.notices))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(deleted_text(outcome.items, names_on(sys.stdout)))
        sys.stdout.flush()
        sys.stderr.writelines(undeleted_text(outcome.items, names_on(sys.stderr)))

    return tell(settings_of(given), query, write, failed=lambda outcome: any(item.failure for item in outcome.items))


def delete_offsets(given: ParsedOptions) -> int:
    from kgroups.admin.port.capabilities import OFFSET_DELETION
    from kgroups.cli.frame.group_options import check_name
    from kgroups.render.kafka.operations import forgotten_text, unforgotten_text

    group = given.one("group") or ""
    check_name(group)
    topics = topics_of(given.all("topic"))

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        return await OFFSET_DELETION.of(admin).delete_offsets_now(group, topics)

    def write(outcome: Outcome[Any]) -> None:
        sys.stderr.writelines(unforgotten_text(outcome.items, names_on(sys.stderr)))
        sys.stderr.flush()
        sys.stdout.writelines(forgotten_text(group, outcome.items, show=names_on(sys.stdout)))

    return tell(settings_of(given), query, write, failed=lambda outcome: any(item.failure for item in outcome.items))
