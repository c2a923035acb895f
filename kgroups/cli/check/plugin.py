"""Commands with the exit codes of monitoring plugins."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from kgroups.errors import KgroupsError

from ..frame.exit_status import print_to_stderr

EXIT_UNKNOWN = 3


class Plugin(click.Command):
    """A command with the exit codes of monitoring plugins: any error that prevents a result is UNKNOWN, exit code 3."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            setattr(error, "exit_code", EXIT_UNKNOWN)  # noqa: B010  # of the instance, not of the class
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KgroupsError as error:
            _write_unknown(f"{error}; {error.hint}" if error.hint else str(error), ctx.params["output"])
            return EXIT_UNKNOWN
        except (OSError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise  # errors of the output or the command line have their own exit codes
        except Exception as error:  # exit code 1 would mean WARNING
            _write_unknown(f"a bug in kgroups: {_location(error)}", ctx.params["output"])
            return EXIT_UNKNOWN


def _location(error: Exception) -> str:
    """Return the type of an error and the line in kgroups, without its message, which may contain anything."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "kgroups" in frame.filename] or frames
    return f"{type(error).__name__} in {own[-1].filename.rpartition('kgroups/')[2]}, line {own[-1].lineno}"


def _write_unknown(reason: str, output: str) -> None:
    """Write a report without a result: consumers of XML, JSON, or metrics always get a document."""
    from kgroups.render.health import write_unreachable

    write_unreachable(reason, int(time.time() * 1000), output, sys.stdout)
    if output != "text":
        print_to_stderr(f"kgroups: error: {reason}")
