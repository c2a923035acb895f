"""``kafka-streams-groups``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kgroups.model.outcome import Outcome

from .command import Tool, escape_for, query_and_write
from .joptsimple import ParsedOptions
from .streams_options import OPTIONS, check

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin


def main() -> None:
    from kgroups.cli.frame.exit_status import run_and_exit

    run_and_exit(TOOL.main)


def run_action(parsed: ParsedOptions) -> int:
    """Run the one action of a checked command line; return the exit code."""
    if "list" in parsed:
        return _list(parsed)
    if "describe" in parsed:
        return _describe(parsed)
    from . import streams_acts

    if "reset-offsets" in parsed:
        return streams_acts.reset(parsed)
    return streams_acts.delete(parsed) if "delete" in parsed else streams_acts.delete_offsets(parsed)


def _list(parsed: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import STREAMERS
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.groups import GroupState

    from .rules import canonical_values
    from .text.lists import short_list_text

    states = "state" in parsed
    state_filter = canonical_values(parsed, "state", ("state", "states"), GroupState.OF_STREAMS)
    group_filter = STREAMERS._replace(states=state_filter, with_states=states)

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        return await admin.list_selected(Selection(among=group_filter))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(short_list_text(outcome.items, states=states, show=escape_for(sys.stdout)))

    return query_and_write(parsed, query, write)


def _describe(parsed: ParsedOptions) -> int:
    from kgroups.model.offsets import Isolation

    from .streams_kind import only_streams, streams_selection
    from .text.streams import members_text, offsets_text, state_text

    selection = streams_selection(parsed)
    verbose = "verbose" in parsed

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        if not parsed.any_of("members", "state"):
            offsets = await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
            return only_streams(offsets, [item.group for item in offsets.items])
        groups = await admin.describe(selection)
        return only_streams(groups, groups.items)

    def write(outcome: Outcome[Any]) -> None:
        show = escape_for(sys.stdout)
        text = members_text if "members" in parsed else state_text if "state" in parsed else offsets_text
        for item in outcome.items:
            sys.stdout.writelines(text(item, verbose=verbose, show=show))

    return query_and_write(parsed, query, write)


TOOL = Tool(
    "kafka-streams-groups",
    "streams",
    "This tool helps to list, or describe streams groups.",
    OPTIONS,
    check,
    run_action,
)

if __name__ == "__main__":
    main()
