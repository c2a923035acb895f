"""``kafka-groups``: groups of every kind, by type and protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kgroups.errors import UsageError
from kgroups.model.outcome import Outcome

from .command import Tool, names_on, settings_of, tell
from .joptsimple import Option, OptionError, ParsedOptions, Takes

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.groups import ListedGroup

OPTIONS = (
    Option("help", is_help=True),
    Option("version", is_help=True),
    Option("bootstrap-server", Takes.VALUE, required=True),
    Option("command-config", Takes.VALUE),
    Option("list"),
    Option("group-type", Takes.VALUE),
    Option("protocol", Takes.VALUE),
    Option("consumer"),
    Option("share"),
    Option("streams"),
)

_KINDS = ("consumer", "share", "streams")
_EXCLUDED = ("consumer", "group-type", "protocol", "share", "streams")


def main() -> None:
    from kgroups.cli.frame.exit_status import run_and_exit

    run_and_exit(TOOL.main)


def check(given: ParsedOptions) -> None:
    """:raises OptionError: when there is no action, or filters that are mutually exclusive.
    :raises UsageError: for a group type that does not exist; the Java tool shows no usage for it either.
    """
    if "list" not in given:
        raise OptionError("Command must include exactly one action: --list.")
    if "group-type" in given and _group_type(given) is None:
        raise UsageError("--group-type must be a valid group type.")
    for kind in _KINDS:
        for other in _EXCLUDED:
            if other != kind and kind in given and other in given:
                raise OptionError(f'Option "[{kind}]" can\'t be used with option "[{other}]"')


def act(given: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import ListFilter
    from kgroups.render.kafka.lists import groups_text

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        listed = await admin.list_groups(ListFilter(with_types=True))
        return listed.with_items(group for group in listed.items if wanted(given, group))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(groups_text(outcome.items, names_on(sys.stdout)))

    return tell(settings_of(given), query, write)


def wanted(given: ParsedOptions, group: ListedGroup) -> bool:
    """Whether the filters let a group pass; one whose type is not told is of no type."""
    from kgroups.model.groups import CONSUMER_GROUPS, GroupType

    if "group-type" in given and group.type != _group_type(given):
        return False
    if "protocol" in given:
        return group.protocol_type == given.one("protocol")
    if "consumer" in given:
        return group.protocol_type in CONSUMER_GROUPS or group.type == GroupType.CONSUMER
    if "share" in given:
        return group.type == GroupType.SHARE
    return "streams" not in given or group.type == GroupType.STREAMS


def _group_type(given: ParsedOptions) -> str | None:
    from kgroups.model.groups import GroupType

    folded = (given.one("group-type") or "").casefold()
    return next((name for name in GroupType.ALL if name.casefold() == folded), None)


TOOL = Tool("kafka-groups", "This tool helps to list groups of all types.", OPTIONS, check, act)

if __name__ == "__main__":
    main()
