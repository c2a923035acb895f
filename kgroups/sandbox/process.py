"""Processes that outlive the command that starts them: in their own session, identified by PID and command line.

A PID may be reused, so each is identified also by a ``mark`` that its command line must contain: the sandbox's folder.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from kgroups.errors import SandboxError

ProcessState = Literal["running", "paused", "gone"]


def spawn(command: Sequence[str], log: Path) -> int:
    """Start a process with its output in ``log``, and return its PID. ``command[0]`` must be a path.

    :raises SandboxError: when it cannot be executed.
    """
    if log.exists():
        log.replace(log.with_suffix(".old.log"))  # of the previous run: a tail must show this run only
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
        *((os.POSIX_SPAWN_CLOSE, descriptor) for descriptor in _inherited()),
    ]
    try:
        # Not subprocess.Popen, which warns when its object is deleted before the process ends.
        pid = os.posix_spawn(command[0], list(command), os.environ, file_actions=actions, setsid=True)
    except OSError as error:
        raise SandboxError(f"cannot start {command[0]}: {error.strerror}") from None
    _wait_for_command_line(pid)
    return pid


def _inherited() -> Iterator[int]:
    """Yield inherited file descriptors, such as a lock or a pipe that a long-lived process would keep open."""
    for descriptor in (int(entry.name) for entry in Path("/dev/fd").iterdir()):
        with suppress(OSError):  # the folder itself, which is closed
            if descriptor > 2 and os.get_inheritable(descriptor):
                yield descriptor


def _wait_for_command_line(pid: int) -> None:
    """Wait until a process has its command line.

    The kernel may resume the parent first; without its command line the process is not recognized.
    """
    until = time.monotonic() + 5
    while time.monotonic() < until:
        code, command = _look_up(pid)
        if command or code in ("", "Z"):
            return
        time.sleep(0.001)


def state_of(pid: int, mark: str) -> ProcessState:
    """Return the state of a process; ``gone`` if it has ended, even if it is a zombie, or lacks the mark."""
    if pid <= 0:  # never started; the calls below would affect many processes
        return "gone"
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # reap it if it is an ended child of this process
    code, command = _look_up(pid)
    if mark not in command or code == "Z":
        return "gone"
    return "paused" if code == "T" else "running"


def _look_up(pid: int) -> tuple[str, str]:
    """Return the state's letter as in ps(1), and the command line; empty if there is no such process."""
    folder = Path("/proc", str(pid))
    if Path("/proc/self").exists():
        try:
            # "1234 (name) S …": the name can contain spaces and parentheses.
            code = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            return code, (folder / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
        except OSError:
            return "", ""
    command_line = ["ps", "-ww", "-o", "stat=,command=", "-p", str(pid)]
    shown = subprocess.run(command_line, capture_output=True, text=True, check=False)  # 1: no such process
    code, _, command = shown.stdout.strip().partition(" ")
    return code[:1], command


def send_signal(pid: int, mark: str, number: signal.Signals) -> bool:
    """Send a signal; return false if the process is gone, or lacks the mark."""
    if state_of(pid, mark) == "gone":
        return False
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def stop_all(pids: Iterable[int], mark: str, *, grace: float) -> None:
    """Send SIGTERM to each process, and SIGKILL after ``grace`` seconds if it still runs; return when all have ended.

    :raises SandboxError: when one does not end.
    """
    left = [pid for pid in pids if send_signal(pid, mark, signal.SIGTERM)]
    for pid in left:
        send_signal(pid, mark, signal.SIGCONT)  # a paused process does not receive SIGTERM
    left = _wait_ended(left, mark, grace)
    for pid in left:
        send_signal(pid, mark, signal.SIGKILL)
    _demand_ended(left, mark)


def kill_now(pid: int, mark: str) -> None:
    """Send SIGKILL, and return when the process has ended.

    :raises SandboxError: when it does not end.
    """
    if send_signal(pid, mark, signal.SIGKILL):
        _demand_ended([pid], mark)


def _demand_ended(pids: list[int], mark: str) -> None:
    if left := _wait_ended(pids, mark, 30):
        raise SandboxError(f"cannot stop process {', '.join(map(str, left))}")


def _wait_ended(pids: list[int], mark: str, seconds: float) -> list[int]:
    until = time.monotonic() + seconds
    while (pids := [pid for pid in pids if not _has_ended(pid, mark)]) and time.monotonic() < until:
        time.sleep(0.02)
    return pids


def _has_ended(pid: int, mark: str) -> bool:
    """Return whether a process has ended with its last thread.

    Until then it holds its ports, even if it is a zombie or no longer has a command line.
    """
    if state_of(pid, mark) != "gone":
        return False
    code, command = _look_up(pid)
    if code == "" or (command and mark not in command):
        return True
    return code == "Z" and sum(1 for _ in Path("/proc", str(pid)).glob("task/*")) <= 1
