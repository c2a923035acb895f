"""Read the claims of a JSON Web Token, without verifying it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_LATEST = 253_402_300_800.0
"""The end of the year 9999, in seconds since 1970: later is no time."""


def claims_of(token: str) -> Mapping[str, Any]:
    """What a token says, believed or not; nothing, where it is opaque."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        claims = json.loads(base64.urlsafe_b64decode(padded))
    except (ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def end_of(token: str) -> float | None:
    """When a token's life ends, in seconds since 1970; ``None`` when it does not tell."""
    ends = claims_of(token).get("exp")
    if isinstance(ends, bool) or not isinstance(ends, int | float):
        return None
    return float(ends) if 0 < ends < _LATEST else None  # nor is it NaN, then


def over_since(token: str, now: float) -> str | None:
    """When the life of a token ended, for people; ``None`` when it has not, or the token does not tell.

    :param now: seconds since 1970.
    """
    ends = end_of(token)
    return None if ends is None or ends > now else f"{datetime.fromtimestamp(ends, UTC):%Y-%m-%d %H:%M:%S} UTC"
