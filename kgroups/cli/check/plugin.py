"""The exit codes of ``kgroups check``, which are those of monitoring plugins."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kgroups.errors import KgroupsError
from kgroups.model.counts import count
from kgroups.render.health import unreachable, write_unreachable
from kgroups.render.wrapping import write_wrapped

from ..commands.check import EXIT_UNKNOWN
from ..frame.exit_status import bug_location, discard_stdout, output_error, print_to_stderr, system_error
from .reports import write_files
from .rules_file import read_rules


def invoke(ctx: click.Context, check: Callable[[click.Context], Any]) -> Any:
    """Run ``kgroups check``; return the exit code, which is that of UNKNOWN if an error prevents a result."""
    try:
        code = lint(ctx) if ctx.params["lint"] else check(ctx)
        sys.stdout.flush()
        return code
    except KgroupsError as error:
        return _unknown(f"{error}; {error.hint}" if error.hint else str(error), ctx)
    except (BrokenPipeError, click.ClickException, click.exceptions.Exit, click.Abort):
        raise  # a closed pipe and errors of the command line have their own exit codes
    except OSError as error:  # exit code 1 would mean WARNING
        return _unknown(output_error(error) or system_error(error), ctx)
    except MemoryError:
        return _unknown("out of memory; select fewer groups, or raise the memory limit of this process", ctx)
    except Exception as error:
        return _unknown(f"a bug in kgroups: {bug_location(error)}", ctx)


def lint(ctx: click.Context) -> int:
    """Parse rules files: that of ``--lint`` and the arguments, which pre-commit adds; return the exit code.

    :raises ConfigError: if one is invalid.
    """
    for path in (ctx.params["lint"], *map(Path, ctx.params["names"])):
        rules = read_rules(path)
        write_wrapped(sys.stdout, f"{path}: {count(len(rules), 'rule')}, valid")
        for rule in rules:
            for glob in rule.groups:
                if "[" in glob:
                    text = f"{rule.place}: {glob!r} is a glob, and also matches a group with exactly this name"
                    write_wrapped(sys.stdout, text)
    return 0


def _unknown(reason: str, ctx: click.Context) -> int:
    """Write a report without a result wherever a report is due; return the exit code of UNKNOWN."""
    try:
        _write_unknown(reason, ctx.params["output"])
        sys.stdout.flush()
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        discard_stdout()
        print_to_stderr(f"kgroups: error: {reason}")
    if ctx.params["junit"] or ctx.params["github"]:
        try:
            write_files(unreachable(reason, int(time.time() * 1000)), ctx.params["junit"], github=ctx.params["github"])
        except (KgroupsError, OSError) as error:
            print_to_stderr(f"kgroups: error: {error}")
    return EXIT_UNKNOWN


def _write_unknown(reason: str, output: str) -> None:
    """Write a report without a result: consumers of XML, JSON, or metrics always get a document."""
    write_unreachable(reason, int(time.time() * 1000), output, sys.stdout)
    if output != "text":
        print_to_stderr(f"kgroups: error: {reason}")
