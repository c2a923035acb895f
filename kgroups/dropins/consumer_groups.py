"""``kafka-consumer-groups``: its options, and their rules in the order of the Java tool's checks."""

from __future__ import annotations

import sys

from .command import Tool
from .joptsimple import Option, OptionError, ParsedOptions, Takes
from .rules import bracketed, check_actions, check_view, reject_combinations, require_groups, require_server

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
    Option("bootstrap-server", Takes.VALUE),
    Option("command-config", Takes.VALUE),
    Option("timeout", Takes.VALUE),
    Option("group", Takes.VALUE),
    Option("all-groups"),
    Option("topic", Takes.VALUE),
    Option("all-topics"),
    Option("dry-run"),
    Option("execute"),
    Option("export"),
    *(Option(name) for name in ("to-earliest", "to-latest", "to-current")),
    *(Option(name, Takes.VALUE) for name in ("to-offset", "to-datetime", "by-duration", "shift-by", "from-file")),
    Option("members", only_with=("describe",)),
    Option("offsets", only_with=("describe",)),
    Option("verbose", only_with=("describe",)),
    Option("state", Takes.MAYBE, only_with=("describe", "list")),
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
    _check_scope_and_scenario(parsed)


def _check_delete(parsed: ParsedOptions) -> None:
    if "delete" in parsed:
        require_groups(parsed, "delete")
        if "topic" in parsed:
            raise OptionError("The consumer does not support topic-specific offset deletion from a consumer group.")
    if "delete-offsets" in parsed and not ("group" in parsed and "topic" in parsed):
        raise OptionError(f"Option [delete-offsets] takes the following options: {bracketed(('group', 'topic'))}")


def _check_reset(parsed: ParsedOptions) -> None:
    if "reset-offsets" not in parsed:
        return
    if "dry-run" in parsed and "execute" in parsed:
        raise OptionError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not parsed.any_of("dry-run", "execute"):
        print(NO_EXECUTE, file=sys.stderr)
    require_groups(parsed, "reset-offsets")
    for scenario in SCENARIOS:
        reject_combinations(parsed, scenario, (other for other in SCENARIOS if other != scenario))


def _check_scope_and_scenario(parsed: ParsedOptions) -> None:
    """Check scope and scenario, before the groups are described; the Java tool does it afterwards."""
    if "reset-offsets" not in parsed:
        return
    if not parsed.any_of("all-topics", "topic", "from-file"):
        raise OptionError("One of the reset scopes should be defined: --all-topics, --topic.")
    if not parsed.any_of(*SCENARIOS):
        raise OptionError(f"Option '[reset-offsets]' requires one of the following scenarios: [{bracketed(SCENARIOS)}]")


TOOL = Tool(
    "kafka-consumer-groups",
    "consumer",
    "This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, or reset "
    "consumer group offsets.",
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
