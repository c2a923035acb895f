"""The values of options that say what to reset, and to which offsets, with the messages of the Java tools."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from kgroups.errors import UsageError
from kgroups.model.moments import parse_duration, parse_moment
from kgroups.model.offsets import place_name
from kgroups.model.operations import reset
from kgroups.model.operations.plan_file import parse_plan
from kgroups.model.operations.reset import PlannedOffset, Scenario

from .joptsimple import ParsedOptions
from .sentences import ToolError
from .topics import named_partitions, topic_of

_NO_TIME = "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"


def scenario_of(parsed: ParsedOptions, groups: tuple[str, ...] = ()) -> Scenario:
    """Return the scenario of a reset.

    :param groups: the groups of a plan without groups, if no option names them.
    :raises OptionError: if a number is invalid.
    :raises UsageError: if a time is invalid, or a file cannot be read or is not a plan.
    """
    if "to-earliest" in parsed:
        return reset.ToEarliest()
    if "to-latest" in parsed:
        return reset.ToLatest()
    if "to-current" in parsed:
        return reset.ToCurrent()
    if (offset := parsed.first_number("to-offset")) is not None:
        return reset.ToOffset(offset)
    if (shift := parsed.number("shift-by")) is not None:
        return reset.ShiftBy(shift)
    if moment := parsed.all("to-datetime"):
        return reset.ToTime(moment_of(moment[0]))
    if (duration := parsed.one("by-duration")) is not None:
        try:
            return reset.ToTime(int(time.time() * 1000) - parse_duration(duration))
        except UsageError as error:
            raise ToolError("Text cannot be parsed to a Duration", str(error)) from None
    return _plan(parsed.all("from-file")[0], groups or parsed.all("group"))


def moment_of(text: str) -> int:
    """Return a point in time in milliseconds.

    :raises ToolError: if it is invalid.
    """
    try:
        return parse_moment(text)
    except UsageError as error:
        _, with_time, clock = text.partition("T")
        zoned = text if re.search("[+Z-]", clock) else f"{text}Z"
        cause = f'Unparseable date: "{zoned}"' if with_time else _NO_TIME
        raise ToolError(f"java.text.ParseException: {cause}", str(error)) from None


def _plan(path: str, groups: tuple[str, ...]) -> Scenario:
    """Read a plan file.

    :raises UsageError: if it cannot be read, or is not a plan.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        text = f"--from-file: cannot read {path}: {error.strerror}"
        raise ToolError(f"java.io.IOException: Unable to read file {path}", text) from None
    except ValueError:
        raise UsageError(f"--from-file: {path} is not UTF-8") from None
    return parse_plan(text, path).scenario(groups[0] if len(groups) == 1 else None)


def reject_duplicates(words: Sequence[str], scenario: Scenario, planned: Iterable[PlannedOffset]) -> None:
    """Reject a planned partition that is named twice, or with its topic, as the Java tools do when they have planned.

    :raises ToolError: for the first one. Its cause has the two values in Java only if they are numbers.
    """
    entries = {(entry.topic, entry.partition): entry for entry in planned}
    whole = {topic for topic, partitions in map(topic_of, words) if partitions is None}
    seen: set[tuple[str, int]] = set()
    for pair in named_partitions(words):
        if pair in entries and (pair in seen or pair[0] in whole):
            value = _planned_value(scenario, entries[pair])
            place = place_name(*pair)
            merged = "" if value is None else f" (attempted merging values {value} and {value})"
            raise ToolError(f"Duplicate key {place}{merged}", f"partition {place} is selected twice")
        seen.add(pair)


def _planned_value(scenario: Scenario, entry: PlannedOffset) -> int | None:
    if isinstance(scenario, reset.ShiftBy) and entry.old is not None:
        return entry.old + scenario.by
    return scenario.offset if isinstance(scenario, reset.ToOffset) else None
