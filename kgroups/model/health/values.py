"""Parse the values of rules. Each function raises :class:`ValueError` if a value is invalid."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ..duration import parse_seconds
from ..severity import Minimum, Threshold

LIMIT = "[WARN,]CRIT"


def parse_words(value: object) -> tuple[str, ...]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise ValueError
    return tuple(words)


def parse_threshold(value: object) -> Threshold:
    """Parse a number, ``"WARNING,CRITICAL"``, or a table with these; a single number is critical.

    :raises ValueError: if it is none of these.
    """
    return _threshold(value, _count)


def parse_time_threshold(value: object) -> Threshold:
    """Parse durations as :func:`parse_threshold` does numbers, in milliseconds: ``"30s,5m"``."""
    return _threshold(value, _milliseconds)


def parse_least_time(value: object) -> Threshold:
    """Parse durations as :func:`parse_time_threshold` does, below which a time is too short: ``"6h,1h"``."""
    return _threshold(value, _milliseconds, Minimum)


def _threshold(value: object, number: Callable[[object], float], kind: type[Threshold] = Threshold) -> Threshold:
    if isinstance(value, Mapping):
        if not value or value.keys() - {"warning", "critical"}:
            raise ValueError("a limit has warning, critical, or both")
        return _ordered(kind(**{key: number(part) for key, part in value.items()}))
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else [value]
    if len(parts) > 2:
        raise ValueError(f"{value!r} has more than two limits: WARNING,CRITICAL")
    limits = [number(part) for part in parts]
    return _ordered(kind(*limits) if len(limits) == 2 else kind(critical=limits[0]))


def _ordered(threshold: Threshold) -> Threshold:
    if not threshold.in_order:
        raise ValueError(f"the warning limit is {threshold.beyond} the critical one")
    return threshold


def _count(value: object) -> float:
    if isinstance(value, str) and re.fullmatch("[0-9]{1,18}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a number of records")
    return value


def _milliseconds(value: object) -> float:
    seconds = None if isinstance(value, bool) else parse_seconds(str(value))
    if seconds is None:
        raise ValueError(f"{value!r} is not a time such as 500ms, 30s, 5m or 2h")
    return seconds * 1000


def parse_whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError
    return value


def parse_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def parse_name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value
