"""The options of ``kafka-streams-groups``, and which go together, in the order in which the Java tool looks."""

from __future__ import annotations

from .consumer_options import SCENARIOS
from .joptsimple import Option, OptionError, ParsedOptions, Takes
from .rules import bracketed, check_view, exclude, need_groups, need_server

ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets")
_WHICH_TOPICS = ("all-input-topics", "input-topic")

OPTIONS = (
    Option("help", is_help=True),
    Option("version", is_help=True),
    *(Option(name) for name in ACTIONS),
    Option("bootstrap-server", Takes.VALUE),
    Option("command-config", Takes.VALUE),
    Option("timeout", Takes.VALUE),
    Option("group", Takes.VALUE),
    Option("all-groups"),
    Option("input-topic", Takes.VALUE),
    Option("all-input-topics"),
    Option("delete-internal-topic", Takes.VALUE),
    Option("delete-all-internal-topics"),
    Option("dry-run"),
    Option("execute"),
    Option("export"),
    *(Option(name) for name in ("to-earliest", "to-latest", "to-current")),
    *(Option(name, Takes.VALUE) for name in ("to-offset", "to-datetime", "by-duration", "shift-by", "from-file")),
    Option("members", only_with=("describe",)),
    Option("offsets", only_with=("describe",)),
    Option("verbose", only_with=("describe",)),
    Option("state", Takes.MAYBE, only_with=("describe", "list")),
)


def check(given: ParsedOptions) -> None:
    """:raises OptionError: when something is missing, or does not go with something else."""
    need_server(given)
    check_view(given)
    _check_delete(given)
    _check_delete_offsets(given)
    _check_reset(given)
    _check_internal_topics(given)
    if given.any_of("dry-run", "execute") and "reset-offsets" not in given:
        raise OptionError("Only Option [reset-offsets] accepts [execute] or [dry-run]")
    exclude(given, "list", ("members", "offsets"))
    exclude(given, "group", ("all-groups",))
    exclude(given, "group", ("list",))
    exclude(given, "input-topic", ("list", "describe", "delete"))
    if sum(action in given for action in ACTIONS) != 1:
        *most, last = (f"--{name}" for name in ACTIONS)
        raise OptionError(f"Command must include exactly one action: {', '.join(most)}, or {last}.")
    _check_what_to_reset(given)


def _check_delete(given: ParsedOptions) -> None:
    if "delete" in given:
        need_groups(given, "delete")
        if given.any_of(*_WHICH_TOPICS):
            raise OptionError("Kafka Streams does not support topic-specific offset deletion from a streams group.")


def _check_delete_offsets(given: ParsedOptions) -> None:
    if "delete-offsets" not in given:
        return
    if not (given.any_of(*_WHICH_TOPICS) and "group" in given):
        options = bracketed(_WHICH_TOPICS)
        raise OptionError(f"Option [delete-offsets] takes the [group] and one of these options: {options}")
    if len(given.all("group")) > 1:
        found = ", ".join(given.all("group"))
        raise OptionError(f"Option [delete-offsets] supports only one [group] at a time, but found: [{found}]")


def _check_reset(given: ParsedOptions) -> None:
    if "reset-offsets" not in given:
        return
    if "dry-run" in given and "execute" in given:
        raise OptionError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not given.any_of("dry-run", "execute"):
        raise OptionError("Option [reset-offsets] takes the option: [execute] or [dry-run]")
    need_groups(given, "reset-offsets")
    for scenario in SCENARIOS:
        exclude(given, scenario, (other for other in SCENARIOS if other != scenario))


def _check_internal_topics(given: ParsedOptions) -> None:
    executed = "reset-offsets" in given and "execute" in given
    if "delete-all-internal-topics" in given:
        if not given.any_of("delete", "reset-offsets"):
            options = bracketed(("delete", "reset-offsets"))
            raise OptionError(f"Option [delete-all-internal-topics] takes one of these options: {options}")
        if "reset-offsets" in given and not executed:
            raise OptionError("Option [delete-all-internal-topics] takes [execute] when [reset-offsets] is used.")
    elif "delete-internal-topic" in given and not executed:
        raise OptionError("Option [delete-internal-topic] takes [reset-offsets] when [execute] is used.")


def _check_what_to_reset(given: ParsedOptions) -> None:
    """The Java tool finds these out after it has described the groups; here nothing is asked for nothing."""
    if "reset-offsets" not in given:
        return
    if not given.any_of(*_WHICH_TOPICS, "from-file"):
        raise OptionError("One of the reset scopes should be defined: --all-topics, --topic.")
    if not given.any_of(*SCENARIOS):
        raise OptionError(f"Option '[reset-offsets]' requires one of the following scenarios: [{bracketed(SCENARIOS)}]")
