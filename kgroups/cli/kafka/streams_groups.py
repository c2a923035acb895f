"""``kafka-streams-groups``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kgroups.model.outcome import Outcome

from .command import Tool, names_on, settings_of, tell
from .joptsimple import ParsedOptions
from .streams_options import OPTIONS, check

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin


def main() -> None:
    from kgroups.cli.frame.exit_status import run_and_exit

    run_and_exit(TOOL.main)


def act(given: ParsedOptions) -> int:
    """Does what the one action of a checked command line says."""
    if "list" in given:
        return _list(given)
    if "describe" in given:
        return _describe(given)
    from . import streams_acts

    if "reset-offsets" in given:
        return streams_acts.reset(given)
    return streams_acts.delete(given) if "delete" in given else streams_acts.delete_offsets(given)


def _list(given: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import STREAMERS
    from kgroups.model.groups import GroupState
    from kgroups.render.kafka.lists import short_list_text

    from .rules import spelled

    states = "state" in given
    chosen = spelled(given, "state", ("state", "states"), GroupState.OF_STREAMS)
    wanted = STREAMERS._replace(states=chosen, with_states=states)

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        return await admin.list_groups(wanted)

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(short_list_text(outcome.items, states=states, show=names_on(sys.stdout)))

    return tell(settings_of(given), query, write)


def _describe(given: ParsedOptions) -> int:
    from kgroups.model.offsets import Isolation
    from kgroups.render.kafka.streams import members_text, offsets_text, state_text

    from .streams_kind import only_streams, streams_selection

    selection = streams_selection(given)
    verbose = "verbose" in given

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        if not given.any_of("members", "state"):
            offsets = await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
            return only_streams(offsets, [item.group for item in offsets.items])
        groups = await admin.describe(selection)
        return only_streams(groups, groups.items)

    def write(outcome: Outcome[Any]) -> None:
        show = names_on(sys.stdout)
        text = members_text if "members" in given else state_text if "state" in given else offsets_text
        for item in outcome.items:
            sys.stdout.writelines(text(item, verbose=verbose, show=show))

    return tell(settings_of(given), query, write)


TOOL = Tool("kafka-streams-groups", "This tool helps to list, or describe streams groups.", OPTIONS, check, act)

if __name__ == "__main__":
    main()
