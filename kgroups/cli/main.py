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
    """Manage Kafka consumer groups.

    Exit codes: 0 success; 1 failure or partial failure (available results are printed, failures are listed on stderr);
    2 invalid usage or configuration.
    """


add_later(
    cli,
    Later("list", "list:list_groups", "List the groups of a cluster, of every type."),
    Later("describe", "describe:describe", "Describe groups: offsets and lag, members, or state."),
    Later("lag", "lag:lag", "Show the lag of groups, in records and in time."),
    Later("watch", "watch.command:watch", "Watch groups live: state, members, lag, and rates."),
    Later("exporter", "exporter.command:exporter", "Serve metrics of groups to Prometheus."),
    Later("check", "check.command:check", "Check groups against rules, for CI and monitoring."),
    Later("explain", "explain:explain", "Explain the state and the problems of groups."),
    Later("reset-offsets", "reset_offsets:reset_offsets", "Reset the committed offsets of groups without members."),
    Later("delete-offsets", "delete_offsets:delete_offsets", "Delete committed offsets of topics."),
    Later("delete", "delete:delete", "Delete groups without members, with their committed offsets."),
    Later("remove-members", "remove_members:remove_members", "Remove members from groups."),
    Later("config", "config:config", "Show and test the connection settings."),
    Later("history", "history:history", "Collect the history of groups, and query it."),
    Later("profile", "profile:profile", "List, show, and choose profiles of clusters."),
    Later("sandbox", "sandbox:sandbox", "Run a local Kafka cluster for experiments."),
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
