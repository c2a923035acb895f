"""Times as people write them: ISO 8601 moments and durations, in milliseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from kgroups.errors import UsageError

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d{1,9}))?)?)?\s*([Zz]|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_DURATION = re.compile(
    r"P(?:(?P<weeks>\d{1,9})W)?(?:(?P<days>\d{1,9})D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,9})(?:[.,](?P<part>\d{1,9}))?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


def parse_moment(text: str) -> int:
    """Milliseconds since 1970, rounded up: of the records of that millisecond none is older than the moment.

    Without a zone it is UTC, as for Kafka's own tool.

    :raises UsageError: when it is no moment.
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
    """Milliseconds of an ISO 8601 duration; years and months have no length that all agree on.

    :raises UsageError: when it is no duration.
    """
    match = _DURATION.fullmatch(text.strip())
    if not match or not any(match.groups()):
        raise UsageError(f"{text!r} is not a duration such as P1DT2H, PT90M or PT0.5S")
    found = match.groupdict()
    return sum(int(found[unit] or 0) * length * 1000 for unit, length in _SECONDS.items()) + _milliseconds_up(
        found["part"]
    )


def _milliseconds_up(part: str | None) -> int:
    """Of the digits behind the point of seconds."""
    return -(-int((part or "0").ljust(9, "0")) // 1_000_000)


def moment_text(ms: int) -> str:
    """``2026-01-31T12:00:00.500Z``; a number that is no time of this era is shown as it is."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return str(ms)
