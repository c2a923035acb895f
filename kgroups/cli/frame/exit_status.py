"""How a command comes to its end: the one place where an error becomes lines on stderr and an exit code."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn

from kgroups.errors import KgroupsError, SandboxError
from kgroups.model.outcome import EXIT_FAILED

EXIT_INTERRUPTED = 128 + signal.SIGINT
EXIT_CLOSED_PIPE = 128 + signal.SIGPIPE


def exit_code_of(run: Callable[[], int], print_error: Callable[[str], None]) -> int:
    """Runs it; gives the exit code. No error of ours, the user's or the cluster's leaves a traceback."""
    _raise_on_interrupt()
    _reopen_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a group's name may not fit the terminal's encoding
    try:
        code = run()
        sys.stdout.flush()
        return code
    except KgroupsError as error:
        _print_error(error, print_error)
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()  # the reader has seen enough
        return EXIT_CLOSED_PIPE
    except OSError as error:
        _discard_stdout()
        print_error(f"cannot write the output: {error.strerror or error}")
        return EXIT_FAILED
    except MemoryError:
        print_error("out of memory; select fewer groups (--regex, --topic), or raise the memory limit of this process")
        return EXIT_FAILED
    except Exception as error:
        if _caused_by_interrupt(error):
            return EXIT_INTERRUPTED
        raise


def _print_error(error: KgroupsError, print_error: Callable[[str], None]) -> None:
    """One line, whatever foreign words are in it; only what a sandbox says may end with lines of a log."""
    if not isinstance(error, SandboxError):
        print_error(str(error))
    else:
        first, *rest = str(error).splitlines()
        print_error(first)
        for line in rest:
            print_to_stderr(line)
    if error.hint:
        print_to_stderr(f"kgroups: hint: {error.hint}")


def _caused_by_interrupt(error: BaseException | None) -> bool:
    """Python turns what is raised while a class is made into a RuntimeError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def print_to_stderr(text: str) -> None:
    """On stderr, with nothing that a terminal would obey; a line's end in a name makes no line of its own."""
    from kgroups.model.visible import escape_message

    print(escape_message(text), file=sys.stderr)


def run_and_exit(run: Callable[[Sequence[str]], int]) -> NoReturn:
    """Runs a command as this process's, with its arguments, and ends the process."""
    # A command asks, answers and ends: looking for cycles meanwhile costs a third of the decoding and frees nothing.
    gc.disable()
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while an error was being told
        code = EXIT_INTERRUPTED
    _end_on_interrupt()
    gc.freeze()  # nor at the end, when Python looks once more: a tenth of a small command
    sys.exit(code)


def enable_gc() -> None:
    """For commands that look again and again: what :func:`run_and_exit` turned off would cost them ever more memory."""
    gc.enable()


def _raise_on_interrupt() -> None:
    """From here on Ctrl-C is a KeyboardInterrupt; until here it ended the process: see ``kgroups.__main__``."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end_on_interrupt() -> None:
    """There is nothing left to do but to end, and Python would show where it was."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _reopen_closed_streams() -> None:
    """A stream that the caller closed is None in Python.

    On stdout that is an error as soon as something is written: exit code 0 would say that it arrived. What is
    complained of on a closed stderr goes nowhere.
    """
    if sys.stdout is None:
        with contextlib.suppress(OSError):  # nor is the next socket to become stdout
            os.dup2(os.open(os.devnull, os.O_RDONLY), 1)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def discard_output() -> None:
    """Let everything that is still written go nowhere: the terminal is gone."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            os.dup2(devnull, stream.fileno())


def _discard_stdout() -> None:
    """Lets Python flush into nothing at its end: it would complain a second time."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
