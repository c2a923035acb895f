"""Durations in milliseconds, with a readable text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}

LONGEST = 100_000 * 86_400
"""The longest duration in seconds; timers of Python reject more than 292 years."""

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


class Milliseconds(int):
    """A number of milliseconds.

    Its text has the two largest units: ``3h12m``, ``45s``, ``250ms``. Data formats contain the number.
    """

    def __str__(self) -> str:
        sign, size = ("-", -int(self)) if self < 0 else ("", int(self))
        if size < 1000:
            return f"{sign}{size}ms" if size else "0"
        seconds = size // 1000
        first = next(at for at, (_, worth) in enumerate(_UNITS) if seconds >= worth)
        parts: list[str] = []
        for unit, worth in _UNITS[first : first + 2]:
            count, seconds = divmod(seconds, worth)
            parts.append(f"{count}{unit}" if count or not parts else "")
        return sign + "".join(parts)


def parse_seconds(text: str) -> float | None:
    """Return the seconds of ``30``, ``500ms``, ``10s``, ``2m``, ``1.5h``, ``7d``, or ``2w``.

    ``None``: the text is not a duration above zero and up to :data:`LONGEST`. The same rule holds for options,
    profiles, and rules.
    """
    return parse_age(text) or None


def parse_age(text: str) -> float | None:
    """Parse a duration as :func:`parse_seconds` does, but allow zero."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h|d|w|)", text.strip())
    seconds = float(match[1]) * _SECONDS[match[2]] if match else None
    return seconds if seconds is not None and seconds <= LONGEST else None


def parse_moment(text: str, now: datetime) -> datetime:
    """Parse a time: ISO 8601 (UTC without a zone), or an age before ``now`` such as 90m, 2h, 7d.

    :raises ValueError: if the text is neither; the message says what it must be.
    """
    try:
        if not text[-1:].isdigit() and (seconds := parse_age(text)) is not None:  # 20260131 is a date
            return now - timedelta(seconds=seconds)
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise ValueError("is neither a time such as 2026-01-31T12:00 nor an age such as 90m, 2h, 7d") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
