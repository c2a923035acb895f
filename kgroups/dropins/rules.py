"""The rules about combinations of options that Kafka's tools share, with their messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kgroups.model.groups import GroupType

from .joptsimple import Option, OptionError, ParsedOptions, Takes

VIEWS = ("members", "offsets", "state")
WHICH_GROUPS = ("group", "all-groups")

GROUPS = (
    Option("bootstrap-server", Takes.VALUE),
    Option("command-config", Takes.VALUE),
    Option("timeout", Takes.VALUE),
    Option("group", Takes.VALUE),
    Option("all-groups"),
)
"""The options of the three tools about one type of groups: where, and which groups."""

RESET = (
    Option("dry-run"),
    Option("execute"),
    Option("export"),
    *(Option(name) for name in ("to-earliest", "to-latest", "to-current")),
    *(Option(name, Takes.VALUE) for name in ("to-offset", "to-datetime", "by-duration", "shift-by", "from-file")),
)

DESCRIPTION = (
    Option("members", only_with=("describe",)),
    Option("offsets", only_with=("describe",)),
    Option("verbose", only_with=("describe",)),
    Option("state", Takes.MAYBE, only_with=("describe", "list")),
)


def check_view(parsed: ParsedOptions, views: Collection[str] = VIEWS) -> None:
    """Check the options of ``--describe``.

    :raises OptionError: if it has no groups, several views, or a value of ``--state``.
    """
    if "describe" not in parsed:
        return
    require_groups(parsed, "describe")
    if sum(view in parsed for view in views) > 1:
        raise OptionError(f"Option [describe] takes at most one of these options: {bracketed(views)}")
    if parsed.one("state") is not None:
        raise OptionError("Option [describe] does not take a value for [state]")


def check_actions(parsed: ParsedOptions, actions: Iterable[str], end: str = "") -> None:
    """Check that there is one action.

    :param end: the end of the message: a period, or nothing.
    :raises OptionError: if there is none, or several.
    """
    if sum(action in parsed for action in actions) != 1:
        names = ", ".join(f"--{name}" for name in actions)
        raise OptionError(f"Command must include exactly one action: {names}{end}")


def require_groups(parsed: ParsedOptions, action: str) -> None:
    if not parsed.any_of(*WHICH_GROUPS):
        raise OptionError(f"Option [{action}] takes one of these options: {bracketed(WHICH_GROUPS)}")


def check_mode(parsed: ParsedOptions) -> bool:
    """Return whether a reset has ``--dry-run`` or ``--execute``.

    :raises OptionError: if it has both.
    """
    if "dry-run" in parsed and "execute" in parsed:
        raise OptionError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    return parsed.any_of("dry-run", "execute")


def require_mode(parsed: ParsedOptions) -> None:
    if not check_mode(parsed):
        raise OptionError("Option [reset-offsets] takes the option: [execute] or [dry-run]")


def reject_others(parsed: ParsedOptions, scenarios: Collection[str]) -> None:
    """Check that there is at most one of the scenarios."""
    for scenario in scenarios:
        reject_combinations(parsed, scenario, (other for other in scenarios if other != scenario))


def check_scope_and_scenario(
    parsed: ParsedOptions, scopes: Collection[str], scenarios: Collection[str], named: str = "--all-topics, --topic"
) -> None:
    """Check scope and scenario of a reset, before the groups are described; the Java tool does it afterwards.

    :param named: the scopes that the message names.
    """
    if "reset-offsets" not in parsed:
        return
    if not parsed.any_of(*scopes):
        raise OptionError(f"One of the reset scopes should be defined: {named}.")
    if not parsed.any_of(*scenarios):
        raise OptionError(f"Option '[reset-offsets]' requires one of the following scenarios: [{bracketed(scenarios)}]")


def check_topic_of_offsets(parsed: ParsedOptions) -> None:
    """Check that ``--delete-offsets`` has a group and a topic."""
    if "delete-offsets" in parsed and not ("group" in parsed and "topic" in parsed):
        raise OptionError(f"Option [delete-offsets] takes the following options: {bracketed(('group', 'topic'))}")


def reject_combinations(parsed: ParsedOptions, name: str, others: Iterable[str]) -> None:
    for other in others:
        if name in parsed and other in parsed:
            raise OptionError(f'Option "[{name}]" can\'t be used with option "[{other}]"')


def require_server(parsed: ParsedOptions) -> None:
    if "bootstrap-server" not in parsed:
        raise OptionError('Missing required argument "[bootstrap-server]"')


def bracketed(options: Iterable[str]) -> str:
    return ", ".join(f"[{name}]" for name in options)


def canonical_values(
    parsed: ParsedOptions, option: str, nouns: tuple[str, str], known: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the values of ``--state`` or ``--type`` in the spelling of brokers.

    :param nouns: how messages call the list, and the values.
    :raises OptionError: if a value is unknown.
    """
    text = parsed.one(option) or ""
    canonical = {word.casefold(): word for word in known}
    words = text.split(",") if text.strip(",") else []
    while words and not words[-1]:
        words.pop()  # as Java's split does
    names = [canonical.get(word.strip().casefold(), "") for word in words]
    if not all(names):
        raise OptionError(f"Invalid {nouns[0]} list '{text}'. Valid {nouns[1]} are: {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def group_type_of(parsed: ParsedOptions) -> str | None:
    """Return the group type of ``--group-type``; ``None`` if it is unknown."""
    folded = (parsed.one("group-type") or "").casefold()
    return next((name for name in GroupType.ALL if name.casefold() == folded), None)
