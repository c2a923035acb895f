"""The options of ``check`` for what is expected of groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from kgroups.errors import UsageError
from kgroups.model.health.check import Check
from kgroups.model.health.judge import CHECKS
from kgroups.model.health.limits import Limits

from ..frame.options import grouped_options, split_values

F = TypeVar("F", bound=Callable[..., Any])


def _option(check: Check) -> Callable[[F], F]:
    """Return the option of a check; its parameter has the name of the field."""
    flag = check.flag
    options: dict[str, Any] = {"help": flag.help, "metavar": flag.metavar, "multiple": flag.repeated}
    if flag.kind is int:
        options["type"] = click.IntRange(0)
    if flag.metavar is None:
        options = {"help": flag.help, "is_flag": True}
    return click.option(f"--{check.key}", check.field, **options)


def expectation_options(command: F) -> F:
    """Add an option for each check; the command gets ``limits``, a :class:`kgroups.model.health.limits.Limits`."""
    return grouped_options(command, tuple(map(_option, CHECKS)), "limits", _limits)


def _limits(**values: Any) -> Limits:
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
