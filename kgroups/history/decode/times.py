"""Convert Kafka's times, milliseconds since 1970, to Arrow's timestamps; out-of-range times are absent."""

from __future__ import annotations

from typing import Final

LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999. Old clients could write any time; -1 means absent."""


def micros(milliseconds: int | None) -> int | None:
    """Convert to microseconds since 1970; ``None`` if absent, negative, or after :data:`LAST_MS`."""
    if milliseconds is None or not 0 <= milliseconds <= LAST_MS:
        return None
    return milliseconds * 1000
