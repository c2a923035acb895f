"""``kafka-share-groups``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kgroups.model.outcome import Failure, Outcome, Scope

from .command import Tool, names_on, settings_of, tell
from .joptsimple import ParsedOptions
from .rules import spelled
from .share_options import OPTIONS, check
from .which import selection_of

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.groups import Group


def main() -> None:
    from kgroups.cli.frame.exit_status import run_and_exit

    run_and_exit(TOOL.main)


def act(given: ParsedOptions) -> int:
    """Does what the one action of a checked command line says."""
    if "list" in given:
        return _list(given)
    if "describe" in given:
        return _describe(given)
    from . import share_acts

    if "reset-offsets" in given:
        return share_acts.reset(given)
    return share_acts.delete(given) if "delete" in given else share_acts.delete_offsets(given)


def _list(given: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import SHARERS
    from kgroups.model.groups import GroupState
    from kgroups.render.kafka.lists import short_list_text

    states = "state" in given
    wanted = SHARERS._replace(
        states=spelled(given, "state", ("state", "states"), GroupState.OF_SHARERS), with_states=states
    )

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        return await admin.list_groups(wanted)

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(short_list_text(outcome.items, states=states, show=names_on(sys.stdout)))

    return tell(settings_of(given), query, write)


def _describe(given: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import SHARERS
    from kgroups.model.offsets import Isolation
    from kgroups.render.kafka.share import members_text, offsets_text, remark, state_text

    selection = selection_of(given, SHARERS)
    verbose = "verbose" in given
    by_group = given.any_of("members", "state")

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        if by_group:
            groups = await admin.describe(selection)
            return only_sharers(groups, groups.items)
        offsets = await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
        return only_sharers(offsets, [item.group for item in offsets.items])

    def write(outcome: Outcome[Any]) -> None:
        show = names_on(sys.stdout)
        for item in outcome.items:
            if by_group and (said := remark(item, names_on(sys.stderr))):
                print(f"\n{said}", file=sys.stderr)
            if "members" in given:
                sys.stdout.writelines(members_text(item, verbose=verbose, show=show))
            elif by_group:
                sys.stdout.writelines(state_text(item, verbose=verbose, show=show))
            else:
                sys.stdout.writelines(offsets_text(item, verbose=verbose, show=show))

    return tell(settings_of(given), query, write)


def only_sharers(outcome: Outcome[Any], groups: Iterable[Group]) -> Outcome[Any]:
    """The items whose groups are share groups; each other one, which was named, is a failure."""
    from kgroups.model.groups import GroupType

    kept, failures = [], []
    for item, group in zip(outcome.items, groups, strict=True):
        if group.type == GroupType.SHARE:
            kept.append(item)
        else:
            failures.append(Failure(Scope.GROUP, group.group_id, f"it is not a share group, but a {group.type} group"))
    return outcome.with_items(kept).with_failures(failures)


TOOL = Tool(
    "kafka-share-groups", "This tool helps to list, describe, reset and delete share groups.", OPTIONS, check, act
)

if __name__ == "__main__":
    main()
