"""Kafka's times, milliseconds since 1970, as Arrow's timestamps; one that no calendar holds is absent."""

from __future__ import annotations

from typing import Final

LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999. Old clients could write any time that they liked; and -1 says that there is none."""


def micros(milliseconds: int | None) -> int | None:
    """Microseconds since 1970; ``None`` for none, for -1 and for what no calendar holds."""
    if milliseconds is None or not 0 <= milliseconds <= LAST_MS:
        return None
    return milliseconds * 1000
