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


def brought_to_an_end(run: Callable[[], int], complain: Callable[[str], None]) -> int:
    """Runs it; gives the exit code. No error of ours, the user's or the cluster's leaves a traceback."""
    _hear_interrupts()
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a group's name may not fit the terminal's encoding
    try:
        code = run()
        sys.stdout.flush()
        return code
    except KgroupsError as error:
        _tell(error, complain)
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()  # the reader has seen enough
        return EXIT_CLOSED_PIPE
    except OSError as error:
        _give_up_stdout()
        complain(f"cannot write the output: {error.strerror or error}")
        return EXIT_FAILED
    except MemoryError:
        complain("out of memory; select fewer groups (--regex, --topic), or raise the memory limit of this process")
        return EXIT_FAILED
    except Exception as error:
        if _is_an_interrupt(error):
            return EXIT_INTERRUPTED
        raise


def _tell(error: KgroupsError, complain: Callable[[str], None]) -> None:
    """One line, whatever foreign words are in it; only what a sandbox says may end with lines of a log."""
    if not isinstance(error, SandboxError):
        complain(str(error))
    else:
        first, *rest = str(error).splitlines()
        complain(first)
        for line in rest:
            complain_in_a_line(line)
    if error.hint:
        complain_in_a_line(f"kgroups: hint: {error.hint}")


def _is_an_interrupt(error: BaseException | None) -> bool:
    """Python turns what is raised while a class is made into a RuntimeError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def complain_in_a_line(text: str) -> None:
    """On stderr, with nothing that a terminal would obey; a line's end in a name makes no line of its own."""
    from kgroups.model.visible import escape_message

    print(escape_message(text), file=sys.stderr)


def exit_with(run: Callable[[Sequence[str]], int]) -> NoReturn:
    """Runs a command as this process's, with its arguments, and ends the process."""
    # A command asks, answers and ends: looking for cycles meanwhile costs a third of the decoding and frees nothing.
    gc.disable()
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while an error was being told
        code = EXIT_INTERRUPTED
    _interrupts_end_at_once()
    gc.freeze()  # nor at the end, when Python looks once more: a tenth of a small command
    sys.exit(code)


def stay() -> None:
    """For commands that look again and again: what :func:`exit_with` turned off would cost them ever more memory."""
    gc.enable()


def _hear_interrupts() -> None:
    """From here on Ctrl-C is a KeyboardInterrupt; until here it ended the process: see ``kgroups.__main__``."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupts_end_at_once() -> None:
    """There is nothing left to do but to end, and Python would show where it was."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _open_what_is_closed() -> None:
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


def give_up_output() -> None:
    """Let everything that is still written go nowhere: the terminal is gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())


def _give_up_stdout() -> None:
    """Lets Python flush into nothing at its end: it would complain a second time."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
