"""``kafka-groups``: groups of every type, filtered by type and protocol."""

from __future__ import annotations

from .command import Tool
from .joptsimple import ExceptionText, Option, OptionError, ParsedOptions, Takes
from .rules import group_type_of

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
    if "group-type" in parsed and group_type_of(parsed) is None:
        raise ExceptionText("--group-type must be a valid group type.")
    for group_type in _TYPES:
        for other in _FILTERS:
            if other != group_type and group_type in parsed and other in parsed:
                raise OptionError(f'Option "[{group_type}]" can\'t be used with option "[{other}]"')


TOOL = Tool(
    "kafka-groups",
    "",
    OPTIONS,
    check,
    {"list": "views:list_every_type"},
    about="This tool helps to list groups of all types.",
)
main = TOOL.run

if __name__ == "__main__":
    main()
