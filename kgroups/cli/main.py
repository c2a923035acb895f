"""The command tree of ``kgroups``."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from kgroups.version import __version__

from .frame.exit_status import exit_code_of, print_to_stderr
from .frame.lazy_command import LazyCommand, QuickHelp, add_lazy_commands

HELP_JSON = "--help-json"
"""Before or after a command, or alone: prints the help as JSON."""

COMPLETE = "_KGROUPS_COMPLETE"
"""Set to a command line by the scripts in ``kgroups/cli/completion/``."""


class RootGroup(QuickHelp, click.Group):
    """The command tree. Options before a command are moved to the command, see :mod:`.frame.moved_options`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [word for word in args if word != HELP_JSON]
        if len(words) < len(args) and not any(word.startswith("-") for word in words):
            from .frame.help_json import help_json

            click.echo(help_json(self, ctx, words))
            ctx.exit()
        if args and args[0].startswith("-") and args[0] not in ("--version", *ctx.help_option_names):
            from .frame.moved_options import behind_command

            ctx.meta[__name__] = True
            args = behind_command(self, ctx, args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options; those that are moved are imported only if there are any, or to be completed."""
        if not (ctx.resilient_parsing or ctx.meta.get(__name__)):
            return super().get_params(ctx)
        from .frame.moved_options import movable_options

        return [*movable_options(), *super().get_params(ctx)]


def _print_version(context: click.Context, _: click.Parameter, shown: bool) -> None:
    if shown and not context.resilient_parsing:
        click.echo(f"kgroups {__version__}", color=context.color)
        context.exit()


@click.group(cls=RootGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    HELP_JSON,
    is_flag=True,
    expose_value=False,
    help="Show all commands with their options as JSON and exit; with a command, only that one.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Inspect and manage Kafka consumer, share, and streams groups.

    Exit codes: 0 success; 1 failure or partial failure (available results are printed, failures are listed on stderr);
    2 invalid usage or configuration.

    The connection options, --output, --quiet, and --color can be given before or after the command. If an option is
    given in both places, the one after the command takes precedence.

    The installation also has kafka-consumer-groups, kafka-groups, kafka-share-groups, and kafka-streams-groups, which
    replace Kafka's tools where they come first in PATH. To use Kafka's own, put their folder first.
    """


add_lazy_commands(
    cli,
    LazyCommand("list", "commands.list:command", "List the groups of a cluster, of every type."),
    LazyCommand("describe", "commands.describe:command", "Describe groups: offsets and lag, members, or state."),
    LazyCommand("lag", "commands.lag:command", "Show the lag of groups, in records and in time."),
    LazyCommand("watch", "kgroups.watch.command:watch", "Watch groups live: state, members, lag, and rates."),
    LazyCommand("exporter", "kgroups.exporter.command:exporter", "Serve metrics of groups to Prometheus."),
    LazyCommand("mcp", "kgroups.mcp.command:mcp", "Serve read-only tools to language models (MCP)."),
    LazyCommand("check", "commands.check:command", "Check groups against rules, for CI and monitoring."),
    LazyCommand("explain", "commands.explain:command", "Explain the state and the problems of groups."),
    LazyCommand(
        "reset-offsets", "commands.reset_offsets:command", "Reset the committed offsets of groups without members."
    ),
    LazyCommand("delete-offsets", "commands.delete_offsets:command", "Delete committed offsets of topics."),
    LazyCommand("delete", "commands.delete:command", "Delete groups without members, with their committed offsets."),
    LazyCommand("remove-members", "commands.remove_members:command", "Remove members from groups."),
    LazyCommand("settings", "commands.settings:command", "Show and change the settings of groups."),
    LazyCommand("snapshot", "commands.snapshot:command", "Save the state of groups, compare it, and restore it."),
    LazyCommand("diff", "commands.diff:command", "Compare the groups of two clusters or snapshots."),
    LazyCommand("config", "commands.config:command", "Show and test the connection settings."),
    LazyCommand("history", "kgroups.history.commands:history", "Collect the history of groups, and query it."),
    LazyCommand("profile", "commands.profile:command", "Manage profiles, which are named clusters."),
    LazyCommand("schema", "commands.schema:command", "Print the JSON Schemas of outputs and files."),
    LazyCommand("completion", "commands.completion:command", "Print the completion script for bash, zsh, or fish."),
    LazyCommand("sandbox", "kgroups.sandbox.command:command", "Run a local Kafka cluster for experiments."),
)


_START = """\
Inspect and manage Kafka consumer, share, and streams groups.

  kgroups list -b HOST:PORT             list the groups of a cluster
  kgroups describe -b HOST:PORT GROUP   show the offsets and the lag of a group
  kgroups lag -b HOST:PORT --top 10     show the groups with the largest lag
  kgroups sandbox up                    start Kafka on this machine, to try kgroups

All commands: kgroups --help. The options of a command: kgroups COMMAND --help."""
"""What kgroups prints without arguments."""


def main(arguments: Sequence[str]) -> int:
    """Run a command, or print the completions of the line in a variable; return the exit code."""
    if line := os.environ.get(COMPLETE):
        from .completion.answer import complete

        return complete(cli, line)
    return exit_code_of(lambda: _run(arguments), _print_error)


def _run(arguments: Sequence[str]) -> int:
    try:
        # Not cli.main(): it turns a closed pipe into exit code 1, which means a partial failure in kgroups.
        with cli.make_context("kgroups", list(arguments), obj=tuple(arguments)) as context:
            code = cli.invoke(context)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message() if arguments else _START, err=True)
        return error.exit_code
    except click.ClickException as error:
        from .frame.suggestions import command_path, with_suggestion

        path = command_path(cli, arguments, error)
        print_to_stderr(f"{path}: error: {with_suggestion(error)}; see {path} --help")
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None


def _print_error(text: str) -> None:
    print_to_stderr(f"kgroups: error: {text}")
