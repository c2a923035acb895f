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

ENDED = EXIT_CODES[3:]
"""The exit codes of a command that was ended."""

OF_COMMAND = {
    "kgroups history test": (
        ("0", "All checks are ok."),
        ("1", "A check failed, or no check was possible."),
        EXIT_CODES[2],
        ("3", "No check failed, but the result of one is unknown."),
        *ENDED,
    ),
}
"""Command -> its exit codes, if they have other meanings."""
