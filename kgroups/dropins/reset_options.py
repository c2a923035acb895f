"""The values of options that say what to reset, and to which offsets, with the messages of the Java tools."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from pathlib import Path

from kgroups.errors import UsageError
from kgroups.model.moments import parse_duration, parse_moment
from kgroups.model.operations import reset
from kgroups.model.operations.plan_file import parse_plan
from kgroups.model.operations.reset import Scenario

from .joptsimple import OptionError, ParsedOptions
from .sentences import ToolError

_NO_TIME = "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"
_PARTITION = re.compile(r"[+-]?[0-9]{1,10}")


def scenario_of(parsed: ParsedOptions) -> Scenario:
    """Return the scenario of a reset.

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
    return _plan(parsed.all("from-file")[0], parsed.all("group"))


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


def topics_of(words: Iterable[str]) -> dict[str, frozenset[int] | None]:
    """Parse ``t`` and ``t:0,1``; return topic -> partitions, ``None`` for all partitions.

    :raises OptionError: if an argument has neither form.
    """
    scope: dict[str, frozenset[int] | None] = {}
    for word in words:
        topic, colon, ids = word.partition(":")
        if ":" in ids or (colon and not ids.strip(",")) or not topic or not _is_utf_8(topic):
            raise OptionError(f"Invalid topic arg '{word}', expected topic name and partitions")
        if not colon:
            scope[topic] = None
            continue
        for part in ids.rstrip(",").split(","):
            if not _PARTITION.fullmatch(part) or int(part) >= 2**31:
                raise OptionError(f"Invalid partition '{part}' specified in topic arg '{word}''")
            known = scope.setdefault(topic, frozenset())
            scope[topic] = None if known is None else known | {int(part)}
    return scope


def _is_utf_8(text: str) -> bool:
    """Return whether an argument was valid UTF-8: Python represents other bytes as surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in text)
