"""The command tree, and the one place where an error becomes a line and an exit code."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence

import click

from kgroups import __version__
from kgroups.errors import KgroupsError
from kgroups.model.outcome import EXIT_FAILED

from .later import Later, add_later

EXIT_INTERRUPTED = 128 + signal.SIGINT
EXIT_CLOSED_PIPE = 128 + signal.SIGPIPE


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(version)s")
def cli() -> None:
    """Kafka's consumer groups: list and describe them, fast and truthfully.

    Exit codes: 0 all was answered; 1 something failed (what was answered is printed, failures are named on stderr);
    2 usage or configuration.
    """


add_later(
    cli,
    Later("list", "list:list_groups", "List the groups of the cluster, of every kind, sorted."),
    Later("describe", "describe:describe", "Describe groups: offsets and lag, members, or state."),
    Later("lag", "lag:lag", "Show how far groups are behind, in records and in time."),
    Later("reset-offsets", "reset_offsets:reset_offsets", "Move the offsets of groups that have no members."),
    Later("delete-offsets", "delete_offsets:delete_offsets", "Delete what groups have committed on some topics."),
    Later("delete", "delete:delete", "Delete groups that have no members, with their offsets."),
    Later("remove-members", "remove_members:remove_members", "Remove members from groups."),
    Later("history", "history:history", "Collect what groups did, and ask about it later."),
    Later("sandbox", "sandbox:sandbox", "Run a real Kafka on this machine, to try things on."),
)


def main(arguments: Sequence[str]) -> int:
    """Runs a command; gives its exit code. No error of ours, the user's or the cluster's leaves a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a group's name may not fit the terminal's encoding
    try:
        # Not cli.main(): that one turns a closed pipe into exit 1, which is our word for a partial answer.
        with cli.make_context("kgroups", list(arguments)) as context:
            code = cli.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as done:
        sys.stdout.flush()
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "kgroups"
        _complain(f"{path}: error: {error.format_message().rstrip('.')}; see {path} --help")
        return error.exit_code
    except KgroupsError as error:
        _complain(f"kgroups: error: {error}")
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()  # the reader has seen enough
        return EXIT_CLOSED_PIPE
    except OSError as error:
        _give_up_stdout()
        _complain(f"kgroups: error: cannot write the answer: {error.strerror or error}")
        return EXIT_FAILED


def _give_up_stdout() -> None:
    """Lets Python flush into nothing at its end: it would complain a second time."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(text: str) -> None:
    from kgroups.render.cells import escape

    for part in text.splitlines():  # some errors carry the end of a log
        click.echo(escape(part), err=True)
