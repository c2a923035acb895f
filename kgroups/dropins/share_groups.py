"""``kafka-share-groups``: its options, and their rules in the order of the Java tool's checks."""

from __future__ import annotations

from .command import Tool
from .joptsimple import Option, OptionError, ParsedOptions, Takes
from .releases import release
from .rules import (
    DESCRIPTION,
    GROUPS,
    bracketed,
    check_actions,
    check_topic_of_offsets,
    check_view,
    reject_combinations,
    reject_others,
    require_mode,
    require_server,
)

ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets")
SCENARIOS = ("from-file", "to-current", "to-datetime", "to-earliest", "to-latest", "to-offset")
_SCOPES = ("all-topics", "from-file", "topic")

OPTIONS = (
    Option("help", is_help=True),
    Option("version", is_help=True),
    *(Option(name) for name in ACTIONS),
    *GROUPS,
    Option("topic", Takes.VALUE),
    Option("all-topics"),
    Option("dry-run"),
    Option("execute"),
    Option("export"),
    *(Option(name) for name in ("to-earliest", "to-latest", "to-current")),
    *(Option(name, Takes.VALUE) for name in ("to-offset", "to-datetime", "from-file")),
    *DESCRIPTION,
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
            raise OptionError(release().share_delete)
        if "group" in parsed and "all-groups" in parsed:
            raise OptionError("Option [delete] takes either [group] or [all-groups], not both.")
        rejected, message = release().share_delete_topic
        if parsed.any_of(*rejected):
            raise OptionError(message)
    check_topic_of_offsets(parsed)


def _check_reset(parsed: ParsedOptions) -> None:
    if "reset-offsets" not in parsed:
        return
    require_mode(parsed)
    if "group" not in parsed:
        raise OptionError("Option [reset-offsets] takes the option: [group]")
    lacks = release().lacks.get("share", ())
    scopes, scenarios = ([name for name in names if name not in lacks] for names in (_SCOPES, SCENARIOS))
    if not parsed.any_of(*scopes):
        raise OptionError(f"Option [reset-offsets] takes one of these options: {bracketed(scopes)}")
    if release().share_scopes_exclusive:
        reject_others(parsed, scopes)
    if not parsed.any_of(*scenarios):
        raise OptionError(f"Option [reset-offsets] takes one of these options: {bracketed(scenarios)}")
    reject_others(parsed, scenarios)


TOOL = Tool(
    "kafka-share-groups",
    "share",
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
