"""What is expected of groups, from the options of ``check``."""

from __future__ import annotations

from typing import Any

from kgroups.errors import UsageError
from kgroups.model.health.check import Check
from kgroups.model.health.judge import CHECKS
from kgroups.model.health.limits import Limits

from ..frame.options import split_values


def limits_of(**values: Any) -> Limits:
    """Return the expectations.

    :raises UsageError: if a value is invalid, or if options conflict.
    """
    if values["members"] is not None and values["min_members"] is not None:
        raise UsageError("--members and --min-members are mutually exclusive")
    values["states"] = list(split_values(values["states"]))
    given = {
        check.field: _read(check, value) for check in CHECKS if (value := values[check.field]) not in (None, (), [])
    }
    return Limits(**given)


def _read(check: Check, value: Any) -> Any:
    """Parse the value of an option.

    :raises UsageError: if it is invalid.
    """
    try:
        return (check.read_flag or check.read)(value)
    except ValueError as error:
        raise UsageError(f"--{check.key}: {error}") from None
