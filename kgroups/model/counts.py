"""Counts in text."""

from __future__ import annotations


def count(number: int, one: str, many: str | None = None) -> str:
    """Return ``1 group`` or ``2,000 groups``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
