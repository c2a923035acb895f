"""Before anything is changed: whether it shall be at all, and whether somebody says yes."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import click

from kgroups.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


class Confirmation(NamedTuple):
    """What the flags of an act say: ``execute`` it, and ``yes`` without asking."""

    execute: bool
    yes: bool

    def check(self) -> None:
        """:raises UsageError: when it would have to be asked for, and there is nobody to ask."""
        if self.execute and not self.yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError("--execute requires confirmation, and standard input is not a terminal; add --yes")

    def confirm(self, question: str) -> bool:
        """Asks on the terminal, unless ``--yes`` has said so already."""
        return self.yes or click.confirm(question, err=True)


def confirmation_options(command: F) -> F:
    """Dry run or not. The command gets ``consent``, a :class:`Confirmation`."""

    @click.option("--dry-run", is_flag=True, help="Show the plan and change nothing.  [default]")
    @click.option("--execute", is_flag=True, help="Apply the changes, after a confirmation.")
    @click.option("-y", "--yes", is_flag=True, help="Skip the confirmation.")
    @functools.wraps(command)
    def outer(dry_run: bool, execute: bool, yes: bool, **values: Any) -> Any:
        if dry_run and execute:
            raise UsageError("--dry-run and --execute are mutually exclusive")
        confirmation = Confirmation(execute, yes)
        confirmation.check()
        return command(confirmation=confirmation, **values)

    return outer  # type: ignore[return-value]
