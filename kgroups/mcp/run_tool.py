"""Run the command of a tool in this process, and return its JSON document."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import click

from kgroups.admin.fleet import PARALLEL
from kgroups.cli.frame.exit_status import bug_location, print_to_stderr, system_error
from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.frame.options import GIVEN, ConnectionOptions
from kgroups.errors import KgroupsError, Reason
from kgroups.model.visible import escape_message

from .command_line import name_arguments, words_of
from .tools import Tool

_PRINTED: ContextVar[io.StringIO] = ContextVar("printed")


class ToolFailed(Exception):
    """A tool has no result; the text is one line."""

    def __init__(self, message: str, reason: Reason, hint: str | None = None) -> None:
        super().__init__(escape_message(message))
        self.reason = reason
        self.hint = escape_message(hint) if hint else None


class Runner(NamedTuple):
    """Runs the commands of tools against the clusters that were chosen when the server started."""

    root: click.Group
    connection: ConnectionOptions
    quiet: bool = False
    """Whether commands write no notes to stderr; results have them, too."""

    @property
    def seconds(self) -> float:
        """The time limit of a call: a command's limit for each cluster that is queried after another."""
        fleet = self.connection.fleet
        if not fleet:
            return self.connection.settings.timeout
        rounds = -(-len(fleet.names) // PARALLEL)
        return rounds * max(self.connection.of(name).settings.timeout for name in fleet.names)

    def command(self, tool: Tool) -> click.Command:
        """Return the command of a tool."""
        found: click.Command = self.root
        for name in tool.command:
            assert isinstance(found, click.Group)
            found = found.commands[name]
            found = found.load() if isinstance(found, LazyCommand) else found
        return found

    def run(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document that the command prints with ``--output json``, after :func:`divert_output`.

        :raises ToolFailed: if it prints none.
        """
        printed = io.StringIO()
        _PRINTED.set(printed)
        try:
            with tempfile.TemporaryDirectory(prefix="kgroups-mcp-") as folder:
                self._invoke(tool, arguments, Path(folder))
            found: dict[str, Any] = json.loads(printed.getvalue())
            return found
        except KgroupsError as error:
            raise ToolFailed(str(error), error.reason, error.hint) from None
        except click.ClickException as error:
            raise ToolFailed(error.format_message(), Reason.INVALID_USAGE) from None
        except OSError as error:
            raise ToolFailed(system_error(error), Reason.OUT_OF_RESOURCES) from None
        except MemoryError:
            raise ToolFailed("out of memory; select fewer groups", Reason.OUT_OF_RESOURCES) from None
        except Exception as error:
            text = f"a bug in kgroups: {bug_location(error)}"
            print_to_stderr(f"kgroups: error: {tool.name}: {text}")
            raise ToolFailed(text, Reason.INTERNAL_ERROR) from None

    def _invoke(self, tool: Tool, arguments: Mapping[str, Any], folder: Path) -> None:
        command, profile = self.command(tool), arguments.get("profile")
        words = ["--output=json", *(["--quiet"] if self.quiet else []), *words_of(tool, command, arguments, folder)]
        parent = click.Context(self.root, info_name="kgroups")
        if tool.connects:
            parent.meta[GIVEN] = self.connection.of(profile) if profile else self.connection
        try:
            with command.make_context(tool.command[-1], words, parent) as context:
                # Not its own invoke: check would turn an error into a report.
                click.Command.invoke(command, context)
        except KgroupsError as error:
            error.args = (name_arguments(tool, error.text, folder),)
            raise


def divert_output() -> None:
    """Keep what commands print to stdout: each call has its own output, and stdout belongs to the protocol."""
    sys.stdout = _Diverted()


class _Diverted(io.TextIOBase):
    """An output stream that writes to the output of the call that writes; any other output goes to stderr."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return _PRINTED.get(sys.stderr).write(text)
