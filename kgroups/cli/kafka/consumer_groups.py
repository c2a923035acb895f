"""``kafka-consumer-groups``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kgroups.model.outcome import EXIT_OK, Failure, Outcome, Scope

from .command import Tool, names_on, settings_of, tell
from .consumer_options import OPTIONS, check
from .joptsimple import ParsedOptions
from .rules import spelled
from .which import selection_of

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.groups import Group


def main() -> None:
    from kgroups.cli.frame.exit_status import run_and_exit

    run_and_exit(TOOL.main)


def act(given: ParsedOptions) -> int:
    """Does what the one action of a checked command line says."""
    if "validate-regex" in given:
        return _validate(given)
    if "list" in given:
        return _list(given)
    if "describe" in given:
        return _describe(given)
    from . import acts

    if "reset-offsets" in given:
        return acts.reset(given)
    return acts.delete(given) if "delete" in given else acts.delete_offsets(given)


def _validate(given: ParsedOptions) -> int:
    from .regex import verdict

    print(verdict(given.one("validate-regex") or ""))
    return EXIT_OK


def _list(given: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import CONSUMERS
    from kgroups.model.groups import GroupState, GroupType
    from kgroups.render.kafka.lists import list_text

    states, types = "state" in given, "type" in given
    wanted = CONSUMERS._replace(
        states=spelled(given, "state", ("state", "states"), GroupState.OF_CONSUMERS),
        types=spelled(given, "type", ("types", "types"), GroupType.OF_CONSUMERS),
        with_states=states,
        with_types=types,
    )

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        return await admin.list_groups(wanted)

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(list_text(outcome.items, types=types, states=states, show=names_on(sys.stdout)))

    return tell(settings_of(given), query, write)


def _describe(given: ParsedOptions) -> int:
    from kgroups.model.offsets import Isolation
    from kgroups.render.kafka.consumer import members_text, offsets_text, remark, state_text

    selection = selection_of(given)
    verbose = "verbose" in given

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        if not given.any_of("members", "state"):
            offsets = await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
            return _only_consumers(offsets, [item.group for item in offsets.items])
        groups = await admin.describe(selection)
        return _only_consumers(groups, groups.items)

    def write(outcome: Outcome[Any]) -> None:
        show = names_on(sys.stdout)
        for item in outcome.items:
            if "members" in given:
                group, lines = item, members_text(item, verbose=verbose, show=show)
            elif "state" in given:
                group, lines = item, state_text(item, verbose=verbose, show=show)
            else:
                group, lines = item.group, offsets_text(item, verbose=verbose, show=show)
            said = remark(group, names_on(sys.stderr))
            if said:
                print(f"\n{said}", file=sys.stderr)
            sys.stdout.writelines(lines)

    return tell(settings_of(given), query, write)


def _other_kind(group: Group) -> str:
    """What a group is that is not one of consumers."""
    if group.protocol_type in ("share", "streams"):
        return f"it is a {group.protocol_type} group, not a consumer group"
    return f"it is a group of protocol type '{group.protocol_type}', not a consumer group"


def _only_consumers(outcome: Outcome[Any], groups: Iterable[Group]) -> Outcome[Any]:
    """The items whose groups are of consumers; each other one, which was named, is a failure."""
    from kgroups.model.groups import CONSUMER_GROUPS

    kept, failures = [], []
    for item, group in zip(outcome.items, groups, strict=True):
        if group.protocol_type in CONSUMER_GROUPS:
            kept.append(item)
        else:
            message = _other_kind(group)
            failures.append(Failure(Scope.GROUP, group.group_id, message))
    return outcome.with_items(kept).with_failures(failures)


TOOL = Tool(
    "kafka-consumer-groups",
    "This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, or reset "
    "consumer group offsets.",
    OPTIONS,
    check,
    act,
)

if __name__ == "__main__":
    main()
