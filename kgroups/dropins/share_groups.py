"""``kafka-share-groups``: its options, and their rules in the order of the Java tool's checks."""

from __future__ import annotations

from .command import Tool
from .joptsimple import Option, OptionError, ParsedOptions, Takes
from .rules import bracketed, check_actions, check_view, reject_combinations, require_server

ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets")
SCENARIOS = ("to-datetime", "to-earliest", "to-latest")
_SCOPES = ("all-topics", "topic")

OPTIONS = (
    Option("help", is_help=True),
    Option("version", is_help=True),
    *(Option(name) for name in ACTIONS),
    Option("bootstrap-server", Takes.VALUE),
    Option("command-config", Takes.VALUE),
    Option("timeout", Takes.VALUE),
    Option("group", Takes.VALUE),
    Option("all-groups"),
    Option("topic", Takes.VALUE),
    Option("all-topics"),
    Option("dry-run"),
    Option("execute"),
    Option("to-earliest"),
    Option("to-latest"),
    Option("to-datetime", Takes.VALUE),
    Option("members", only_with=("describe",)),
    Option("offsets", only_with=("describe",)),
    Option("verbose", only_with=("describe",)),
    Option("state", Takes.MAYBE, only_with=("describe", "list")),
)


def check(parsed: ParsedOptions) -> None:
    """Check the rules.

    :raises OptionError: if an option is missing, or options are mutually exclusive.
    """
    require_server(parsed)
    check_view(parsed)
    _check_delete(parsed)
    _check_reset(parsed)
    reject_combinations(parsed, "group", ("all-groups",))
    reject_combinations(parsed, "group", ("list",))
    reject_combinations(parsed, "topic", ("list", "describe"))
    check_actions(parsed, ACTIONS, end=".")


def _check_delete(parsed: ParsedOptions) -> None:
    if "delete" in parsed:
        if not parsed.any_of("group", "all-groups"):
            raise OptionError("Option [delete] takes the options [group] or [all-groups]")
        if "group" in parsed and "all-groups" in parsed:
            raise OptionError("Option [delete] takes either [group] or [all-groups], not both.")
        if "topic" in parsed:
            raise OptionError("Option [delete] does not take the option: [topic]")
    if "delete-offsets" in parsed and not ("group" in parsed and "topic" in parsed):
        raise OptionError(f"Option [delete-offsets] takes the following options: {bracketed(('group', 'topic'))}")


def _check_reset(parsed: ParsedOptions) -> None:
    if "reset-offsets" not in parsed:
        return
    if "dry-run" in parsed and "execute" in parsed:
        raise OptionError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not parsed.any_of("dry-run", "execute"):
        raise OptionError("Option [reset-offsets] takes the option: [execute] or [dry-run]")
    if "group" not in parsed:
        raise OptionError("Option [reset-offsets] takes the option: [group]")
    if not parsed.any_of(*_SCOPES):
        raise OptionError(f"Option [reset-offsets] takes one of these options: {bracketed(_SCOPES)}")
    if not parsed.any_of(*SCENARIOS):
        raise OptionError(f"Option [reset-offsets] takes one of these options: {bracketed(SCENARIOS)}")
    for scenario in SCENARIOS:
        reject_combinations(parsed, scenario, (other for other in SCENARIOS if other != scenario))


TOOL = Tool(
    "kafka-share-groups",
    "share",
    "This tool helps to list, describe, reset and delete share groups.",
    OPTIONS,
    check,
    {
        "list": "views:list_groups",
        "describe": "views:describe",
        "reset-offsets": "share_changes:reset",
        "delete": "share_changes:delete",
        "delete-offsets": "share_changes:delete_offsets",
    },
)
main = TOOL.run

if __name__ == "__main__":
    main()
