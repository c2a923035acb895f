"""The common parts of the actions: connection settings, queries, and output."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from kgroups.admin.client import WireOnly, changing
from kgroups.cli.frame.exit_status import print_to_stderr
from kgroups.cli.frame.run_query import Query, run_query
from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.settings import ClientSettings
from kgroups.errors import EXIT_FAILED
from kgroups.model.outcome import Outcome
from kgroups.net.cluster import Cluster
from kgroups.render.failures import failure_lines, notice_lines

from .joptsimple import OptionError, ParsedOptions
from .sentences import ToolError, of_failures, own_words, print_sentence

TIMEOUT_MS = 30_000
LONGEST_MS = 2**31 - 1


def settings_of(parsed: ParsedOptions) -> ClientSettings:
    """Return the connection settings; print notes, such as unknown properties, to stderr.

    :raises OptionError: if ``--timeout`` is invalid, or an option that takes one value is given twice.
    :raises ConfigError: if the properties file cannot be read, or requires something that is not available.
    :raises UsageError: if a bootstrap server is invalid.
    """
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
    outcome, _ = run_query(settings, query, debug=False)
    sentences, others = of_failures(outcome.failures, parsed)
    before = sentences if parsed.any_of("reset-offsets", "delete-offsets") else ()
    for sentence in before:
        print_sentence(sentence)
    write(outcome)
    sys.stdout.flush()
    for sentence in sentences[len(before) :]:
        print_sentence(sentence)
    for line in (*notice_lines(outcome.notices), *failure_lines(others, "Error")):
        print(own_words(line, parsed.kind), file=sys.stderr)
    return EXIT_FAILED if failed(outcome) else outcome.exit_code


def change_and_write(
    parsed: ParsedOptions,
    query: Callable[[Cluster], Awaitable[Outcome[Any]]],
    write: Callable[[Outcome[Any]], None],
    *,
    failed: Callable[[Outcome[Any]], bool] = lambda outcome: False,
) -> int:
    """Change the cluster, ``write`` the result as :func:`query_and_write` does, and return the exit code.

    :param failed: whether items contain failures, which ``write`` has printed.
    :raises UsageError: if the transport only reads.
    """
    settings = settings_of(parsed)
    WireOnly.CHANGES.check(settings)
    return _query_and_write(parsed, settings, changing(query), write, failed)
