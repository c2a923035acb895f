"""Create the JWT by which an OAuth client authenticates itself, or asks for a token (RFC 7523)."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kgroups.errors import ConfigError

from ..properties import read_bounded
from ..secret import Secret
from ..security import Assertion
from . import keys

_KEYS = "sasl.oauthbearer.assertion."


def assertion_of(source: Assertion, now: float) -> Secret:
    """Return the assertion in a file, or a new one, with the layers of Java: settings, template, times.

    Files are read each time, so that rotated ones are used.

    :param now: seconds since 1970.
    :raises ConfigError: if a file cannot be read, or is invalid.
    """
    if source.file:
        text = _text(source.file, "file").strip()
        if text.count(".") != 2:
            raise ConfigError(f"{_KEYS}file: {source.file} does not contain a JWT")
        return Secret(text)
    template = _template(source.template) if source.template else {}
    seconds = int(now)
    times = {"iat": seconds, "exp": seconds + source.expires, "nbf": seconds - source.valid_before}
    identity = {"jti": str(uuid.uuid4())} if source.with_id else {}
    header = {**template.get("header", {}), "alg": source.algorithm, "typ": "JWT"}
    payload = {**source.claims, **template.get("payload", {}), **times, **identity}
    signed = f"{_encoded(header)}.{_encoded(payload)}"
    return Secret(f"{signed}.{_base64(_signer(source)(signed.encode()))}")


def _signer(source: Assertion) -> Callable[[bytes], bytes]:
    path = source.key_file or ""
    try:
        return keys.signer_of(_text(path, "private.key.file"), source.passphrase, source.algorithm)
    except ValueError as error:
        raise ConfigError(f"{_KEYS}private.key.file: {path} {error}") from None


def _template(path: str) -> Mapping[str, Mapping[str, Any]]:
    try:
        found = json.loads(_text(path, "template.file"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(found.get(key, {}), dict) for key in ("header", "payload")):
        raise ConfigError(f'{_KEYS}template.file: {path} is not JSON with the objects "header" and "payload"')
    return found


def _text(path: str, key: str) -> str:
    return read_bounded(Path(path), _KEYS + key).decode("utf-8", "replace")


def _encoded(values: Mapping[str, Any]) -> str:
    return _base64(json.dumps(values, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
