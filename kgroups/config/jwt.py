"""JSON Web Tokens: what one tells of itself, and one that nobody signs, for a broker in a test."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from .secret import Secret
from .security import UnsecuredToken

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


def unsecured_jws(wanted: UnsecuredToken, now: float) -> Secret:
    """A token whose header says that nobody signed it, with claims as Java's unsecured login makes them.

    :param now: seconds since 1970.
    """
    # Whole seconds: brokers cut their clock to milliseconds, and take no token that was issued half of one later.
    reckoned = {"iat": int(now), "exp": now + wanted.lifetime}
    claims = {**wanted.claims, wanted.principal_claim: wanted.subject, **reckoned}
    return Secret(f"{_part({'alg': 'none'})}.{_part(claims)}.")


def _part(values: Mapping[str, Any]) -> str:
    data = json.dumps(values, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
