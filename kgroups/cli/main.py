"""The command tree of ``kgroups``."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from kgroups.version import __version__

from .frame.exit_status import brought_to_an_end, complain_in_a_line
from .frame.lazy_command import Later, add_later

COMPLETE = "_KGROUPS_COMPLETE"
"""Set by the scripts in ``completions/``."""


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
    Later("watch", "watch.command:watch", "Watch groups live: state, members, lag and rates."),
    Later("exporter", "exporter.command:exporter", "Serve metrics of groups to Prometheus."),
    Later("check", "check.command:check", "Check whether groups are as they should be."),
    Later("explain", "explain:explain", "Explain why groups are as they are."),
    Later("reset-offsets", "reset_offsets:reset_offsets", "Move the offsets of groups that have no members."),
    Later("delete-offsets", "delete_offsets:delete_offsets", "Delete what groups have committed on some topics."),
    Later("delete", "delete:delete", "Delete groups that have no members, with their offsets."),
    Later("remove-members", "remove_members:remove_members", "Remove members from groups."),
    Later("config", "config:config", "Show the settings that were given, and try them."),
    Later("history", "history:history", "Collect what groups did, and ask about it later."),
    Later("profile", "profile:profile", "List, show and choose named clusters."),
    Later("sandbox", "sandbox:sandbox", "Run a real Kafka on this machine, to try things on."),
)


def main(arguments: Sequence[str]) -> int:
    """Runs a command; gives its exit code. A shell that completes a command line asks by a variable."""
    if instruction := os.environ.get(COMPLETE):
        from .frame.completion import complete

        return complete(cli, COMPLETE, instruction)
    return brought_to_an_end(lambda: _run(arguments), _complain)


def _run(arguments: Sequence[str]) -> int:
    try:
        # Not cli.main(): that one turns a closed pipe into exit 1, which is our word for a partial answer.
        with cli.make_context("kgroups", list(arguments), obj=tuple(arguments)) as context:
            code = cli.invoke(context)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "kgroups"
        complain_in_a_line(f"{path}: error: {error.format_message().rstrip('.')}; see {path} --help")
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None


def _complain(text: str) -> None:
    complain_in_a_line(f"kgroups: error: {text}")
