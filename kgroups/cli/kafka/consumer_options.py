"""The options of ``kafka-consumer-groups``, and which go together, in the order in which the Java tool looks."""

from __future__ import annotations

import sys

from .joptsimple import Option, OptionError, ParsedOptions, Takes
from .rules import bracketed, check_actions, check_view, exclude, need_groups, need_server

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
"""For stderr, when a reset says neither ``--dry-run`` nor ``--execute``."""


def check(given: ParsedOptions) -> None:
    """Warns of a reset that will not be executed.

    :raises OptionError: when something is missing, or does not go with something else.
    """
    if "validate-regex" not in given:
        need_server(given)
    check_view(given)
    _check_delete(given)
    _check_reset(given)
    exclude(given, "group", ("all-groups",))
    exclude(given, "group", ("list",))
    exclude(given, "topic", ("list", "describe"))
    check_actions(given, ACTIONS)
    _check_what_to_reset(given)


def _check_delete(given: ParsedOptions) -> None:
    if "delete" in given:
        need_groups(given, "delete")
        if "topic" in given:
            raise OptionError("The consumer does not support topic-specific offset deletion from a consumer group.")
    if "delete-offsets" in given and not ("group" in given and "topic" in given):
        raise OptionError(f"Option [delete-offsets] takes the following options: {bracketed(('group', 'topic'))}")


def _check_reset(given: ParsedOptions) -> None:
    if "reset-offsets" not in given:
        return
    if "dry-run" in given and "execute" in given:
        raise OptionError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not given.any_of("dry-run", "execute"):
        print(NO_EXECUTE, file=sys.stderr)
    need_groups(given, "reset-offsets")
    for scenario in SCENARIOS:
        exclude(given, scenario, (other for other in SCENARIOS if other != scenario))


def _check_what_to_reset(given: ParsedOptions) -> None:
    """The Java tool finds these out after it has described the groups; here nothing is asked for nothing."""
    if "reset-offsets" not in given:
        return
    if not given.any_of("all-topics", "topic", "from-file"):
        raise OptionError("One of the reset scopes should be defined: --all-topics, --topic.")
    if not given.any_of(*SCENARIOS):
        raise OptionError(f"Option '[reset-offsets]' requires one of the following scenarios: [{bracketed(SCENARIOS)}]")
