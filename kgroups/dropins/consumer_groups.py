"""``kafka-consumer-groups``: its options, and their rules in the order of the Java tool's checks."""

from __future__ import annotations

import sys

from .command import Tool
from .joptsimple import Option, OptionError, ParsedOptions, Takes
from .rules import (
    DESCRIPTION,
    GROUPS,
    RESET,
    check_actions,
    check_mode,
    check_scope_and_scenario,
    check_topic_of_offsets,
    check_view,
    reject_combinations,
    reject_others,
    require_groups,
    require_server,
)

ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex")
SCENARIOS = (
    "to-offset",
    "to-datetime",
    "by-duration",
    "to-earliest",
    "to-latest",
    "to-current",
    "shift-by",
    "from-file",
)

OPTIONS = (
    Option("help", is_help=True),
    Option("version", is_help=True),
    *(Option(name) for name in ACTIONS if name != "validate-regex"),
    Option("validate-regex", Takes.VALUE),
    *GROUPS,
    Option("topic", Takes.VALUE),
    Option("all-topics"),
    *RESET,
    *DESCRIPTION,
    Option("type", Takes.MAYBE, only_with=("list",)),
)

NO_EXECUTE = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will require "
    "either --dry-run or --execute to be specified. You should add the --dry-run option explicitly if you are "
    "scripting this command and want to keep the current default behavior without prompting."
)
"""The warning on stderr about a reset with neither ``--dry-run`` nor ``--execute``."""


def check(parsed: ParsedOptions) -> None:
    """Check the rules; warn about a reset without ``--dry-run`` and ``--execute``.

    :raises OptionError: if an option is missing, or options are mutually exclusive.
    """
    if parsed.one("validate-regex") is None:
        require_server(parsed)
    check_view(parsed)
    _check_delete(parsed)
    _check_reset(parsed)
    reject_combinations(parsed, "group", ("all-groups",))
    reject_combinations(parsed, "group", ("list",))
    reject_combinations(parsed, "topic", ("list", "describe"))
    check_actions(parsed, ACTIONS)
    check_scope_and_scenario(parsed, ("all-topics", "topic", "from-file"), SCENARIOS)


def _check_delete(parsed: ParsedOptions) -> None:
    if "delete" in parsed:
        require_groups(parsed, "delete")
        if "topic" in parsed:
            raise OptionError("The consumer does not support topic-specific offset deletion from a consumer group.")
    check_topic_of_offsets(parsed)


def _check_reset(parsed: ParsedOptions) -> None:
    if "reset-offsets" not in parsed:
        return
    if not check_mode(parsed):
        print(NO_EXECUTE, file=sys.stderr)
    require_groups(parsed, "reset-offsets")
    reject_others(parsed, SCENARIOS)


TOOL = Tool(
    "kafka-consumer-groups",
    "consumer",
    OPTIONS,
    check,
    {
        "validate-regex": "regex:validate",
        "list": "views:list_groups",
        "describe": "views:describe",
        "reset-offsets": "consumer_changes:reset",
        "delete": "consumer_changes:delete",
        "delete-offsets": "consumer_changes:delete_offsets",
    },
)
main = TOOL.run

if __name__ == "__main__":
    main()
