"""The common parts of the tools: usage, version, connection settings, and output."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO

from kgroups.errors import EXIT_FAILED, EXIT_OK, KgroupsError, UsageError

from . import VERSION
from .joptsimple import ArgumentError, Option, OptionError, ParsedOptions, parse

if TYPE_CHECKING:
    from kgroups.cli.frame.run_query import Query
    from kgroups.config.settings import ClientSettings
    from kgroups.model.outcome import Outcome
    from kgroups.net.cluster import Cluster

TIMEOUT_MS = 30_000
LONGEST_MS = 2**31 - 1


class Tool:
    """One tool: its name, its options with their rules, and its actions."""

    def __init__(
        self,
        name: str,
        kind: str,
        about: str,
        options: Iterable[Option],
        check: Callable[[ParsedOptions], None],
        actions: Mapping[str, str],
    ) -> None:
        """Declare a tool.

        :param check: checks the rules about combinations of options.
        :param actions: option -> the function that runs it, ``module:name`` in this package.
        """
        self._name = name
        self._kind = kind
        self._about = about
        self._options = tuple(options)
        self._check = check
        self._actions = actions

    def run(self) -> None:
        """Run the tool as a program."""
        from kgroups.cli.frame.exit_status import run_and_exit

        run_and_exit(self.main)

    def main(self, arguments: Sequence[str]) -> int:
        """Run the tool and return its exit code, which is 1 for any error, as in the Java tools."""
        from kgroups.cli.frame.exit_status import exit_code_of, print_to_stderr

        code = exit_code_of(lambda: self._run(arguments), lambda text: print_to_stderr(f"Error: {text}"))
        return EXIT_FAILED if code == UsageError.exit_code else code

    def _run(self, arguments: Sequence[str]) -> int:
        try:
            parsed = parse(self._options, arguments, self._kind)
            if not arguments or "help" in parsed:
                raise OptionError(self._about)
            if "version" in parsed:
                print(VERSION)
                return EXIT_OK
            self._check(parsed)
            return self._run_checked(parsed)
        except OptionError as error:
            from kgroups.cli.frame.exit_status import print_to_stderr

            print_to_stderr(str(error))
            sys.stderr.write(self.usage() if error.with_usage else "")
            return EXIT_FAILED

    def _run_checked(self, parsed: ParsedOptions) -> int:
        """Run the action; print Kafka's sentence about an error before it becomes a message of kgroups."""
        try:
            module, _, name = next(body for option, body in self._actions.items() if option in parsed).partition(":")
            code: int = getattr(import_module(f"kgroups.dropins.{module}"), name)(parsed)
            return code
        except ArgumentError as error:
            from .sentences import failed_due_to

            if self._kind == "streams":
                raise
            print_sentence(failed_due_to(self._kind, str(error)))
            return EXIT_FAILED
        except KgroupsError as error:
            from .sentences import of_error

            if sentence := of_error(error, parsed):
                print_sentence(sentence)
            raise

    def usage(self) -> str:
        """Return the usage text of the Java tool."""
        from pathlib import Path

        return Path(__file__).with_name(f"{self._name}.usage").read_text(encoding="utf-8")


def settings_of(parsed: ParsedOptions) -> ClientSettings:
    """Return the connection settings; print notes, such as unknown properties, to stderr.

    :raises OptionError: if ``--timeout`` is invalid, or an option that takes one value is given twice.
    :raises ConfigError: if the properties file cannot be read, or requires something that is not available.
    :raises UsageError: if a bootstrap server is invalid.
    """
    import os
    from pathlib import Path

    from kgroups.cli.frame.exit_status import print_to_stderr
    from kgroups.config.flags import Flags
    from kgroups.config.load import load_settings

    from .sentences import ToolError

    config = parsed.one("command-config")
    if config is not None and not Path(config).exists():
        raise ToolError(f"java.nio.file.NoSuchFileException: {config}", f"cannot read {config}: no such file")
    milliseconds = parsed.number("timeout")
    milliseconds = TIMEOUT_MS if milliseconds is None else min(milliseconds, LONGEST_MS)
    if milliseconds <= 0:
        raise OptionError(f"--timeout: {milliseconds} is not a number of milliseconds above zero")
    flags = Flags(parsed.one("bootstrap-server"), config, timeout=milliseconds / 1000)
    loaded = load_settings(flags, os.environ, own=False)
    for text in loaded.warnings:
        print_to_stderr(f"kgroups: note: {text}")
    return loaded.settings


def query_and_write(
    parsed: ParsedOptions,
    query: Query,
    write: Callable[[Outcome[Any]], None],
    *,
    failed: Callable[[Outcome[Any]], bool] = lambda outcome: False,
) -> int:
    """Query the cluster, ``write`` the result, print failures to stderr, and return the exit code.

    :param failed: whether items contain failures, which ``write`` has printed.
    """
    return _query_and_write(parsed, settings_of(parsed), query, write, failed)


def _query_and_write(
    parsed: ParsedOptions,
    settings: ClientSettings,
    query: Query,
    write: Callable[[Outcome[Any]], None],
    failed: Callable[[Outcome[Any]], bool],
) -> int:
    from kgroups.cli.frame.run_query import run_query
    from kgroups.render.failures import failure_lines, notice_lines

    from .sentences import of_failures

    outcome, _ = run_query(settings, query, debug=False)
    write(outcome)
    sys.stdout.flush()
    sentences, others = of_failures(outcome.failures, parsed)
    for sentence in sentences:
        print_sentence(sentence)
    for line in (*notice_lines(outcome.notices), *failure_lines(others, "Error")):
        print(line, file=sys.stderr)
    return EXIT_FAILED if failed(outcome) else outcome.exit_code


def change_and_write(
    parsed: ParsedOptions,
    query: Callable[[Cluster], Awaitable[Outcome[Any]]],
    write: Callable[[Outcome[Any]], None],
    *,
    failed: Callable[[Outcome[Any]], bool] = lambda outcome: False,
) -> int:
    """Change the cluster, ``write`` the result as :func:`query_and_write` does, and return the exit code.

    :raises UsageError: if the transport only reads.
    """
    from kgroups.admin.client import WireOnly, changing

    settings = settings_of(parsed)
    WireOnly.CHANGES.check(settings)
    return _query_and_write(parsed, settings, changing(query), write, failed)


def print_sentence(lines: Iterable[str]) -> None:
    """Print the lines of a sentence of Kafka's tools to stderr."""
    show = escape_for(sys.stderr)
    for line in lines:
        print(show(line), file=sys.stderr)


def escape_for(stream: TextIO) -> Callable[[str], str]:
    """Return the function that formats names from the cluster: escaped for a terminal, otherwise unchanged."""
    if not stream.isatty():
        return str
    from kgroups.model.visible import escape

    return escape
