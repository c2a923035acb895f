"""How a command comes to its end: the one place where an error becomes lines on stderr and an exit code."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from kgroups.errors import KgroupsError
from kgroups.model.outcome import EXIT_FAILED

EXIT_INTERRUPTED = 128 + signal.SIGINT
EXIT_CLOSED_PIPE = 128 + signal.SIGPIPE


def brought_to_an_end(run: Callable[[], int], complain: Callable[[str], None]) -> int:
    """Runs it; gives the exit code. No error of ours, the user's or the cluster's leaves a traceback."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a group's name may not fit the terminal's encoding
    try:
        code = run()
        sys.stdout.flush()
        return code
    except KgroupsError as error:
        complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()  # the reader has seen enough
        return EXIT_CLOSED_PIPE
    except OSError as error:
        _give_up_stdout()
        complain(f"cannot write the answer: {error.strerror or error}")
        return EXIT_FAILED


def complain_in_lines(text: str) -> None:
    """On stderr, with nothing that a terminal would obey."""
    from kgroups.render.cells import escape

    for part in text.splitlines():  # some errors carry the end of a log
        print(escape(part), file=sys.stderr)


def exit_with(run: Callable[[Sequence[str]], int]) -> NoReturn:
    """Runs a command as this process's, with its arguments, and ends the process."""
    # A command asks, answers and ends: looking for cycles meanwhile costs a third of the decoding and frees nothing.
    gc.disable()
    code = run(sys.argv[1:])
    gc.freeze()  # nor at the end, when Python looks once more: a tenth of a small command
    sys.exit(code)


def stay() -> None:
    """For commands that look again and again: what :func:`exit_with` turned off would cost them ever more memory."""
    gc.enable()


def _open_what_is_closed() -> None:
    """A stream that the caller closed is None in Python: what is written there goes nowhere, and does not go wrong."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def _give_up_stdout() -> None:
    """Lets Python flush into nothing at its end: it would complain a second time."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
