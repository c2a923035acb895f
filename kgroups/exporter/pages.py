"""The paths that the exporter serves, and who may read the metrics."""

from __future__ import annotations

import base64
import binascii
import hmac
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from kgroups.errors import UsageError

from .server import App, Start

_TEXT = ("Content-Type", "text/plain; charset=utf-8")


def pages(
    metrics: App,
    not_ready: Callable[[], str | None],
    users: Mapping[str, str] | None = None,
    probe: App | None = None,
) -> App:
    """Return an application that serves ``/``, ``/metrics``, ``/healthz``, and ``/ready``; other paths are 404.

    :param not_ready: returns why ``/ready`` is 503.
    :param users: passwords by user, for ``/metrics`` and ``/probe``.
    :param probe: serves ``/probe``.
    """
    guarded = {"/metrics": metrics, **({"/probe": probe} if probe else {})}
    paths = ("/", *guarded, "/healthz", "/ready")

    def app(environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        path = environ.get("PATH_INFO")
        if path not in paths:
            return respond(start_response, "404 Not Found", "404: metrics are at /metrics")
        if environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
            return respond(start_response, "405 Method Not Allowed", "405: use GET", ("Allow", "GET, HEAD"))
        if path == "/healthz":
            return respond(start_response, "200 OK", "ok")
        if path == "/ready":
            reason = not_ready()
            return respond(start_response, "503 Service Unavailable" if reason else "200 OK", reason or "ready")
        if path == "/":
            return respond(start_response, "200 OK", f"kgroups exporter: {', '.join(paths[1:])}")
        if users is not None and not _is_known(environ.get("HTTP_AUTHORIZATION", ""), users):
            challenge = ("WWW-Authenticate", 'Basic realm="kgroups", charset="UTF-8"')
            return respond(start_response, "401 Unauthorized", "401: authentication required", challenge)
        return guarded[path](environ, start_response)

    return app


def respond(start_response: Start, status: str, text: str, *headers: tuple[str, str]) -> Iterable[bytes]:
    """Send a text."""
    start_response(status, [_TEXT, *headers])
    return [f"{text}\n".encode()]


def read_users(path: Path) -> dict[str, str]:
    """Return the passwords by user of a file with a line ``USER:PASSWORD`` for each.

    :raises UsageError: if it cannot be read, has another form or no user, or if other users may read it.
    """
    try:
        if path.stat().st_mode & stat.S_IROTH:
            raise UsageError(f"--basic-auth: all users may read {path}: chmod 600 {path}")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"--basic-auth: cannot read {path}: {reason}") from None
    users = {}
    for number, line in enumerate(lines, 1):
        user, colon, password = line.partition(":")
        if line and not (user and colon and password):
            raise UsageError(f"--basic-auth: line {number} of {path} is not USER:PASSWORD")
        if line:
            users[user] = password
    if not users:
        raise UsageError(f"--basic-auth: {path} has no user")
    return users


def _is_known(header: str, users: Mapping[str, str]) -> bool:
    scheme, _, encoded = header.partition(" ")
    try:
        user, _, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    expected = users.get(user)
    same = hmac.compare_digest(password.encode(), (expected or "").encode())
    return scheme.lower() == "basic" and expected is not None and same
