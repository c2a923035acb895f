"""The end of a command: the only place where an error becomes lines on stderr and an exit code."""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

if TYPE_CHECKING:
    from kgroups.errors import KgroupsError

EXIT_CLOSED_PIPE = 128 + signal.SIGPIPE


_CUTTING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command without a message, unless it has begun to write."""

_quiet = False
_debug = False
_endless = False

_ended_by: list[int] = []
"""Signals that raised KeyboardInterrupt in place of Ctrl-C."""


def exit_code_of(run: Callable[[], int], print_error: Callable[[str], None]) -> int:
    """Run a command and return its exit code; no error of the user, the cluster, or the system leaves a traceback.

    :param print_error: prints the message of an error.
    """
    set_endless(False)
    _raise_on_interrupt()
    _reopen_closed_streams()
    before = sys.stdout, sys.stderr
    written = _Writes()
    sys.stdout, sys.stderr = written.observed(sys.stdout, report_if_cut), written.observed(sys.stderr)
    try:
        return _exit_code_of(run, print_error, written)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        _is_complete()
        sys.stdout, sys.stderr = before


def _exit_code_of(run: Callable[[], int], print_error: Callable[[str], None], written: _Writes) -> int:
    try:
        code = run()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _interrupted_code()
    except Exception as error:
        from kgroups.errors import EXIT_FAILED, KgroupsError, SandboxError  # help needs none

        if isinstance(error, KgroupsError):
            _print_error(error, print_error, several_lines=isinstance(error, SandboxError))
            return error.exit_code
        if isinstance(error, BrokenPipeError) and error is written.error:  # the reader closed the pipe, such as head
            discard_stdout()
            return EXIT_CLOSED_PIPE
        if error is written.error:
            discard_stdout()
            print_error(f"cannot write the output: {error.strerror or error}")
        elif isinstance(error, OSError):
            print_error(system_error(error))
        elif isinstance(error, MemoryError):
            print_error(
                "out of memory; select fewer groups (--regex, --topic), or raise the memory limit of this process"
            )
        elif _caused_by_interrupt(error):
            return _interrupted_code()
        else:
            raise
        return EXIT_FAILED


class _Writes:
    """The writes of the output streams. ``error``: the error of one that failed."""

    def __init__(self) -> None:
        self.error: OSError | None = None

    def observed(self, stream: TextIO, begin: Callable[[], None] | None = None) -> TextIO:
        """Return a stream that writes to the same file and keeps the error of a write.

        ``begin`` is called before the first write.

        Characters that the encoding lacks, as in a group name, are written as escape sequences.
        """
        if not isinstance(stream, io.TextIOWrapper):
            return stream
        stream.reconfigure(errors="backslashreplace")
        raw = getattr(stream.buffer, "raw", stream.buffer)
        if not isinstance(raw, io.FileIO):
            return stream
        stream.flush()
        file = _ObservedFile(raw.fileno(), "wb", closefd=False)
        file.writes = self
        file.begin = begin
        return io.TextIOWrapper(
            file if raw is stream.buffer else io.BufferedWriter(file),  # unbuffered, with PYTHONUNBUFFERED
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )


class _ObservedFile(io.FileIO):
    writes: _Writes
    begin: Callable[[], None] | None = None

    def write(self, data: Any, /) -> int:
        """Write all of the data: without a buffer (PYTHONUNBUFFERED), Python drops what a full disk did not take."""
        if self.begin:
            self.begin()
            self.begin = None
        left = memoryview(data).cast("B")
        size = len(left)
        try:
            while left:
                done = super().write(left)
                if done is None:
                    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
                left = left[done:]
        except OSError as error:
            self.writes.error = error
            raise
        return size


def _print_error(error: KgroupsError, print_error: Callable[[str], None], *, several_lines: bool) -> None:
    """Print an error on one line, whatever its message contains; sandbox errors may add lines of a log."""
    if not several_lines:
        print_error(str(error))
    else:
        first, *rest = str(error).splitlines()
        print_error(first)
        for line in rest:
            print_to_stderr(line)
    if error.hint:
        print_to_stderr(f"kgroups: hint: {error.hint}")
    if is_debug():
        print_to_stderr(f"kgroups: reference: {error.reference}")


def output_error(error: OSError) -> str | None:
    """Return the message of an error of the output, such as that of a full disk; ``None`` for another error."""
    buffer = getattr(sys.stdout, "buffer", None)
    writes = getattr(getattr(buffer, "raw", buffer), "writes", None)
    if writes is None or writes.error is not error:
        return None
    return f"cannot write the output: {error.strerror or error}"


def system_error(error: OSError) -> str:
    """Return the message of an error of the system, with the file if it names one."""
    return f"{error.filename or 'system error'}: {error.strerror or error}"


def bug_location(error: Exception) -> str:
    """Return the type of an error and the line in kgroups, without its message, which may contain anything."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "kgroups" in frame.filename] or frames
    return f"{type(error).__name__} in {own[-1].filename.rpartition('kgroups/')[2]}, line {own[-1].lineno}"


