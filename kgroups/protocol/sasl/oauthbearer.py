"""OAUTHBEARER (RFC 7628): a token, and extensions (KIP-342). Without TLS, anyone on the network can read it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from kgroups.config.secret import Secret
from kgroups.errors import AuthenticationFailed

from . import Dialogue

_TOKEN = re.compile(r"[!-~]+")
_KEY = re.compile(r"[A-Za-z]+")
_VALUE = re.compile(r"[!-~ \t\r\n]+")


def oauthbearer(token: Secret, extensions: Mapping[str, str]) -> Dialogue:
    if not _TOKEN.fullmatch(token.reveal()):
        raise AuthenticationFailed("the token is empty, or contains spaces or other invalid characters")
    for key, value in extensions.items():
        if not _KEY.fullmatch(key) or key == "auth" or not _VALUE.fullmatch(value):
            raise AuthenticationFailed(
                f"the SASL extension {key!r} is invalid: its name must be letters, its value ASCII"
            )
    pairs = "".join(f"\1{key}={value}" for key, value in extensions.items())
    response = yield f"n,,\1auth=Bearer {token.reveal()}{pairs}\1\1".encode()
    if response:  # the error; the broker waits for this message before it rejects the token
        yield b"\1"
        raise AuthenticationFailed(f"the broker rejected the token: {_reason(response)}")


def _reason(response: bytes) -> str:
    """Return the reason in a broker's challenge, such as ``{"status": "invalid_token", "scope": ...}``."""
    try:
        error = json.loads(response)
        parts = [f"{key} {error[key]}" for key in ("status", "scope", "openid-configuration") if error.get(key)]
    except (ValueError, AttributeError, RecursionError):
        return "its reason cannot be decoded"
    return ", ".join(parts) or "no reason given"
