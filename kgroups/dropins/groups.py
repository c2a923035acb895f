"""``kafka-groups``: groups of every type, filtered by type and protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kgroups.model.outcome import Outcome

from .command import Tool, escape_for, query_and_write
from .joptsimple import ExceptionText, Option, OptionError, ParsedOptions, Takes

if TYPE_CHECKING:
    from kgroups.admin.client import Client
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

_TYPES = ("consumer", "share", "streams")
_FILTERS = ("consumer", "group-type", "protocol", "share", "streams")


def check(parsed: ParsedOptions) -> None:
    """Check the rules.

    :raises OptionError: if there is no action, or if filters are mutually exclusive.
    :raises ExceptionText: if the group type does not exist.
    """
    if "list" not in parsed:
        raise OptionError("Command must include exactly one action: --list.")
    if "group-type" in parsed and _group_type(parsed) is None:
        raise ExceptionText("--group-type must be a valid group type.")
    for group_type in _TYPES:
        for other in _FILTERS:
            if other != group_type and group_type in parsed and other in parsed:
                raise OptionError(f'Option "[{group_type}]" can\'t be used with option "[{other}]"')


def list_groups(parsed: ParsedOptions) -> int:
    from kgroups.admin.query.list_groups import ListFilter
    from kgroups.admin.query.select_groups import Selection

    from .text.lists import groups_text

    async def query(admin: Client) -> Outcome[Any]:
        listed = await admin.list_selected(Selection(among=ListFilter(with_types=True)))
        return listed.with_items(group for group in listed.items if matches(parsed, group))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(groups_text(outcome.items, escape_for(sys.stdout)))

    return query_and_write(parsed, query, write)


def matches(parsed: ParsedOptions, group: ListedGroup) -> bool:
    """Return whether a group passes the filters; a group whose type is not reported matches no type."""
    from kgroups.model.groups import CONSUMER_GROUPS, GroupType

    if "group-type" in parsed and group.type != _group_type(parsed):
        return False
    if "protocol" in parsed:
        return group.protocol_type == parsed.one("protocol")
    if "consumer" in parsed:
        return group.protocol_type in CONSUMER_GROUPS or group.type == GroupType.CONSUMER
    if "share" in parsed:
        return group.type == GroupType.SHARE
    return "streams" not in parsed or group.type == GroupType.STREAMS


def _group_type(parsed: ParsedOptions) -> str | None:
    from kgroups.model.groups import GroupType

    folded = (parsed.one("group-type") or "").casefold()
    return next((name for name in GroupType.ALL if name.casefold() == folded), None)


TOOL = Tool(
    "kafka-groups", "", "This tool helps to list groups of all types.", OPTIONS, check, {"list": "groups:list_groups"}
)
main = TOOL.run

if __name__ == "__main__":
    main()
