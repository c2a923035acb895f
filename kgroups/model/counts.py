"""Counts and names in text."""

from __future__ import annotations

from collections.abc import Collection

SHOWN = 3


def count(number: int, one: str, many: str | None = None) -> str:
    """Return ``1 group`` or ``2,000 groups``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def some(names: Collection[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = len(names) - SHOWN
    return ", ".join(list(names)[:SHOWN]) + (f", … and {more:,} more" if more > 0 else "")
