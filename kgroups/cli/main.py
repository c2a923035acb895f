"""The command tree of ``kgroups``: a command for each module of :mod:`kgroups.cli.commands`, and the applications."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from kgroups.version import __version__

from . import commands
from .frame.exit_status import exit_code_of, print_to_stderr
from .frame.lazy_command import LazyCommand, QuickCommand, declared_in

HELP_JSON = "--help-json"
"""Before or after a command, or alone: prints the help as JSON."""

COMPLETE = "_KGROUPS_COMPLETE"
"""Set to a command line by the scripts in ``kgroups/cli/completion/``."""


class RootGroup(QuickCommand, click.Group):
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

    The installation also has kafka-consumer-groups, kafka-groups, kafka-share-groups, kafka-streams-groups, and
    kafka-streams-application-reset, which replace Kafka's tools where they come first in PATH. To use Kafka's own, put
    their folder first.
    """


APPLICATIONS = {
    "exporter": "kgroups.exporter.command",
    "history": "kgroups.history.commands",
    "mcp": "kgroups.mcp.command",
    "sandbox": "kgroups.sandbox.command",
    "watch": "kgroups.watch.command",
}
"""The declarations of commands that nothing imports, by their names."""

for _command in declared_in(commands.__name__, commands.__path__):
    cli.add_command(_command)
for _name, _module in APPLICATIONS.items():
    cli.add_command(LazyCommand(_name, _module))


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
        print_to_stderr(f"{path}: error: {with_suggestion(error, cli, arguments)}; see {path} --help")
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        from kgroups.errors import UsageError  # help needs none

        if isinstance(error, UsageError) and error.hint is None:
            from .frame.suggestions import hint_of

            error.hint = hint_of(cli, arguments)
        raise


def _print_error(text: str) -> None:
    print_to_stderr(f"kgroups: error: {text}")
