"""OAUTHBEARER (RFC 7628): a token, and what else a broker should know (KIP-342). Without TLS all have it."""

from __future__ import annotations

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
        raise AuthenticationFailed("the token is empty, or holds blanks or other characters that no token has")
    for key, value in extensions.items():
        if not _KEY.fullmatch(key) or key == "auth" or not _VALUE.fullmatch(value):
            raise AuthenticationFailed(f"the SASL extension {key!r} cannot be: its name is letters, its value is ASCII")
    told = "".join(f"\1{key}={value}" for key, value in extensions.items())
    answer = yield f"n,,\1auth=Bearer {token.reveal()}{told}\1\1".encode()
    if answer:  # what is wrong with the token; the broker waits for this before it says no
        yield b"\1"
        raise AuthenticationFailed(f"the broker does not take the token: {_reason(answer)}")


def _reason(answer: bytes) -> str:
    """What a broker's challenge says: ``{"status": "invalid_token", "scope": ...}``."""
    import json

    try:
        said = json.loads(answer)
        parts = [f"{key} {said[key]}" for key in ("status", "scope", "openid-configuration") if said.get(key)]
    except (ValueError, AttributeError, RecursionError):
        return "its reason cannot be read"
    return ", ".join(parts) or "no reason given"
