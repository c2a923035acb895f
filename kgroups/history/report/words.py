"""Format values for people and shells: numbers, durations, times, and text of the cluster."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from html import escape as markup

from kgroups.model.visible import escape

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
ABSENT = DASH
LONGEST = 120
"""Maximum bytes of a name that are shown; names of groups may have 32,767 characters."""
WHOLE = 249
"""Maximum bytes of a name in a tooltip: the longest name of a topic."""

_SCALES = ((1_000_000_000_000, "T"), (1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k"))
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)
_DAY = 86_400


@lru_cache(10_000)
def visible(text: str, longest: int = LONGEST) -> str:
    """Escape unprintable characters as ``\\x1b``, ``\\u202e``, …; never return an empty string.

    Text of more than ``longest`` bytes of HTML in UTF-8 is truncated.
    """
    kept = text[:longest]
    while (excess := len(markup(shown := escape(kept)).encode()) - longest) > 0:
        kept = kept[: -(excess // _WIDEST + 1)]
    if len(kept) < len(text):
        return shown + "…"
    return shown if shown.strip(" ") else r"\x20" * len(shown) or '""'


_WIDEST = len(r"\U000e0001")


@lru_cache(10_000)
def anchor(group: str) -> str:
    """Return the ID of a group's page: unique, stable, and readable as far as the name is of letters and digits."""
    name = group.encode("utf-8", "surrogatepass")
    safe = _UNSAFE.sub(lambda found: b"~%02x" % found[0][0], name[: _LONGEST_ANCHOR + 1]).decode()
    if len(safe) > _LONGEST_ANCHOR:
        safe = f"{safe[:_LONGEST_ANCHOR]}~~{sha256(name).hexdigest()[:16]}"
    return f"group-{safe}"


_UNSAFE = re.compile(rb"[^A-Za-z0-9._-]")
_LONGEST_ANCHOR = 60


def number(value: float | None) -> str:
    """Format a number with three digits and a scale: ``12.4 M``."""
    if value is None:
        return ABSENT
    size = abs(value)
    for scale, letter in _SCALES:
        if size >= scale * 0.9995:
            return f"{_sign(value)}{_digits(size / scale)} {letter}"
    return f"{_sign(value)}{size:.0f}" if size >= 100 or size == int(size) else f"{_sign(value)}{_digits(size)}"


def exact(value: int | None) -> str:
    """Format a number with all digits: ``12,412,345``."""
    return ABSENT if value is None else f"{value:,}"


def duration(ms: int | None) -> str:
    """Format milliseconds in the two largest units: ``3 h 12 min``."""
    if ms is None:
        return ABSENT
    size = abs(ms)
    if size < 1000:
        return f"{_sign(ms)}{size} ms"
    if size < 10_000:
        return f"{_sign(ms)}{size / 1000:.1f} s"
    size = round(size, -3)
    for index, (unit, name) in enumerate(_UNITS):
        if size >= unit:
            whole, rest = divmod(size, unit)
            smaller, small = _UNITS[min(index + 1, len(_UNITS) - 1)]
            tail = f" {rest // smaller} {small}" if rest >= smaller else ""
            return f"{_sign(ms)}{whole} {name}{tail}"
    raise AssertionError(size)


def span(time: timedelta) -> str:
    return duration(time // timedelta(milliseconds=1))


@lru_cache(10_000)
def moment(time: datetime | None) -> str:
    """Format a time as ISO 8601, in seconds: ``2026-03-01T12:00:00Z``."""
    return ABSENT if time is None else time.astimezone(UTC).isoformat(timespec="seconds")[:19] + "Z"


def exact_moment(time: datetime | None) -> str:
    """Format a time as ISO 8601, in milliseconds."""
    return (
        ABSENT if time is None else time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    )


def count(value: int, one: str, many: str | None = None) -> str:
    """Format a count: ``1 group``, ``3 groups``, ``12.4 k groups``."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def bucket(length: timedelta, most: int, *, of: timedelta = timedelta(seconds=1)) -> timedelta:
    """Return the shortest round length of which at most ``most`` cover ``length``, and that is a multiple of ``of``.

    >>> bucket(timedelta(days=1), 100)
    datetime.timedelta(seconds=900)
    """
    least, unit = length.total_seconds() / most, round(of.total_seconds())
    for step in _STEPS:
        if step >= least and step % unit == 0:
            return timedelta(seconds=step)
    step = _DAY if _DAY % unit == 0 else unit
    return timedelta(seconds=step * max(1, -int(-least // step)))


def _sign(value: float) -> str:
    return MINUS if value < 0 else ""


def _digits(size: float) -> str:
    """Format with three digits, without trailing zeros after the decimal point."""
    text = f"{size:.0f}" if size >= 99.95 else f"{size:.1f}" if size >= 9.995 else f"{size:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
