"""``kafka-streams-groups``: its options, and their rules in the order of the Java tool's checks."""

from __future__ import annotations

from .command import Tool
from .consumer_groups import SCENARIOS
from .joptsimple import Option, OptionError, ParsedOptions, Takes
from .releases import release
from .rules import (
    DESCRIPTION,
    GROUPS,
    RESET,
    VIEWS,
    bracketed,
    check_scope_and_scenario,
    check_view,
    reject_combinations,
    reject_others,
    require_groups,
    require_mode,
    require_server,
)

ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets")
_WHICH_TOPICS = ("all-input-topics", "input-topic")

OPTIONS = (
    Option("help", is_help=True),
    Option("version", is_help=True),
    *(Option(name) for name in ACTIONS),
    *GROUPS,
    Option("input-topic", Takes.VALUE),
    Option("all-input-topics"),
    Option("delete-internal-topic", Takes.VALUE),
    Option("delete-all-internal-topics"),
    *RESET,
    *DESCRIPTION,
    Option("topology", only_with=("describe",)),
)


def check(parsed: ParsedOptions) -> None:
    """Check the rules.

    :raises OptionError: if an option is missing, or options are mutually exclusive.
    """
    require_server(parsed)
    check_view(parsed, VIEWS if "topology" in release().lacks.get("streams", ()) else (*VIEWS, "topology"))
    _check_delete(parsed)
    _check_delete_offsets(parsed)
    _check_reset(parsed)
    _check_internal_topics(parsed)
    if parsed.any_of("dry-run", "execute") and "reset-offsets" not in parsed:
        raise OptionError("Only Option [reset-offsets] accepts [execute] or [dry-run]")
    reject_combinations(parsed, "list", ("members", "offsets"))
    reject_combinations(parsed, "group", ("all-groups",))
    reject_combinations(parsed, "group", ("list",))
    reject_combinations(parsed, "input-topic", ("list", "describe", "delete"))
    if sum(action in parsed for action in ACTIONS) != 1:
        *most, last = (f"--{name}" for name in ACTIONS)
        raise OptionError(f"Command must include exactly one action: {', '.join(most)}, or {last}.")
    check_scope_and_scenario(parsed, (*_WHICH_TOPICS, "from-file"), SCENARIOS, release().streams_scopes)


def _check_delete(parsed: ParsedOptions) -> None:
    if "delete" in parsed:
        require_groups(parsed, "delete")
        if parsed.any_of(*_WHICH_TOPICS):
            raise OptionError("Kafka Streams does not support topic-specific offset deletion from a streams group.")


def _check_delete_offsets(parsed: ParsedOptions) -> None:
    if "delete-offsets" not in parsed:
        return
    if not (parsed.any_of(*_WHICH_TOPICS) and "group" in parsed):
        options = bracketed(_WHICH_TOPICS)
        raise OptionError(f"Option [delete-offsets] takes the [group] and one of these options: {options}")
    if len(parsed.all("group")) > 1:
        found = ", ".join(parsed.all("group"))
        raise OptionError(f"Option [delete-offsets] supports only one [group] at a time, but found: [{found}]")


def _check_reset(parsed: ParsedOptions) -> None:
    if "reset-offsets" not in parsed:
        return
    require_mode(parsed)
    require_groups(parsed, "reset-offsets")
    reject_others(parsed, SCENARIOS)


def _check_internal_topics(parsed: ParsedOptions) -> None:
    executed = "reset-offsets" in parsed and "execute" in parsed
    if "delete-all-internal-topics" in parsed:
        if not parsed.any_of("delete", "reset-offsets"):
            options = bracketed(("delete", "reset-offsets"))
            raise OptionError(f"Option [delete-all-internal-topics] takes one of these options: {options}")
        if "reset-offsets" in parsed and not executed:
            raise OptionError("Option [delete-all-internal-topics] takes [execute] when [reset-offsets] is used.")
    elif "delete-internal-topic" in parsed and not executed:
        raise OptionError("Option [delete-internal-topic] takes [reset-offsets] when [execute] is used.")


TOOL = Tool(
    "kafka-streams-groups",
    "streams",
    OPTIONS,
    check,
    {
        "list": "views:list_groups",
        "describe": "views:describe",
        "reset-offsets": "streams_changes:reset",
        "delete": "streams_changes:delete",
        "delete-offsets": "streams_changes:delete_offsets",
    },
)
main = TOOL.run

if __name__ == "__main__":
    main()
