"""Which options go together: the rules that Kafka's tools have in common, in their words."""

from __future__ import annotations

from collections.abc import Iterable

from .joptsimple import OptionError, ParsedOptions

VIEWS = ("members", "offsets", "state")
WHICH_GROUPS = ("group", "all-groups")


def check_view(given: ParsedOptions) -> None:
    """:raises OptionError: when ``--describe`` has no groups, several views, or states to choose from."""
    if "describe" not in given:
        return
    need_groups(given, "describe")
    if sum(view in given for view in VIEWS) > 1:
        raise OptionError(f"Option [describe] takes at most one of these options: {bracketed(VIEWS)}")
    if given.one("state") is not None:
        raise OptionError("Option [describe] does not take a value for [state]")


def check_actions(given: ParsedOptions, actions: Iterable[str], end: str = "") -> None:
    """:param end: of the sentence, a full stop or none.
    :raises OptionError: when there is not exactly one.
    """
    if sum(action in given for action in actions) != 1:
        names = ", ".join(f"--{name}" for name in actions)
        raise OptionError(f"Command must include exactly one action: {names}{end}")


def need_groups(given: ParsedOptions, action: str) -> None:
    if not given.any_of(*WHICH_GROUPS):
        raise OptionError(f"Option [{action}] takes one of these options: {bracketed(WHICH_GROUPS)}")


def exclude(given: ParsedOptions, name: str, others: Iterable[str]) -> None:
    for other in others:
        if name in given and other in given:
            raise OptionError(f'Option "[{name}]" can\'t be used with option "[{other}]"')


def need_server(given: ParsedOptions) -> None:
    if "bootstrap-server" not in given:
        raise OptionError('Missing required argument "[bootstrap-server]"')


def bracketed(options: Iterable[str]) -> str:
    return ", ".join(f"[{name}]" for name in options)


def spelled(given: ParsedOptions, option: str, nouns: tuple[str, str], known: tuple[str, ...]) -> tuple[str, ...]:
    """The words of ``--state`` or ``--type`` as brokers spell them.

    :raises OptionError: when one is not known.
    """
    text = given.one(option) or ""
    spelling = {word.casefold(): word for word in known}
    words = text.split(",") if text.strip(",") else []
    while words and not words[-1]:
        words.pop()  # as Java's split does
    names = [spelling.get(word.strip().casefold(), "") for word in words]
    if not all(names):
        raise OptionError(f"Invalid {nouns[0]} list '{text}'. Valid {nouns[1]} are: {', '.join(known)}")
    return tuple(dict.fromkeys(names))
