"""Read the claims of a JSON Web Token, without verifying it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_LATEST = 253_402_300_800.0
"""The end of the year 9999 in seconds since 1970, the maximum of ``datetime``."""


def claims_of(token: str) -> Mapping[str, Any]:
    """Return the unverified claims of a token; empty if it is opaque."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        claims = json.loads(base64.urlsafe_b64decode(padded))
    except (ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def expiry_of(token: str) -> float | None:
    """Return a token's expiry in seconds since 1970; ``None`` if it has no valid ``exp``."""
    expiry = claims_of(token).get("exp")
    if isinstance(expiry, bool) or not isinstance(expiry, int | float):
        return None
    return float(expiry) if 0 < expiry < _LATEST else None  # also rejects NaN


def expired_at(token: str, now: float) -> str | None:
    """Return the expiry of an expired token as text; ``None`` if it has not expired, or its expiry is unknown.

    :param now: seconds since 1970.
    """
    expiry = expiry_of(token)
    return None if expiry is None or expiry > now else f"{datetime.fromtimestamp(expiry, UTC):%Y-%m-%d %H:%M:%S} UTC"
