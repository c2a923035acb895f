"""The options of ``kafka-share-groups``, and which go together, in the order in which the Java tool looks."""

from __future__ import annotations

from .joptsimple import Option, OptionError, ParsedOptions, Takes
from .rules import bracketed, check_actions, check_view, exclude, need_server

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


def check(given: ParsedOptions) -> None:
    """:raises OptionError: when something is missing, or does not go with something else."""
    need_server(given)
    check_view(given)
    _check_delete(given)
    _check_reset(given)
    exclude(given, "group", ("all-groups",))
    exclude(given, "group", ("list",))
    exclude(given, "topic", ("list", "describe"))
    check_actions(given, ACTIONS, end=".")


def _check_delete(given: ParsedOptions) -> None:
    if "delete" in given:
        if not given.any_of("group", "all-groups"):
            raise OptionError("Option [delete] takes the options [group] or [all-groups]")
        if "group" in given and "all-groups" in given:
            raise OptionError("Option [delete] takes either [group] or [all-groups], not both.")
        if "topic" in given:
            raise OptionError("Option [delete] does not take the option: [topic]")
    if "delete-offsets" in given and not ("group" in given and "topic" in given):
        raise OptionError(f"Option [delete-offsets] takes the following options: {bracketed(('group', 'topic'))}")


def _check_reset(given: ParsedOptions) -> None:
    if "reset-offsets" not in given:
        return
    if "dry-run" in given and "execute" in given:
        raise OptionError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not given.any_of("dry-run", "execute"):
        raise OptionError("Option [reset-offsets] takes the option: [execute] or [dry-run]")
    if "group" not in given:
        raise OptionError("Option [reset-offsets] takes the option: [group]")
    if not given.any_of(*_SCOPES):
        raise OptionError(f"Option [reset-offsets] takes one of these options: {bracketed(_SCOPES)}")
    if not given.any_of(*SCENARIOS):
        raise OptionError(f"Option [reset-offsets] takes one of these options: {bracketed(SCENARIOS)}")
    for scenario in SCENARIOS:
        exclude(given, scenario, (other for other in SCENARIOS if other != scenario))
