"""``kafka-consumer-groups``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kgroups.errors import EXIT_OK
from kgroups.model.outcome import Outcome

from .command import Tool, escape_for, query_and_write
from .consumer_options import OPTIONS, check
from .joptsimple import ParsedOptions
from .rules import canonical_values
from .sentences import not_a_consumer_group
from .which import selection_of

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.groups import Group


def main() -> None:
    from kgroups.cli.frame.exit_status import run_and_exit

    run_and_exit(TOOL.main)


def run_action(parsed: ParsedOptions) -> int:
    """Run the one action of a checked command line; return the exit code."""
    if "validate-regex" in parsed:
        return _validate(parsed)
    if "list" in parsed:
        return _list(parsed)
    if "describe" in parsed:
        return _describe(parsed)
    from . import acts

    if "reset-offsets" in parsed:
        return acts.reset(parsed)
    return acts.delete(parsed) if "delete" in parsed else acts.delete_offsets(parsed)


def _validate(parsed: ParsedOptions) -> int:
    from .regex import verdict

    print(verdict(parsed.one("validate-regex") or ""))
    return EXIT_OK


def _list(parsed: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import CONSUMERS
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.groups import GroupState, GroupType

    from .text.lists import list_text

    states, types = "state" in parsed, "type" in parsed
    group_filter = CONSUMERS._replace(
        states=canonical_values(parsed, "state", ("state", "states"), GroupState.OF_CONSUMERS),
        types=canonical_values(parsed, "type", ("types", "types"), GroupType.OF_CONSUMERS),
        with_states=states,
        with_types=types,
    )

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        return await admin.list_selected(Selection(among=group_filter))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(list_text(outcome.items, types=types, states=states, show=escape_for(sys.stdout)))

    return query_and_write(parsed, query, write)


def _describe(parsed: ParsedOptions) -> int:
    from kgroups.model.offsets import Isolation

    from .text.consumer import members_text, offsets_text, remark, state_text

    selection = selection_of(parsed)
    verbose = "verbose" in parsed

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        if not parsed.any_of("members", "state"):
            offsets = await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
            return _only_consumers(offsets, [item.group for item in offsets.items])
        groups = await admin.describe(selection)
        return _only_consumers(groups, groups.items)

    def write(outcome: Outcome[Any]) -> None:
        show = escape_for(sys.stdout)
        for item in outcome.items:
            if "members" in parsed:
                group, lines = item, members_text(item, verbose=verbose, show=show)
            elif "state" in parsed:
                group, lines = item, state_text(item, verbose=verbose, show=show)
            else:
                group, lines = item.group, offsets_text(item, verbose=verbose, show=show)
            text = remark(group, escape_for(sys.stderr))
            if text:
                print(f"\n{text}", file=sys.stderr)
            sys.stdout.writelines(lines)

    return query_and_write(parsed, query, write)


def _only_consumers(outcome: Outcome[Any], groups: Iterable[Group]) -> Outcome[Any]:
    """Return the items of consumer groups; each other group was selected by name, and is a failure."""
    from kgroups.model.groups import CONSUMER_GROUPS

    kept, failures = [], []
    for item, group in zip(outcome.items, groups, strict=True):
        if group.protocol_type in CONSUMER_GROUPS:
            kept.append(item)
        else:
            failures.append(not_a_consumer_group(group))
    return outcome.with_items(kept).with_failures(failures)


TOOL = Tool(
    "kafka-consumer-groups",
    "consumer",
    "This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, or reset "
    "consumer group offsets.",
    OPTIONS,
    check,
    run_action,
)

if __name__ == "__main__":
    main()
