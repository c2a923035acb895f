"""The results of ``kgroups config check``: effective settings, and connection steps for each broker."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from kgroups.errors import Reason


class Step(StrEnum):
    """The steps of a connection to a broker, in order; METADATA is requested once for the whole cluster."""

    DNS = "DNS"
    TCP = "TCP"
    TLS = "TLS"
    API_VERSIONS = "ApiVersions"
    SASL = "SASL"
    METADATA = "Metadata"


class Result(StrEnum):
    """The result of a step. Only settings are ``UNDERSTOOD``."""

    UNDERSTOOD = "understood"
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    NOT_TRIED = "not tried"


class CheckRow(NamedTuple):
    """One setting or one step.

    ``where`` is the source of the setting, or the server. ``fix`` is what to do about a problem.
    """

    where: str
    step: str
    result: str
    milliseconds: int | None
    detail: str | None
    fix: str | None = None
    brief: str | None = None
    """The detail shortened to one line, for error messages; not a column."""
    reason: Reason | None = None
    """Why a step failed; not a column."""
