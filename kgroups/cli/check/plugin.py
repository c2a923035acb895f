"""Commands that end as monitoring plugins do."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from kgroups.errors import KgroupsError

from ..frame.exit_status import print_to_stderr

EXIT_UNKNOWN = 3


class Plugin(click.Command):
    """A command that ends as monitoring plugins do: whatever keeps it from an answer is UNKNOWN, exit 3."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            setattr(error, "exit_code", EXIT_UNKNOWN)  # noqa: B010  # of this one, not of the class
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KgroupsError as error:
            _no_answer(f"{error}; {error.hint}" if error.hint else str(error), ctx.params["output"])
            return EXIT_UNKNOWN
        except (OSError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise  # about the place that is written to, or a command line: they have their own ends
        except Exception as error:  # exit code 1 would be a WARNING about the group
            _no_answer(f"a bug in kgroups: {_where(error)}", ctx.params["output"])
            return EXIT_UNKNOWN


def _where(error: Exception) -> str:
    """What was raised, and in which line of ours; its words may be anybody's."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "kgroups" in frame.filename] or frames
    return f"{type(error).__name__} in {ours[-1].filename.rpartition('kgroups/')[2]}, line {ours[-1].lineno}"


def _no_answer(why: str, output: str) -> None:
    """Who reads XML, JSON or metrics gets these, whatever happens."""
    from kgroups.render.health import write_unreachable

    write_unreachable(why, int(time.time() * 1000), output, sys.stdout)
    if output != "text":
        print_to_stderr(f"kgroups: error: {why}")
