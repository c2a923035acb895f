"""What both commands have in common: usage, version, where the cluster is, and how an answer is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from kgroups.errors import UsageError
from kgroups.model.outcome import EXIT_FAILED, EXIT_OK

from . import VERSION
from .joptsimple import Option, OptionError, ParsedOptions, parse

if TYPE_CHECKING:
    from kgroups.cli.frame.run_query import Query
    from kgroups.config.settings import ClientSettings
    from kgroups.model.outcome import Outcome

TIMEOUT_MS = 30_000
LONGEST_MS = 2**31 - 1


class Tool:
    """One command: its name, options and rules, and what it does with a command line that keeps to them."""

    def __init__(
        self,
        name: str,
        about: str,
        options: Iterable[Option],
        check: Callable[[ParsedOptions], None],
        act: Callable[[ParsedOptions], int],
    ) -> None:
        self._name = name
        self._about = about
        self._options = tuple(options)
        self._check = check
        self._act = act

    def main(self, arguments: Sequence[str]) -> int:
        """Runs it; gives its exit code, which for whatever goes wrong is 1, as it is with the Java tools."""
        from kgroups.cli.frame.exit_status import exit_code_of, print_to_stderr

        code = exit_code_of(lambda: self._run(arguments), lambda text: print_to_stderr(f"Error: {text}"))
        return EXIT_FAILED if code == UsageError.exit_code else code

    def _run(self, arguments: Sequence[str]) -> int:
        try:
            given = parse(self._options, arguments)
            if not arguments or "help" in given:
                raise OptionError(self._about)
            if "version" in given:
                print(VERSION)
                return EXIT_OK
            self._check(given)
            return self._act(given)
        except OptionError as error:
            from kgroups.cli.frame.exit_status import print_to_stderr

            print_to_stderr(str(error))
            sys.stderr.write(self.usage())
            return EXIT_FAILED

    def usage(self) -> str:
        """The Java tool's own."""
        from pathlib import Path

        return Path(__file__).with_name(f"{self._name}.usage").read_text(encoding="utf-8")


def settings_of(given: ParsedOptions) -> ClientSettings:
    """Where the cluster is. What the properties file says that is not understood stands on stderr.

    :raises OptionError: when ``--timeout`` is no time, or an option that is to be there once is there twice.
    :raises ConfigError: for a file that cannot be read, or that asks for what is not there.
    :raises UsageError: for a bootstrap server that is none.
    """
    import os

    from kgroups.cli.frame.exit_status import print_to_stderr
    from kgroups.config.flags import Flags
    from kgroups.config.load import load_settings

    milliseconds = given.number("timeout")
    milliseconds = TIMEOUT_MS if milliseconds is None else min(milliseconds, LONGEST_MS)
    if milliseconds <= 0:
        raise OptionError(f"--timeout: {milliseconds} is not a number of milliseconds above zero")
    flags = Flags(given.one("bootstrap-server"), given.one("command-config"), timeout=milliseconds / 1000)
    loaded = load_settings(flags, os.environ, own=False)
    for text in loaded.remarks:
        print_to_stderr(f"kgroups: note: {text}")
    return loaded.settings


def tell(
    settings: ClientSettings,
    query: Query,
    write: Callable[[Outcome[Any]], None],
    *,
    failed: Callable[[Outcome[Any]], bool] = lambda outcome: False,
) -> int:
    """Asks the cluster; ``write`` shows what came back, stderr what did not. Gives the exit code.

    :param failed: whether there is a failure in the items themselves, which ``write`` has shown.
    """
    from kgroups.cli.frame.run_query import run_query
    from kgroups.render.failures import failure_lines, notice_lines

    outcome, _ = run_query(settings, query, debug=False)
    write(outcome)
    sys.stdout.flush()
    for line in (*notice_lines(outcome.notices), *failure_lines(outcome.failures, "Error")):
        print(line, file=sys.stderr)
    return EXIT_FAILED if failed(outcome) else outcome.exit_code


def names_on(stream: TextIO) -> Callable[[str], str]:
    """How names from the cluster are written there: as they are for a script, harmless for a terminal."""
    if not stream.isatty():
        return str
    from kgroups.model.visible import escape

    return escape