def _caused_by_interrupt(error: BaseException | None) -> bool:
    """Return whether an interrupt is the cause: Python 3.11 replaces errors of ``__set_name__`` by a RuntimeError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def set_quiet(quiet: bool) -> None:
    """Set whether the command prints no notes and no progress; failures and errors are always printed."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    return _quiet


def set_debug(debug: bool) -> None:
    """Set whether errors are followed by the section of the documentation that explains them."""
    global _debug
    _debug = debug


def is_debug() -> bool:
    return _debug


def print_to_stderr(text: str) -> None:
    """Print a line to stderr, with control characters and line ends escaped; a terminal breaks it between words."""
    print(line_for_stderr(text), file=sys.stderr)


def print_below(text: str) -> None:
    """Print a line to stderr below the one that the terminal shows, such as ``^C``."""
    print(file=sys.stderr)
    print_to_stderr(text)


def line_for_stderr(text: str) -> str:
    """Return what :func:`print_to_stderr` prints, without the line end."""
    from kgroups.model.visible import escape_message

    text = escape_message(text)
    if not sys.stderr.isatty():
        return text
    from kgroups.render.wrapping import terminal_width, wrap

    return wrap(text, terminal_width(sys.stderr))


def run_and_exit(run: Callable[[Sequence[str]], int]) -> NoReturn:
    """Run a command with the arguments of this process, and exit."""
    # A command is short: collecting cycles adds a third to the decoding time and frees nothing.
    gc.disable()
    _interrupt_quietly()
    try:
        code = run(sys.argv[1:])
        _end_on_interrupt()
    except KeyboardInterrupt:  # while an error was printed
        code = _interrupted_code()
        _end_on_interrupt()
    if "duckdb" not in sys.modules:  # its bindings would print what is frozen as leaked
        gc.freeze()  # skips the collection at exit, a tenth of the time of a small command
    sys.exit(code)


def enable_gc() -> None:
    """Enable the garbage collection that :func:`run_and_exit` disabled, for commands that run for a long time."""
    gc.enable()


def _raise_on_interrupt() -> None:
    """Let Ctrl-C raise KeyboardInterrupt; until now it ended the process, see ``kgroups.__main__``."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt_quietly() -> None:
    """Let Ctrl-C leave no traceback, wherever it arrives: in a handler, in a destructor, or between two handlers."""

    def report(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if not issubclass(kind, KeyboardInterrupt):  # after this hook, Python ends itself with SIGINT
            sys.__excepthook__(kind, error, trace)

    def report_unraisable(failed: sys.UnraisableHookArgs) -> None:
        if issubclass(failed.exc_type, KeyboardInterrupt):  # Python would go on
            os._exit(_interrupted_code())
        sys.__unraisablehook__(failed)

    sys.excepthook = report
    sys.unraisablehook = report_unraisable


def report_if_cut() -> None:
    """From now on, let a signal that ends this command report that its output is incomplete."""
    if not _endless and threading.current_thread() is threading.main_thread():
        for number in _CUTTING:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _cut)


def set_endless(endless: bool = True) -> None:
    """Set whether this command writes messages until a signal ends it: its output is never complete."""
    global _endless
    _endless = endless


def _cut(number: int, _: object) -> None:
    """End by this signal, with a message; it interrupts a write, so it uses no stream of Python."""
    text = f"kgroups: error: ended by {signal.Signals(number).name}: the output is incomplete\n"
    with suppress(OSError):
        os.write(2, text.encode())
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _is_complete() -> None:
    if threading.current_thread() is threading.main_thread():
        for number in _CUTTING:
            if signal.getsignal(number) is _cut:
                signal.signal(number, signal.SIG_DFL)


def end_on_signals(*numbers: signal.Signals) -> None:
    """Let signals end this command as Ctrl-C does, so that it releases what it holds; the exit code is the signal's."""

    def interrupt(number: int, _: object) -> NoReturn:
        _ended_by.append(number)
        raise KeyboardInterrupt

    for number in numbers:
        if threading.current_thread() is threading.main_thread() and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, interrupt)


def _interrupted_code() -> int:
    return 128 + (_ended_by[-1] if _ended_by else signal.SIGINT)


def _end_on_interrupt() -> None:
    """Let Ctrl-C end the process: during the shutdown, Python would print a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _reopen_closed_streams() -> None:
    """Replace streams that the caller closed, which are ``None`` in Python.

    Writing to a closed stdout must fail: exit code 0 would mean that the output arrived. Output to a closed stderr is
    discarded.
    """
    if sys.stdout is None:
        with contextlib.suppress(OSError):  # the next socket must not become stdout
            os.dup2(os.open(os.devnull, os.O_RDONLY), 1)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def discard_output() -> None:
    """Discard all further output: the terminal is gone."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            os.dup2(devnull, stream.fileno())


def discard_stdout() -> None:
    """Discard the buffered output; otherwise Python reports the error again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
