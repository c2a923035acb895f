"""What is expected of groups: the flags of ``check``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgroups.errors import UsageError

from ..frame.options import collected, words

if TYPE_CHECKING:
    from kgroups.model.health.limits import Limits

F = TypeVar("F", bound=Callable[..., Any])

_LIMIT = "[WARN,]CRIT"

_EXPECTATIONS = (
    click.option(
        "--state", "states", multiple=True, metavar="STATES", help="Require one of these states, comma-separated."
    ),
    click.option(
        "--type", "kind", metavar="TYPE", help="Require this group type: classic, consumer, share, or streams."
    ),
    click.option("--assignor", metavar="NAME", help="Require this assignor, such as range or uniform."),
    click.option("--members", type=click.IntRange(0), metavar="N", help="Require exactly N members."),
    click.option("--min-members", type=click.IntRange(0), metavar="N", help="Require at least N members."),
    click.option(
        "--stopped",
        is_flag=True,
        help="Require that there are no members, and no other client that commits, such as a consumer that "
        "uses assign().",
    ),
    click.option("--assigned", is_flag=True, help="Require every partition to be assigned to exactly one member."),
    click.option("--max-lag", metavar=_LIMIT, help="Total lag."),
    click.option("--max-partition-lag", metavar=_LIMIT, help="Lag of each partition."),
    click.option(
        "--max-topic-lag",
        multiple=True,
        metavar=f"GLOB={_LIMIT}",
        help="Total lag of each topic that matches GLOB. Repeatable.",
    ),
    click.option("--max-time-lag", metavar=_LIMIT, help="Age of the first unread record, such as 30s,5m."),
    click.option("--max-commit-age", metavar=_LIMIT, help="Time since the last commit on each partition."),
    click.option("--trend", is_flag=True, help="Require progress during --window, by Burrow's rules."),
    click.option(
        "--allow-uncommitted", is_flag=True, help="Partitions without a committed offset do not make a lag unknown."
    ),
)


def expectation_options(command: F) -> F:
    """The command gets ``limits``, a :class:`kgroups.model.health.limits.Limits`."""
    return collected(command, _EXPECTATIONS, "limits", _limits)


def _limits(
    states: tuple[str, ...],
    kind: str | None,
    max_lag: str | None,
    max_partition_lag: str | None,
    max_topic_lag: tuple[str, ...],
    max_time_lag: str | None,
    max_commit_age: str | None,
    **rest: Any,
) -> Limits:
    from kgroups.model.health.limits import Limits
    from kgroups.model.health.rules import parse_states, parse_threshold, parse_time_threshold, parse_type

    if rest["members"] is not None and rest["min_members"] is not None:
        raise UsageError("--members and --min-members are mutually exclusive")
    return Limits(
        states=_read("--state", parse_states, list(words(states))) or frozenset(),
        type=_read("--type", parse_type, kind),
        lag=_read("--max-lag", parse_threshold, max_lag),
        partition_lag=_read("--max-partition-lag", parse_threshold, max_partition_lag),
        topic_lag=tuple(map(_topic_limit, max_topic_lag)),
        time_lag=_read("--max-time-lag", parse_time_threshold, max_time_lag),
        commit_age=_read("--max-commit-age", parse_time_threshold, max_commit_age),
        **rest,
    )


def _topic_limit(text: str) -> tuple[str, Any]:
    from kgroups.model.health.rules import parse_threshold

    glob, equals, limit = text.rpartition("=")
    if not (glob and equals):
        raise UsageError(f"--max-topic-lag: {text!r} is not GLOB={_LIMIT}, such as 'orders-*=1000'")
    return glob, _read("--max-topic-lag", parse_threshold, limit)


def _read(flag: str, parse: Callable[[Any], Any], value: Any) -> Any:
    """:raises UsageError: when the value of the flag is none."""
    if value is None or value == []:
        return None
    try:
        return parse(value)
    except ValueError as error:
        raise UsageError(f"{flag}: {error}") from None
