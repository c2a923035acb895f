"""Commands as processes that need not start Python: forked from a process that has imported kgroups.

Such a process runs what ``python -m kgroups`` runs, with its own arguments, environment, folder, and streams, and ends
as that does. Only the start of the interpreter and most imports are missing: most of the CPU time of a short command.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import kgroups

_IMPORTED = ("admin", "cli", "config", "model", "net", "protocol", "render", "schemas")
"""The packages that most commands import."""

_READ_AT_START = ("PYTHON", "LC_", "LANG")
"""Variables that only the start of Python reads."""

_LARGEST = 200_000
"""Bytes of a request."""


def can_fork(env: Mapping[str, str]) -> bool:
    """Return whether these variables can also be set after the start of Python."""
    return not any(name.startswith(_READ_AT_START) for name in env)


def run_forked(words: Sequence[str], env: Mapping[str, str], limit: float) -> subprocess.CompletedProcess[bytes]:
    """Run ``kgroups <words>`` with all of these variables, as :func:`subprocess.run` would.

    :raises subprocess.TimeoutExpired: after ``limit`` seconds; the process has been killed.
    """
    request = json.dumps({"words": list(words), "env": dict(env), "cwd": str(Path.cwd())}).encode()
    reader, writer = os.pipe()
    with TemporaryFile() as out, TemporaryFile() as err:
        socket.send_fds(_server(), [request], [out.fileno(), err.fileno(), writer])
        os.close(writer)
        with os.fdopen(reader, "rb", buffering=0) as ended:
            code = _wait(ended, limit, words)
        return subprocess.CompletedProcess(words, code, _content(out), _content(err))


def _content(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def _wait(ended: BinaryIO, limit: float, words: Sequence[str]) -> int:
    """Read the process ID, then the exit code, which a process that was killed does not write."""
    pid = int(ended.read(16))
    timer = threading.Timer(limit, os.kill, (pid, signal.SIGKILL))
    timer.daemon = True
    began = time.monotonic()
    timer.start()
    try:
        code = ended.read(16)
    finally:
        timer.cancel()
    if code:
        return int(code)
    if time.monotonic() - began >= limit:
        raise subprocess.TimeoutExpired(list(words), limit)
    raise AssertionError(f"kgroups {' '.join(words)}: the process was killed")


@cache
def _server() -> socket.socket:
    """Start the process that forks."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def end() -> None:
        ours.close()
        assert process.wait(60) == 0

    atexit.register(end)
    return ours


def serve(requests: socket.socket) -> None:
    """Fork a process for each request: JSON with the descriptors of its output, its errors, and of its end."""
    for name in _IMPORTED:
        package = import_module(f"kgroups.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            with suppress(ModuleNotFoundError):  # of an extra that is not installed
                import_module(module.name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        request, fds, _, _ = socket.recv_fds(requests, _LARGEST, 3)
        if not request:
            return
        if os.fork() == 0:
            requests.close()
            _run(json.loads(request), *fds)
        for fd in fds:
            os.close(fd)


def _run(request: Mapping[str, Any], out: int, err: int, ended: int) -> None:
    """Become ``python -m kgroups <words>``. Does not return."""
    code = 1
    try:
        os.write(ended, b"%-16d" % os.getpid())
        for fd, at in ((out, 1), (err, 2)):
            os.dup2(fd, at)
            os.close(fd)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        sys.argv = [str(Path(kgroups.__file__).with_name("__main__.py")), *request["words"]]
        code = _exit_code()
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os.write(ended, b"%-16d" % code)
        os._exit(code)


def _exit_code() -> int:
    from kgroups.__main__ import main  # what it imports is not imported by the tests

    try:
        main()
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0
    return 0


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as from_tests:
        serve(from_tests)
