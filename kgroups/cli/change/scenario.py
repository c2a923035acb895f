"""The scenario and scope options of a reset."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgroups.errors import UsageError

from ..frame.group_options import check_name, complete_group, complete_topic

if TYPE_CHECKING:
    from kgroups.model.operations.reset import Scenario


class PlainInt(click.IntRange):
    """An integer of ASCII digits, as in plan files and Kafka's tools; ``1_000`` and other digits are rejected."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not re.fullmatch(r"[+-]?[0-9]+", value):
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return super().convert(value, param, ctx)

    def _describe_range(self) -> str:
        # Without bounds, click would show [x<=None] in the help.
        return "" if self.min is None and self.max is None else super()._describe_range()


MOST_SKIPPED = 1000
"""Records of each partition that one reset can skip: all are in memory."""

_SCENARIOS = (
    click.option("--to-earliest", is_flag=True, help="Reset to the log start offset."),
    click.option("--to-latest", is_flag=True, help="Reset to the log end offset."),
    click.option(
        "--to-current",
        is_flag=True,
        help="Keep the current offset; partitions without a committed offset are reset to the log end.",
    ),
    click.option("--to-offset", type=PlainInt(0), metavar="N", help="Reset to this offset."),
    click.option(
        "--shift-by",
        type=PlainInt(),
        metavar="N",
        help="Shift by N records; a negative N shifts backwards.",
    ),
    click.option(
        "--skip-records",
        type=PlainInt(1, MOST_SKIPPED),
        metavar="N",
        help="Skip the next N records that a consumer receives; --execute saves their bytes next to the undo file.",
    ),
    click.option(
        "--to-datetime",
        metavar="TIME",
        help="Reset to the first record at or after this time: -1h, 2026-01-31, 2026-01-31T12:00:00.500, followed by "
        "Z or +01:00 (default: UTC, as in Kafka's tool), or milliseconds since 1970.",
    ),
    click.option(
        "--by-duration",
        metavar="DURATION",
        help="Reset to the first record younger than this duration: 90m, 2h, 7d, or in ISO 8601: P1DT2H, PT90M.",
    ),
    click.option(
        "--from-file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Read target offsets from a file: CSV from --export, a plan in JSON, or an undo file; - is "
        "standard input.",
    ),
    click.option(
        "--to-group",
        metavar="GROUP",
        help="Copy the committed offsets of another group.",
        shell_complete=complete_group,
    ),
)
_SCOPE = (
    click.option(
        "--topic",
        "topics",
        multiple=True,
        metavar="TOPIC[:0,2-5]",
        help="Reset all partitions of a topic, or some. Repeatable.",
        shell_complete=complete_topic,
    ),
    click.option("--all-topics", is_flag=True, help="Reset all partitions with a committed offset."),
)


def scenario_options(command: Any) -> Any:
    """Add the options; the command gets ``topics``, ``all_topics``, and the scenarios for :func:`one_scenario`."""
    for option in reversed((*_SCOPE, *_SCENARIOS)):
        command = option(command)
    return command


def one_scenario(scenarios: dict[str, Any]) -> tuple[str, Any]:
    """Return the only given scenario: the name of its parameter, and its value.

    :raises UsageError: if no scenario is given, or several.
    """
    flags = {name: f"--{name.replace('_', '-')}" for name in scenarios}
    given = [(name, value) for name, value in scenarios.items() if value is not None and value is not False]
    if not given:
        raise UsageError(f"no target offset: use one of {', '.join(flags.values())}")
    if len(given) > 1:
        raise UsageError(f"{' and '.join(flags[name] for name, _ in given)} are mutually exclusive")
    return given[0]


def scenario_of(flag: str, value: Any, isolation: str) -> Scenario:
    """Return the scenario of an option, except ``from_file``, whose file also selects groups and partitions.

    :param isolation: of the consumers for which records are skipped.

    :raises UsageError: if the value is invalid.
    """
    from kgroups.model.operations import reset

    match flag:
        case "to_earliest":
            return reset.ToEarliest()
        case "to_latest":
            return reset.ToLatest()
        case "to_current":
            return reset.ToCurrent()
        case "to_offset":
            return reset.ToOffset(value)
        case "shift_by":
            return reset.ShiftBy(value)
        case "skip_records":
            from kgroups.model.offsets import Isolation

            return reset.SkipRecords(value, Isolation[isolation.upper()])
        case "to_group":
            check_name(value, "--to-group")
            return reset.ToGroup(value)
    return reset.ToTime(_moment(flag, value))


def _moment(flag: str, text: str) -> int:
    """Parse a time or a duration; return milliseconds since 1970.

    :raises UsageError: if it is invalid, or in the future.
    """
    from kgroups.model.moments import parse_any_duration, parse_time

    now = time.time_ns() // 1_000_000
    try:
        if flag == "by_duration":
            return max(0, now - parse_any_duration(text))
        moment = parse_time(text, now)
    except UsageError as error:
        raise UsageError(f"--{flag.replace('_', '-')}: {error}") from None
    if moment > now:
        raise UsageError(f"--to-datetime: {text} is in the future; use --to-latest for the log end")
    return moment
