"""``kafka-share-groups``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kgroups.model.outcome import Outcome

from .command import Tool, escape_for, query_and_write
from .joptsimple import ParsedOptions
from .rules import canonical_values
from .sentences import other_type
from .share_options import OPTIONS, check
from .which import selection_of

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.groups import Group


def main() -> None:
    from kgroups.cli.frame.exit_status import run_and_exit

    run_and_exit(TOOL.main)


def run_action(parsed: ParsedOptions) -> int:
    """Run the one action of a checked command line; return the exit code."""
    if "list" in parsed:
        return _list(parsed)
    if "describe" in parsed:
        return _describe(parsed)
    from . import share_acts

    if "reset-offsets" in parsed:
        return share_acts.reset(parsed)
    return share_acts.delete(parsed) if "delete" in parsed else share_acts.delete_offsets(parsed)


def _list(parsed: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import SHARERS
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.groups import GroupState

    from .text.lists import short_list_text

    states = "state" in parsed
    group_filter = SHARERS._replace(
        states=canonical_values(parsed, "state", ("state", "states"), GroupState.OF_SHARERS), with_states=states
    )

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        return await admin.list_selected(Selection(among=group_filter))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(short_list_text(outcome.items, states=states, show=escape_for(sys.stdout)))

    return query_and_write(parsed, query, write)


def _describe(parsed: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import SHARERS
    from kgroups.model.offsets import Isolation

    from .text.share import members_text, offsets_text, remark, state_text

    selection = selection_of(parsed, SHARERS)
    verbose = "verbose" in parsed
    by_group = parsed.any_of("members", "state")

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        if by_group:
            groups = await admin.describe(selection)
            return only_sharers(groups, groups.items)
        offsets = await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
        return only_sharers(offsets, [item.group for item in offsets.items])

    def write(outcome: Outcome[Any]) -> None:
        show = escape_for(sys.stdout)
        for item in outcome.items:
            if by_group and (text := remark(item, escape_for(sys.stderr))):
                print(f"\n{text}", file=sys.stderr)
            if "members" in parsed:
                sys.stdout.writelines(members_text(item, verbose=verbose, show=show))
            elif by_group:
                sys.stdout.writelines(state_text(item, verbose=verbose, show=show))
            else:
                sys.stdout.writelines(offsets_text(item, verbose=verbose, show=show))

    return query_and_write(parsed, query, write)


def only_sharers(outcome: Outcome[Any], groups: Iterable[Group]) -> Outcome[Any]:
    """Return the items of share groups; each other group was selected by name, and is a failure."""
    from kgroups.model.groups import GroupType

    kept, failures = [], []
    for item, group in zip(outcome.items, groups, strict=True):
        if group.type == GroupType.SHARE:
            kept.append(item)
        else:
            failures.append(other_type("share", group.group_id))
    return outcome.with_items(kept).with_failures(failures)


TOOL = Tool(
    "kafka-share-groups",
    "share",
    "This tool helps to list, describe, reset and delete share groups.",
    OPTIONS,
    check,
    run_action,
)

if __name__ == "__main__":
    main()
