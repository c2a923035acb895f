"""The common parts of the tools: options, usage, version, and errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module

from kgroups.cli.frame.exit_status import exit_code_of, print_to_stderr, run_and_exit
from kgroups.errors import EXIT_FAILED, EXIT_OK, KgroupsError, UsageError

from .joptsimple import ArgumentError, Option, OptionError, ParsedOptions, parse
from .releases import Release, release

OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
"""An option that a text names."""


class Tool:
    """One tool: its name, its options with their rules, and its actions."""

    def __init__(
        self,
        name: str,
        kind: str,
        options: Iterable[Option],
        check: Callable[[ParsedOptions], None],
        actions: Mapping[str, str],
        *,
        about: str = "",
    ) -> None:
        """Declare a tool.

        :param options: those of the newest release.
        :param check: checks the rules about combinations of options.
        :param actions: option -> the function that runs it, ``module:name`` in this package.
        :param about: what ``--help`` begins with, if it is the same in all releases.
        """
        self._name = name
        self._kind = kind
        self._about = about
        self._options = tuple(options)
        self._check = check
        self._actions = actions

    def run(self) -> None:
        """Run the tool as a program."""
        run_and_exit(self.main)

    def main(self, arguments: Sequence[str]) -> int:
        """Run the tool and return its exit code, which is 1 for any error, as in the Java tools."""
        code = exit_code_of(lambda: self._run(arguments), lambda text: print_to_stderr(f"Error: {text}"))
        return EXIT_FAILED if code == UsageError.exit_code else code

    def _run(self, arguments: Sequence[str]) -> int:
        followed = release()
        lacks = followed.lacks.get(self._kind, ())
        try:
            parsed = parse((each for each in self._options if each.name not in lacks), arguments, self._kind)
            if not arguments or "help" in parsed:
                for line in (self._about or followed.abouts[self._kind]).split("\n"):
                    print_to_stderr(line)
                sys.stderr.write(self.usage(followed))
                return EXIT_FAILED
            if "version" in parsed:
                print(followed.version)
                return EXIT_OK
            self._check(parsed)
            return self._run_checked(parsed)
        except OptionError as error:
            print_to_stderr(str(error))
            sys.stderr.write(self.usage(followed) if error.with_usage else "")
            return EXIT_FAILED

    def _run_checked(self, parsed: ParsedOptions) -> int:
        """Run the action; print Kafka's sentence about an error before it becomes a message of kgroups."""
        try:
            module, _, name = next(body for option, body in self._actions.items() if option in parsed).partition(":")
            code: int = getattr(import_module(f"kgroups.dropins.{module}"), name)(parsed)
            return code
        except (ArgumentError, KgroupsError) as error:
            from .sentences import failed_due_to, of_error, own_words, print_sentence

            if not isinstance(error, ArgumentError):
                error.args = (own_words(error.text, self._kind),)
                if error.hint and not self._has_options_of(error.hint):
                    error.hint = None
                if sentence := of_error(error, parsed):
                    print_sentence(sentence)
                raise
            if self._kind == "streams":
                raise
            cause = f"joptsimple.{error.exception}: {error}" if self._kind == "application" else str(error)
            print_sentence(failed_due_to(self._kind, cause))
            return EXIT_FAILED

    def _has_options_of(self, text: str) -> bool:
        """Return whether the tool has each option that a text names: hints are for kgroups, too."""
        return {*OPTION.findall(text)} <= {option.name for option in self._options}

    def usage(self, followed: Release | None = None) -> str:
        """Return the usage text of the Java tool."""
        from pathlib import Path

        newest = Path(__file__).with_name(f"{self._name}.usage")
        older = newest.parent / (followed or release()).usages / newest.name
        return (older if older.exists() else newest).read_text(encoding="utf-8")
