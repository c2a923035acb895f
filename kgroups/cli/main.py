"""The command tree of ``kgroups``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from kgroups import __version__

from .delete import delete
from .delete_offsets import delete_offsets
from .describe import describe
from .ending import brought_to_an_end, complain_in_lines
from .history import history
from .list import list_groups
from .remove_members import remove_members
from .reset_offsets import reset_offsets
from .sandbox import sandbox


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(version)s")
def cli() -> None:
    """Kafka's consumer groups: list and describe them, fast and truthfully.

    Exit codes: 0 all was answered; 1 something failed (what was answered is printed, failures are named on stderr);
    2 usage or configuration.
    """


cli.add_command(list_groups)
cli.add_command(describe)
cli.add_command(reset_offsets)
cli.add_command(delete_offsets)
cli.add_command(delete)
cli.add_command(remove_members)
cli.add_command(history)
cli.add_command(sandbox)


def main(arguments: Sequence[str]) -> int:
    """Runs a command; gives its exit code."""
    return brought_to_an_end(lambda: _run(arguments), _complain)


def _run(arguments: Sequence[str]) -> int:
    try:
        # Not cli.main(): that one turns a closed pipe into exit 1, which is our word for a partial answer.
        with cli.make_context("kgroups", list(arguments)) as context:
            code = cli.invoke(context)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "kgroups"
        complain_in_lines(f"{path}: error: {error.format_message().rstrip('.')}; see {path} --help")
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None


def _complain(text: str) -> None:
    complain_in_lines(f"kgroups: error: {text}")
