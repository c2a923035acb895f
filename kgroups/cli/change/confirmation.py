"""Dry run or execution, and the confirmation before anything is changed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NamedTuple

import click

from kgroups.errors import UsageError

from ..frame.exit_status import line_for_stderr, print_to_stderr


class Confirmation(NamedTuple):
    """The flags of a change: ``execute`` it, and ``yes`` to skip the question."""

    execute: bool
    yes: bool

    def check(self) -> None:
        """Check that the user can be asked, if necessary.

        :raises UsageError: if a confirmation is required, and standard input or error is not a terminal.
        """
        if self.execute and not self.yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError("--execute requires confirmation, and standard input is not a terminal; add --yes")

    def confirm(self, question: str) -> bool:
        """Ask on the terminal unless ``--yes`` is given; return whether to execute."""
        return self.yes or click.confirm(line_for_stderr(question), err=True)

    def confirm_all(self, changes: Iterable[str], clusters: str) -> bool:
        """Print the change of each cluster; unless ``--yes`` is given, the user must type how many ``clusters``."""
        for line in changes:
            print_to_stderr(line)
        prompt = f'To change {clusters}, type "{clusters}"'
        return self.yes or click.prompt(prompt, default="", show_default=False, err=True).strip() == clusters


def confirmation_of(dry_run: bool, execute: bool, yes: bool) -> Confirmation:
    """Return the flags of a change.

    :raises UsageError: if they conflict, or if the user must be asked and cannot be.
    """
    if dry_run and execute:
        raise UsageError("--dry-run and --execute are mutually exclusive")
    confirmation = Confirmation(execute, yes)
    confirmation.check()
    return confirmation
