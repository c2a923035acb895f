"""Points in time and durations, in ISO 8601 and as people type them, in milliseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from kgroups.errors import UsageError

from .duration import parse_age

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d{1,9}))?)?)?\s*([Zz]|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_DURATION = re.compile(
    r"P(?:(?P<weeks>\d{1,9})W)?(?:(?P<days>\d{1,9})D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,9})(?:[.,](?P<part>\d{1,9}))?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_EPOCH = re.compile(r"\d{12,14}", re.ASCII)
"""Milliseconds since 1970, from 1973 on; fewer digits could be seconds, or a date without hyphens."""
_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


def parse_moment(text: str) -> int:
    """Parse a point in time; return milliseconds since 1970, rounded up.

    Rounding up ensures that no record with a timestamp of at least the result is older than the moment. Without a time
    zone, it is UTC, as for Kafka's own tool.

    :raises UsageError: if the text is not a point in time.
    """
    match = _MOMENT.fullmatch(text.strip())
    if match:
        day, time, seconds, part, zone = match.groups()
        try:
            moment = datetime.fromisoformat(f"{day}T{time or '00:00'}{seconds or ''}{(zone or 'Z').upper()}")
            return round(moment.astimezone(UTC).timestamp()) * 1000 + _milliseconds_up(part)
        except (ValueError, OverflowError):
            pass
    raise UsageError(f"{text!r} is not a time such as 2026-01-31T12:00, 2026-01-31T12:00:00.500Z or ...+01:00")


def parse_duration(text: str) -> int:
    """Parse an ISO 8601 duration; return milliseconds. Years and months are not allowed: their lengths vary.

    :raises UsageError: if the text is not a duration.
    """
    match = _DURATION.fullmatch(text.strip())
    if not match or not any(match.groups()):
        raise UsageError(f"{text!r} is not a duration such as P1DT2H, PT90M or PT0.5S")
    found = match.groupdict()
    return sum(int(found[unit] or 0) * length * 1000 for unit, length in _SECONDS.items()) + _milliseconds_up(
        found["part"]
    )


def parse_time(text: str, now: int) -> int:
    """Parse a point in time as :func:`parse_moment` does, or ``-1h`` before ``now``, or milliseconds since 1970.

    :raises UsageError: if the text is none of these.
    """
    stripped = text.strip()
    if stripped.startswith("-") and (seconds := parse_age(stripped[1:])) is not None and not stripped[-1].isdigit():
        return max(0, now - round(seconds * 1000))
    if _EPOCH.fullmatch(stripped):
        return int(stripped)
    try:
        return parse_moment(text)
    except UsageError:
        raise UsageError(
            f"{text!r} is not a time such as -1h, 2026-01-31, 2026-01-31T12:00:00.500Z, ...+01:00, or 1769860800500 "
            "(milliseconds since 1970)"
        ) from None


def parse_any_duration(text: str) -> int:
    """Parse a duration such as ``90m`` or ``7d``, or an ISO 8601 duration; return milliseconds.

    :raises UsageError: if the text is not a duration with a unit.
    """
    seconds = parse_age(text)
    if seconds is not None and not text.strip()[-1].isdigit():
        return round(seconds * 1000)
    try:
        return parse_duration(text)
    except UsageError:
        raise UsageError(f"{text!r} is not a duration such as 90m, 2h, 7d, P1DT2H, PT90M or PT0.5S") from None


def _milliseconds_up(part: str | None) -> int:
    """Return the milliseconds of the fractional digits of seconds, rounded up."""
    return -(-int((part or "0").ljust(9, "0")) // 1_000_000)


def moment_text(ms: int) -> str:
    """Return ``2026-01-31T12:00:00.500Z``; a number out of range is returned as it is."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return str(ms)
