"""The result of a check. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

OK: Final = "ok"
FAILED: Final = "FAILED"
UNKNOWN: Final = "unknown"

EXIT_UNKNOWN: Final = 3
"""No check failed, but the result of one is unknown; as in ``kgroups check``."""


class Check(NamedTuple):
    """One line: the check, its table, and its result."""

    check: str
    table: str | None
    status: str
    checked: int | None = None
    failed: int | None = None
    note: str | None = None


MEANINGS: Final = {
    "check": "Name of the check.",
    "table": "The table. Null: the check is not about one.",
    "status": "ok, FAILED, or unknown.",
    "checked": "Number of things that were checked.",
    "failed": "How many of them failed.",
    "note": "The first that failed, why the result is unknown, or what was not compared.",
}
"""Field of a :class:`Check` -> its meaning, in the JSON Schema."""


def judged(check: str, table: str | None, checked: int, failed: int, note: str | None = None) -> Check:
    """Return the result of a check that could be made: ok if nothing failed.

    :param note: the first that failed, or why; or what was not compared.
    """
    return Check(check, table, FAILED if failed else OK, checked, failed, note)


def unknown(check: str, table: str | None, note: str, checked: int | None = None) -> Check:
    """Return the result of a check that could not be made."""
    return Check(check, table, UNKNOWN, checked, None, note)


def exit_code(checks: Iterable[Check]) -> int:
    """Return 0 if all checks are ok, 1 if one failed, otherwise :data:`EXIT_UNKNOWN`."""
    found = {each.status for each in checks}
    return 1 if FAILED in found else EXIT_UNKNOWN if UNKNOWN in found else 0
