"""The thresholds of derived tables, and their text form ``NAME=VALUE``. Needs no Spark."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, NamedTuple

from kgroups.errors import UsageError
from kgroups.model.duration import parse_seconds


class Rules(NamedTuple):
    """Thresholds that depend on preference, or on the configuration of a cluster."""

    bucket: timedelta = timedelta(minutes=1)
    """Bucket of commit_rate; buckets start at its multiples since 1970."""
    dense: float = 0.5
    """Minimum records per offset of a range that counts as complete. One commit per transaction is 0.5, because its
    marker takes an offset too; compaction leaves a few percent of a busy partition."""
    judged: int = 100
    """Minimum offsets in a range to apply ``dense``: in smaller ones, a few markers have too much effect."""
    samples: int = 10
    """Number of samples of log end offsets in Burrow's window."""
    stale_after: timedelta = timedelta(hours=1)
    retention: timedelta | None = None
    """``offsets.retention.minutes`` of the brokers; ``None``: as the collector read it from them."""
    expiring_within: timedelta = timedelta(days=1)
    storm: int = 5
    """Number of rebalances of a group within ``storm_window`` that are a storm."""
    storm_window: timedelta = timedelta(minutes=10)
    flaps: int = 3
    """Number of joins of a member within ``flap_window`` that are flapping."""
    flap_window: timedelta = timedelta(minutes=10)


DEFAULTS = Rules()

NAMES = {
    field.replace("_", "-"): field for field in Rules._fields if field not in ("dense", "judged")
}  # those two serve stores of earlier versions
"""Name of a rule for users -> field."""

_NUMBERS = frozenset({"samples", "storm", "flaps"})


def parse_rules(texts: Iterable[str]) -> Rules:
    """Return the rules with these changes: ``stale-after=2h``, ``samples=20``.

    :raises UsageError: if a name or a value is invalid.
    """
    changes: dict[str, Any] = dict(map(_parse, texts))
    return DEFAULTS._replace(**changes)


def _parse(text: str) -> tuple[str, int | timedelta]:
    name, _, value = (part.strip() for part in text.partition("="))
    field = NAMES.get(name)
    if field is None:
        similar = difflib.get_close_matches(name, NAMES, 1)
        hint = f"did you mean {similar[0]}?" if similar else f"use one of {', '.join(NAMES)}"
        raise UsageError(f"--rule {text}: unknown rule {name!r}; {hint}")
    if field in _NUMBERS:
        if not (value.isascii() and value.isdigit() and 0 < int(value[:11]) < 2**31):
            raise UsageError(f"--rule {text}: {value!r} is not a number above 0")
        return field, int(value)
    try:
        return field, timedelta(seconds=_seconds(value))
    except (ValueError, OverflowError):
        raise UsageError(f"--rule {text}: {value!r} is not a duration such as 90s, 15m, 2h, 7d") from None


def _seconds(value: str) -> float:
    seconds = parse_seconds(value)
    if seconds is None or seconds < 0.001:
        raise ValueError(value)
    return seconds
