"""What ``kgroups config check`` found: settings as they were understood, and steps on the way to each broker."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from kgroups.errors import Reason


class Step(StrEnum):
    """The way to a broker, in its order; the last is the same question for the whole cluster."""

    DNS = "DNS"
    TCP = "TCP"
    TLS = "TLS"
    API_VERSIONS = "ApiVersions"
    SASL = "SASL"
    METADATA = "Metadata"


class Result(StrEnum):
    """How a step ended. ``UNDERSTOOD`` is said of settings."""

    UNDERSTOOD = "understood"
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    NOT_TRIED = "not tried"


class CheckRow(NamedTuple):
    """One setting or one step. ``where``: who gave the setting, or the server; ``fix``: the way out, where one is
    needed."""

    where: str
    step: str
    result: str
    milliseconds: int | None
    detail: str | None
    fix: str | None = None
    brief: str | None = None
    """The detail as one line of errors has it, where that is shorter; no column."""
    reason: Reason | None = None
    """Why a step failed; no column."""
