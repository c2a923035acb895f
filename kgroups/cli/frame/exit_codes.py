"""The exit codes of commands: one source for the help as JSON, the man pages, and the documentation."""

from __future__ import annotations

EXIT_CODES = (
    ("0", "Success."),
    ("1", "Partial failure: available results are printed, failures are listed on standard error."),
    ("2", "Invalid usage or configuration."),
    ("129, 130, 143", "Ended by SIGHUP, SIGINT (Ctrl-C), or SIGTERM."),
    ("141", "The reader of the pipe has exited."),
)
"""Codes, and their meanings."""

_ENDED = EXIT_CODES[3:]
OF_COMMAND = {
    "kgroups check": (
        ("0", "OK."),
        ("1", "WARNING."),
        ("2", "CRITICAL."),
        ("3", "UNKNOWN: also invalid usage or configuration, and no response."),
        *_ENDED,
    ),
    "kgroups diff": (("0", "A and B are equal."), ("1", "Something differs or is unknown."), EXIT_CODES[2], *_ENDED),
    "kgroups snapshot diff": (
        ("0", "A and B are equal."),
        ("1", "Something differs or is unknown."),
        EXIT_CODES[2],
        *_ENDED,
    ),
    "kgroups settings diff": (
        ("0", "The groups have the settings of the file."),
        ("1", "Something differs or is unknown."),
        EXIT_CODES[2],
        *_ENDED,
    ),
    "kgroups config check": (
        ("0", "Every step succeeded."),
        ("1", "A step failed."),
        ("2", "The configuration or the usage is invalid."),
        *_ENDED,
    ),
    "kgroups history test": (
        ("0", "All checks are ok."),
        ("1", "A check failed, or no check was possible."),
        EXIT_CODES[2],
        ("3", "No check failed, but the result of one is unknown."),
        *_ENDED,
    ),
}
"""Command -> its exit codes, if they have other meanings."""


def exit_codes(path: str) -> tuple[tuple[str, str], ...]:
    """Return the exit codes of a command.

    :param path: such as ``kgroups list``.
    """
    return OF_COMMAND.get(path, EXIT_CODES)
